// Package e2e runs the controller on a real control plane. Its tests need one, which
// make e2e builds; without it they are skipped. Scenarios have a control plane of their
// own each and wait for most of their time, so some run at once, but for those whose
// figures are times.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/controller/e2e/kubelet"
	"github.com/dovetail-sdk/dovetail/examples/controller/e2e/plane"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// scene is a cluster and the controller on it.
type scene struct {
	*testing.T
	ctx        context.Context
	api        client.Client // uncached
	admin      *rest.Config
	kubeconfig string
	log        string           // of the controller, all processes one after another
	command    func() *exec.Cmd // the controller
	controller *exec.Cmd
	plane      *plane.Plane
	prices     map[cloudprovider.OfferingKey]float64
	types      string // the file of instance types that Karpenter's provider reads
}

const bootTime = 3 * time.Second // of machines

// starting and reporting are what scenarios that run at once do one after another.
var starting, reporting sync.Mutex

// controlPlane returns the binary, or the test is skipped. DOVETAIL_E2E says what may be done
// for it: "cached" takes what was built before, "build" builds it.
func controlPlane(t *testing.T) string {
	var path string
	var err error
	switch os.Getenv("DOVETAIL_E2E") {
	case "build":
		path, err = plane.Build(t.Context(), "controlplane")
	case "cached":
		path, err = plane.Cached("controlplane")
	default:
		t.Skip("this needs a control plane: run make e2e")
	}
	if err != nil {
		t.Skipf("there is no control plane: %v", err)
	}
	return path
}

// built is the controller, which the first test that needs it builds.
var built struct {
	sync.Once
	dir string
	err error
}

func buildOnce() (string, error) {
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "dovetail-controller-"); built.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, "controller"), "..").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	return filepath.Join(built.dir, "controller"), built.err
}

// TestMain removes what buildOnce has made.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// newScene starts a control plane, machines that boot, and the controller, and makes the
// objects of the folder deploy. Flags are those of the controller, which leads whatever
// becomes of its Lease: on a busy machine it may be lost, and no Deployment is there to
// start it again.
func newScene(t *testing.T, flags ...string) *scene {
	t.Helper()
	binary := controlPlane(t)
	controller, err := buildOnce()
	require.NoError(t, err)
	s := newCluster(t, binary)
	s.apply("../deploy/crds.yaml")
	s.apply("../deploy/aws.yaml")
	s.asController()
	s.served()
	s.apply("../deploy/pool.yaml")
	s.command = func() *exec.Cmd {
		return exec.Command(controller, append([]string{"-kubeconfig", s.kubeconfig, "-health-address", "127.0.0.1:0", "-leader-elect=false", "-leader-elect-namespace", "dovetail", "-debug", "-confirm-after=2s", "-propose-every=3s"}, flags...)...)
	}
	s.start()
	return s
}

// newCluster starts a control plane and machines that boot, for a controller to come.
func newCluster(t *testing.T, binary string) *scene {
	t.Helper()
	dir := t.TempDir()
	starting.Lock() // no two look for free ports at once
	p, err := plane.Start(t.Context(), binary, dir)
	starting.Unlock()
	require.NoError(t, err)
	t.Cleanup(p.Stop)
	s := &scene{T: t, plane: p, kubeconfig: p.Kubeconfig, log: filepath.Join(dir, "controller.log"), prices: map[cloudprovider.OfferingKey]float64{}}
	for _, it := range fake.Catalog() {
		for i := range it.Offerings {
			s.prices[it.Offerings[i].Key(it.Name)] = it.Offerings[i].Price
		}
	}
	if keep := os.Getenv("DOVETAIL_E2E_LOGS"); keep != "" { // a folder: logs outlive the test there
		require.NoError(t, os.MkdirAll(keep, 0o755))
		s.log = filepath.Join(keep, fmt.Sprintf("%s-%d.log", strings.ReplaceAll(t.Name(), "/", "-"), time.Now().Unix()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.ctx = ctx
	s.admin, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	require.NoError(t, err)
	s.admin.QPS, s.admin.Burst = 500, 1000
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)))
	s.api, err = client.New(s.admin, client.Options{Scheme: scheme})
	require.NoError(t, err)
	stopped := make(chan error, 1)
	go func() { stopped <- kubelet.Run(ctx, s.admin, bootTime) }()
	t.Cleanup(func() {
		s.stop(syscall.SIGTERM)
		cancel()
		assert.NoError(t, <-stopped)
		if t.Failed() {
			t.Logf("the last lines of the controller:\n%s", s.tail(40))
		}
	})
	return s
}

// must ends the test if something that it needs has failed.
func (s *scene) must(err error) {
	s.Helper()
	require.NoError(s, err)
}

// served waits until the kinds of deploy/crds.yaml are there.
func (s *scene) served() {
	s.Helper()
	s.eventually(30*time.Second, "NodePools are served", func() error { return s.api.List(s.ctx, &v1.NodePoolList{}) })
}

// apply creates the objects of a file, but for the Deployment of the controller.
func (s *scene) apply(file string) {
	s.Helper()
	text, err := os.ReadFile(file)
	s.must(err)
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		object := &unstructured.Unstructured{}
		if err == nil {
			err = utilyaml.Unmarshal(document, object)
		}
		if err == nil && len(object.Object) > 0 && object.GetNamespace()+object.GetKind() != "dovetailDeployment" {
			err = s.api.Create(s.ctx, object)
		}
		if err != nil {
			s.Fatalf("%s: %v", file, err)
		}
	}
}

// asController makes the objects of deploy/controller.yaml but the Deployment, and has the
// controller work with the rights that they give it, and no others.
func (s *scene) asController() {
	s.Helper()
	s.apply("../deploy/controller.yaml")
	file := s.plane.Kubeconfig + ".controller"
	api := kubernetes.NewForConfigOrDie(s.admin)
	token, err := api.CoreV1().ServiceAccounts("dovetail").CreateToken(s.ctx, "controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	s.must(err)
	written := clientcmdapi.NewConfig()
	written.Clusters["e2e"] = &clientcmdapi.Cluster{Server: s.admin.Host, CertificateAuthority: s.admin.CAFile}
	written.AuthInfos["controller"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	written.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "controller"}
	written.CurrentContext = "e2e"
	s.must(clientcmd.WriteToFile(*written, file))
	s.kubeconfig = file
}

// start starts the controller.
func (s *scene) start() {
	s.Helper()
	s.controller = s.replica()
}

// replica starts a controller beside those that run.
func (s *scene) replica() *exec.Cmd {
	s.Helper()
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	s.must(err)
	defer out.Close()
	cmd := s.command()
	cmd.Stdout, cmd.Stderr = out, out
	s.must(cmd.Start())
	return cmd
}

// stop ends the controller, and says how long that took.
func (s *scene) stop(signal os.Signal) time.Duration {
	if s.controller == nil {
		return 0
	}
	started := time.Now()
	_ = s.controller.Process.Signal(signal) // it may have ended
	_ = s.controller.Wait()                 // a signal is an error
	s.controller = nil
	return time.Since(started)
}

func (s *scene) tail(n int) string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// entries returns the lines of the controller's log with a message.
func (s *scene) entries(message string) (out []map[string]any) {
	s.Helper()
	text, err := os.ReadFile(s.log)
	s.must(err)
	for line := range strings.Lines(string(text)) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) == nil && (entry["msg"] == message || entry["message"] == message) {
			out = append(out, entry)
		}
	}
	return out
}

// look is the cluster at an instant.
type look struct {
	pods   []corev1.Pod // of namespace default
	nodes  []corev1.Node
	claims []v1.NodeClaim
	pdbs   []policyv1.PodDisruptionBudget

	running, pending int
	cost             float64 // USD/h
}

func (s *scene) look() (l look, err error) {
	var pods corev1.PodList
	var nodes corev1.NodeList
	var claims v1.NodeClaimList
	var pdbs policyv1.PodDisruptionBudgetList
	err = errors.Join(s.api.List(s.ctx, &pods, client.InNamespace("default")), s.api.List(s.ctx, &nodes), s.api.List(s.ctx, &claims), s.api.List(s.ctx, &pdbs))
	l = look{pods: pods.Items, nodes: nodes.Items, claims: claims.Items, pdbs: pdbs.Items}
	for _, p := range l.pods {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			l.running++
		} else if p.Spec.NodeName == "" {
			l.pending++
		}
	}
	for _, n := range l.nodes {
		price, ok := s.prices[cloudprovider.OfferingKey{InstanceType: n.Labels[corev1.LabelInstanceTypeStable], Zone: n.Labels[corev1.LabelTopologyZone], CapacityType: n.Labels[v1.CapacityTypeLabelKey]}]
		if !ok {
			err = errors.Join(err, fmt.Errorf("node %s has no price", n.Name))
		}
		l.cost += price
	}
	return l, err
}

func (l look) String() string {
	return fmt.Sprintf("%d running, %d pending, %d nodes, %d claims, %.4f USD/h", l.running, l.pending, len(l.nodes), len(l.claims), l.cost)
}

// waiting says of each pod that is not bound, or that more than one node kept for pods lets
// in, what kube-scheduler says of it, and of each node for whom it is kept.
func (l look) waiting() string {
	var text strings.Builder
	for _, p := range l.pods {
		var admitted []string
		for _, t := range p.Spec.Tolerations {
			if t.Key == nomination.TaintKey {
				admitted = append(admitted, t.Value)
			}
		}
		if p.Spec.NodeName != "" && len(admitted) < 2 {
			continue
		}
		said := "no word of kube-scheduler"
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled {
				said = c.Message
			}
		}
		fmt.Fprintf(&text, "pod %s on %q: let in by %q, nominated %q: %s\n", p.Name, p.Spec.NodeName, admitted, p.Status.NominatedNodeName, said)
	}
	for _, n := range l.nodes {
		pods := map[string]int{}
		for _, p := range l.pods {
			if p.Spec.NodeName == n.Name {
				pods[p.Labels["app"]]++
			}
		}
		fmt.Fprintf(&text, "node %s in %s: taints %v, pods %v, can hold %v\n", n.Name, n.Labels[corev1.LabelTopologyZone], n.Spec.Taints, pods, n.Status.Allocatable.Cpu())
	}
	return text.String()
}

// eventually asks until there is no error.
func (s *scene) eventually(most time.Duration, what string, ask func() error) {
	s.Helper()
	end := time.Now().Add(most)
	for {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("not %s after %s: %v", what, most, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// stalled is after how long without a change a watch says who waits, and for what.
const stalled = 30 * time.Second

// watch looks again and again until it is told that all is well twice in a row. Changes
// are logged, and who waits when there are none.
func (s *scene) watch(most time.Duration, what string, well func(look) error) (l look, took time.Duration) {
	s.Helper()
	l, took, err := s.watchUntil(most, well)
	if err != nil {
		s.Fatalf("not %s after %s: %v", what, most, err)
	}
	return l, took
}

// watchUntil is watch with an error when the time is over.
func (s *scene) watchUntil(most time.Duration, well func(look) error) (l look, took time.Duration, err error) {
	s.Helper()
	started, good, was := time.Now(), 0, ""
	changed := started
	for good < 2 {
		time.Sleep(500 * time.Millisecond)
		next, err := s.look()
		if err == nil {
			if l = next; l.String() != was {
				was, changed = l.String(), time.Now()
				s.Logf("%6.1f s  %s", time.Since(started).Seconds(), was)
			} else if l.pending > 0 && time.Since(changed) > stalled {
				changed = time.Now()
				s.Logf("%6.1f s  nothing has changed for %s:\n%s", time.Since(started).Seconds(), stalled, l.waiting())
			}
			err = well(l)
		}
		if good++; err != nil {
			good = 0
		} else if good == 1 {
			took = time.Since(started)
		}
		if err != nil && time.Since(started) > most {
			return l, time.Since(started), err
		}
	}
	return l, took, nil
}

// settled says what is left to do: pods run, and each machine has its NodeClaim and
// Node, ready for all.
func settled(l look, pods int) error {
	if l.running != pods || l.pending > 0 || len(l.nodes) != len(l.claims) {
		return errors.New(l.String())
	}
	for _, c := range l.claims {
		if !meta.IsStatusConditionTrue(c.Status.Conditions, v1.ConditionTypeInitialized) || c.DeletionTimestamp != nil {
			return fmt.Errorf("NodeClaim %s: %v", c.Name, c.Status.Conditions)
		}
	}
	for _, n := range l.nodes {
		if closed(n) || n.DeletionTimestamp != nil {
			return fmt.Errorf("node %s: %v", n.Name, n.Spec.Taints)
		}
	}
	return nil
}

// closed says whether a taint keeps pods off a node. A node that would go next, at which pods are
// only asked to go elsewhere first, is open.
func closed(n corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
}

// single is one of something, which formats call as they call many.
var single = regexp.MustCompile(`(^| )1 (node|plan|pod|eviction|write)s\b`)

// report writes the figures of a scenario: into the log, and as a line into the file
// that DOVETAIL_E2E_RESULTS names, in the place of an earlier one.
func (s *scene) report(format string, args ...any) {
	s.Helper()
	figures := single.ReplaceAllString(fmt.Sprintf(format, args...), "${1}1 $2")
	s.Log(figures)
	file := os.Getenv("DOVETAIL_E2E_RESULTS")
	if file == "" {
		return
	}
	reporting.Lock()
	defer reporting.Unlock()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Fatal(err)
	}
	prefix := "| " + strings.TrimPrefix(s.Name(), "Test") + " |"
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
	if i < 0 {
		i, lines = len(lines), append(lines, "")
	}
	lines[i] = fmt.Sprintf("%s %s |", prefix, figures)
	s.must(os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

// dump writes what is in the cluster into the folder that DOVETAIL_E2E_LOGS names, for
// examples/consolidate and examples/whatif to read.
func (s *scene) dump(when string) {
	s.Helper()
	keep := os.Getenv("DOVETAIL_E2E_LOGS")
	if keep == "" {
		return
	}
	var all []map[string]any
	for _, kind := range []string{"karpenter.sh/v1/NodePool", "karpenter.sh/v1/NodeClaim", "v1/Node", "v1/Pod", "apps/v1/DaemonSet", "policy/v1/PodDisruptionBudget", "v1/Namespace"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(path.Dir(kind))
		list.SetKind(path.Base(kind) + "List")
		assert.NoError(s, s.api.List(s.ctx, list))
		for _, o := range list.Items {
			all = append(all, o.Object)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": all}, "", " ")
	if err = errors.Join(err, os.WriteFile(filepath.Join(keep, s.Name()+"-"+when+".json"), text, 0o600)); err != nil {
		s.Error(err)
	}
}

// number reads a figure of a log entry.
func number(entry map[string]any, name string) float64 {
	if f, ok := entry[name].(float64); ok {
		return f
	}
	return math.NaN()
}
