package verify_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

var (
	oracles = flag.String("kubescheduler", "", "programs of benchmarks/kubescheduler, as MINOR=PATH, separated by commas")
	pairs   = flag.Int("pairs", 5000, "how many pairs of a pod and a node the programs of -kubescheduler judge")
)

// schedulerState is the State of benchmarks/kubescheduler.
type schedulerState struct {
	Nodes                  []schedulerNode                 `json:"nodes"`
	Namespaces             []*corev1.Namespace             `json:"namespaces,omitempty"`
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes               []*storagev1.CSINode            `json:"csiNodes,omitempty"`

	ResourceClaims         []*resourcev1.ResourceClaim         `json:"resourceClaims,omitempty"`
	ResourceClaimTemplates []*resourcev1.ResourceClaimTemplate `json:"resourceClaimTemplates,omitempty"`
	ResourceSlices         []*resourcev1.ResourceSlice         `json:"resourceSlices,omitempty"`
	DeviceClasses          []*resourcev1.DeviceClass           `json:"deviceClasses,omitempty"`
}

type schedulerNode struct {
	Node *corev1.Node  `json:"node"`
	Pods []*corev1.Pod `json:"pods,omitempty"`
}

// schedulerQuestion and schedulerAnswer are a line of its input and of its output.
type schedulerQuestion struct {
	State *schedulerState `json:"state,omitempty"`
	Pods  []*corev1.Pod   `json:"pods"`
	Ask   [][2]int        `json:"ask,omitempty"`
	Bind  [][2]int        `json:"bind,omitempty"`
}

type schedulerAnswer struct {
	Ask, Bind []schedulerVerdict
	Error     string
}

type schedulerVerdict struct{ Plugin, Reason string }

// kubeScheduler is a running program of benchmarks/kubescheduler.
type kubeScheduler struct {
	minor     string
	questions *json.Encoder
	answers   *json.Decoder
}

func startOracles(t *testing.T) (all []*kubeScheduler) {
	for _, arg := range strings.FieldsFunc(*oracles, func(r rune) bool { return r == ',' }) {
		minor, path, named := strings.Cut(arg, "=")
		require.True(t, named, "-kubescheduler %s has no =", arg)
		program := exec.CommandContext(t.Context(), path)
		program.Stderr = os.Stderr
		in, err := program.StdinPipe()
		require.NoError(t, err)
		out, err := program.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, program.Start())
		t.Cleanup(func() { _ = in.Close(); _ = program.Wait() })
		all = append(all, &kubeScheduler{minor, json.NewEncoder(in), json.NewDecoder(bufio.NewReaderSize(out, 1<<20))})
	}
	return all
}

func (o *kubeScheduler) ask(t *testing.T, q *schedulerQuestion) schedulerAnswer {
	var a schedulerAnswer
	sent := make(chan error, 1)
	go func() { sent <- o.questions.Encode(q) }()
	err := o.answers.Decode(&a)
	require.NoError(t, <-sent)
	if err == io.EOF {
		require.Fail(t, "kubescheduler of "+o.minor+" ended")
	}
	require.NoError(t, err)
	require.Empty(t, a.Error)
	return a
}

// standing makes a state of a random problem: Nodes only, which nobody deletes, with the bound
// pods of the problem and some of its pending ones wherever chance puts them. The rest stays
// pending, and so do pods whose volumes are not bound: kube-scheduler binds these first.
func standing(seed uint64) provisioning.Input {
	dice := chance.New(0, seed^0x6b7363686564)
	below := func(n int) int { return int(dice.Next() % uint64(n)) }
	without := randproblem.Buffers | randproblem.Static | randproblem.Overlays
	for feature := randproblem.Crowds; feature <= randproblem.All; feature <<= 1 {
		if feature != randproblem.Crowds && below(2) == 0 {
			without |= feature
		}
	}
	in := randproblem.Draw(seed, randproblem.Config{Without: without, With: randproblem.Fields | randproblem.DaemonLabels | randproblem.FreeVolumes})
	in.InstanceTypes, in.NodePools, in.DaemonSetPods = nil, nil, nil
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n provisioning.Node) bool {
		return n.Node == nil || n.Node.DeletionTimestamp != nil
	})
	roomy, clean := below(3) > 0, below(3) > 0
	for i := range in.Nodes {
		in.Nodes[i].NodeClaim, in.Nodes[i].Node = nil, in.Nodes[i].Node.DeepCopy()
		if roomy {
			enlarge(in.Nodes[i].Node)
		}
		if clean {
			in.Nodes[i].Node.Spec.Taints, in.Nodes[i].Node.Spec.Unschedulable = nil, false
		}
		in.Nodes[i].Pods = slices.DeleteFunc(slices.Clone(in.Nodes[i].Pods), func(p *corev1.Pod) bool {
			return podlife.Finished(p) || waitsForVolume(in, p)
		})
	}
	var pending []*corev1.Pod
	share := below(4)
	for _, pod := range in.Pods {
		if len(in.Nodes) == 0 || below(4) >= share || waitsForVolume(in, pod) {
			pending = append(pending, pod)
			continue
		}
		i := below(len(in.Nodes))
		bound := pod.DeepCopy()
		bound.Spec.NodeName = in.Nodes[i].Node.Name
		in.Nodes[i].Pods = append(in.Nodes[i].Pods, bound)
	}
	in.Pods = pending
	return in
}

// enlarge gives a node ten times the CPU and memory.
func enlarge(node *corev1.Node) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if amount, has := node.Status.Allocatable[name]; has {
			amount.Mul(10)
			node.Status.Allocatable[name] = amount
		}
	}
}

// stateOf is the state of a problem once the controllers of Kubernetes have done their part, of
// which the referee judges what comes after: claims of ephemeral volumes are made, and claims
// without a class have the default class.
func stateOf(in provisioning.Input) *schedulerState {
	in.Volumes.Claims = slices.Concat(in.Volumes.Claims, ephemeralClaims(in))
	if class := defaultClass(in); class != nil {
		for i, claim := range in.Volumes.Claims {
			if _, old := claim.Annotations[corev1.BetaStorageClassAnnotation]; claim.Spec.StorageClassName == nil && !old {
				claim = claim.DeepCopy()
				claim.Spec.StorageClassName = &class.Name
				in.Volumes.Claims[i] = claim
			}
		}
	}
	s := &schedulerState{
		Namespaces:             in.Namespaces,
		PersistentVolumeClaims: in.Volumes.Claims,
		PersistentVolumes:      in.Volumes.Volumes,
		StorageClasses:         in.Volumes.Classes,
		CSINodes:               in.Volumes.CSINodes,
		ResourceClaims:         in.Devices.Claims,
		ResourceClaimTemplates: in.Devices.Templates,
		ResourceSlices:         in.Devices.Slices,
		DeviceClasses:          in.Devices.Classes,
	}
	for _, n := range in.Nodes {
		s.Nodes = append(s.Nodes, schedulerNode{n.Node, n.Pods})
	}
	return s
}

// defaultClass is the newest of the default classes of a problem, and of these the first by name;
// nil if it has none.
func defaultClass(in provisioning.Input) (class *storagev1.StorageClass) {
	for _, c := range in.Volumes.Classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if class == nil || cmp.Or(-c.CreationTimestamp.Compare(class.CreationTimestamp.Time), cmp.Compare(c.Name, class.Name)) < 0 {
			class = c
		}
	}
	return class
}

// waitsForVolume says whether a volume of a pod is not bound yet.
func waitsForVolume(in provisioning.Input, pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) ||
		slices.ContainsFunc(claimsOf(in, pod), func(c *corev1.PersistentVolumeClaim) bool {
			return c.Annotations["pv.kubernetes.io/bind-completed"] == ""
		})
}

// ephemeralClaims are the claims that the ephemeral volume controller has yet to make for the
// pending pods of a problem. The referee judges what comes after.
func ephemeralClaims(in provisioning.Input) (made []*corev1.PersistentVolumeClaim) {
	for _, pod := range in.Pods {
		for _, volume := range pod.Spec.Volumes {
			name := pod.Name + "-" + volume.Name
			if volume.Ephemeral == nil || volume.Ephemeral.VolumeClaimTemplate == nil ||
				slices.ContainsFunc(in.Volumes.Claims, func(c *corev1.PersistentVolumeClaim) bool {
					return c.Namespace == pod.Namespace && c.Name == name
				}) {
				continue
			}
			template := volume.Ephemeral.VolumeClaimTemplate
			made = append(made, &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: pod.Namespace, Name: name, Labels: template.Labels, Annotations: template.Annotations,
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}},
				},
				Spec:   template.Spec,
				Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
			})
		}
	}
	return made
}

// judged says what the referee finds wrong with one pod on one node, "" if nothing.
func judged(in provisioning.Input, pod *corev1.Pod, node string) string {
	in.Pods = []*corev1.Pod{pod}
	plan := &provisioning.Plan{
		Bind:  []provisioning.Binding{{Node: node, Pods: in.Pods}},
		Order: in.Pods,
	}
	var all []string
	for _, v := range verify.Plan(in, plan, nil) {
		if v.Rule != verify.RuleAccounts {
			all = append(all, v.String())
		}
	}
	return strings.Join(all, "; ")
}

// ahead says whether kube-scheduler would wait for the volume controller to mark a claim as bound
// to the volume that it names. The referee judges what comes after.
func ahead(in provisioning.Input, pod *corev1.Pod, verdict schedulerVerdict) bool {
	return verdict.Reason == "pod has unbound immediate PersistentVolumeClaims" &&
		slices.ContainsFunc(claimsOf(in, pod), func(c *corev1.PersistentVolumeClaim) bool {
			return c.Spec.VolumeName != "" && c.Annotations["pv.kubernetes.io/bind-completed"] == ""
		})
}

// claimsOf are the claims that a pod names and the problem has.
func claimsOf(in provisioning.Input, pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	return slices.DeleteFunc(slices.Clone(in.Volumes.Claims), func(c *corev1.PersistentVolumeClaim) bool {
		return c.Namespace != pod.Namespace || !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == c.Name
		})
	})
}

// stricter says whether the referee refuses what kube-scheduler lets pass and cannot carry out:
// docs/design.md has the list.
func stricter(violations string) bool {
	return strings.HasSuffix(violations, "gets its volume where an earlier pod is, which may be in another zone")
}

// The referee and kube-scheduler's own plugins judge each pod on each node alike.
func TestKubeSchedulerJudgesPairsAlike(t *testing.T) {
	all := startOracles(t)
	if len(all) == 0 {
		t.Skip("no program of benchmarks/kubescheduler: see -kubescheduler")
	}
	asked, refused := 0, map[string]int{}
	differ := map[string]int{}
	for seed := uint64(0); asked < *pairs; seed++ {
		in := standing(seed)
		q := &schedulerQuestion{State: stateOf(in), Pods: in.Pods}
		for i := range in.Pods {
			for j := range in.Nodes {
				q.Ask = append(q.Ask, [2]int{i, j})
			}
		}
		if len(q.Ask) == 0 {
			continue
		}
		for _, o := range all {
			for i, verdict := range o.ask(t, q).Ask {
				pod, node := in.Pods[q.Ask[i][0]], in.Nodes[q.Ask[i][1]].Node.Name
				ours := judged(in, pod, node)
				asked++
				refused[verdict.Plugin]++
				if (ours == "") == (verdict.Plugin == "") || ahead(in, pod, verdict) || stricter(ours) {
					continue
				}
				rule, _, _ := strings.Cut(ours, ":")
				kind := fmt.Sprintf("%s: kube-scheduler %q, referee %q", o.minor, verdict.Plugin, rule)
				if differ[kind]++; differ[kind] == 1 {
					t.Logf("%s\n  seed %d, pod %s on node %s\n  kube-scheduler: %s\n  referee: %s", kind, seed, pod.Name, node, verdict.Reason, ours)
				}
			}
		}
	}
	t.Logf("%d pairs, by plugin that refuses: %v", asked, refused)
	for _, kind := range slices.Sorted(maps.Keys(differ)) {
		t.Errorf("%6d %s", differ[kind], kind)
	}
}

// kube-scheduler binds the pods of a plan in its order, each to its node, when the nodes are up.
func TestKubeSchedulerBindsPlans(t *testing.T) {
	all := startOracles(t)
	if len(all) == 0 {
		t.Skip("no program of benchmarks/kubescheduler: see -kubescheduler")
	}
	bound, refused := 0, 0
	for seed := uint64(0); bound < *pairs/10; seed++ {
		in := planned(seed)
		plan, err := provisioning.Solve(t.Context(), in, nil)
		require.NoError(t, err, "seed %d", seed)
		q, nodes := carriedOut(t, in, plan)
		if len(q.Bind) == 0 {
			continue
		}
		for _, o := range all {
			for i, verdict := range o.ask(t, q).Bind {
				if bound++; verdict.Plugin == "" || ahead(in, q.Pods[q.Bind[i][0]], verdict) {
					continue
				}
				if refused++; refused <= 20 {
					t.Errorf("%s: seed %d, pod %s on %s: %s: %s", o.minor, seed, q.Pods[q.Bind[i][0]].Name, nodes[q.Bind[i][1]], verdict.Plugin, verdict.Reason)
				}
			}
		}
	}
	t.Logf("%d pods bound, %d refused", bound, refused)
}

// planned is a random problem whose nodes all are up. No two of its pending pods share a claim
// without a volume: the plugins alone do not bind it, and refuse the second pod every other node.
func planned(seed uint64) provisioning.Input {
	in := randproblem.Draw(seed, randproblem.Config{Without: randproblem.Buffers | randproblem.Static})
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n provisioning.Node) bool { return n.Node == nil })
	for i := range in.Nodes {
		in.Nodes[i].NodeClaim = nil
		in.Nodes[i].Pods = slices.DeleteFunc(slices.Clone(in.Nodes[i].Pods), podlife.Finished)
	}
	taken := map[*corev1.PersistentVolumeClaim]bool{}
	in.Pods = slices.DeleteFunc(slices.Clone(in.Pods), func(pod *corev1.Pod) bool {
		shares := false
		for _, claim := range claimsOf(in, pod) {
			shares = shares || claim.Spec.VolumeName == "" && taken[claim]
			taken[claim] = true
		}
		return shares
	})
	return in
}

// carriedOut is the question whether the pods of a plan can be bound: its new nodes come up as
// their cheapest options, with their DaemonSet pods. It returns the names of all nodes as well.
func carriedOut(t *testing.T, in provisioning.Input, plan *provisioning.Plan) (q *schedulerQuestion, nodes []string) {
	q = &schedulerQuestion{State: stateOf(in), Pods: plan.Order}
	index, home := map[string]int{}, map[*corev1.Pod]int{}
	for i, n := range q.State.Nodes {
		index[n.Node.Name] = i
	}
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			home[pod] = index[b.Node]
		}
	}
	for i := range plan.Create {
		node := comesUp(t, &plan.Create[i], fmt.Sprintf("new-%d", i), in.Vocabulary)
		for _, pod := range plan.Create[i].Pods {
			home[pod] = len(q.State.Nodes)
		}
		up := schedulerNode{Node: node}
		for _, daemon := range in.DaemonSetPods {
			if runsOn(daemon, node) {
				daemon = daemon.DeepCopy()
				daemon.Name += node.Name
				up.Pods = append(up.Pods, daemon)
			}
		}
		q.State.Nodes = append(q.State.Nodes, up)
	}
	for i, pod := range plan.Order {
		q.Bind = append(q.Bind, [2]int{i, home[pod]})
	}
	for _, n := range q.State.Nodes {
		nodes = append(nodes, n.Node.Name)
	}
	return q, nodes
}

// comesUp is the node that the cheapest option of a planned one becomes.
func comesUp(t *testing.T, n *provisioning.NewNode, name string, vocabulary *requirements.Vocabulary) *corev1.Node {
	option := n.Options[0]
	allocatable, err := option.InstanceType.AllocatableFor(option.Offering)
	require.NoError(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: option.NodeLabels()}}
	maps.Copy(node.Labels, n.Labels)
	for want := range option.Requirements().Intersect(n.Requirements).All() {
		if value, ok := want.Any(); ok && !want.AllowsAbsent() && node.Labels[want.Key()] == "" {
			node.Labels[want.Key()] = value
		}
	}
	for alias, key := range vocabulary.Aliases() {
		if value, set := node.Labels[key]; set {
			node.Labels[alias] = value
		}
	}
	node.Labels[corev1.LabelHostname] = name
	node.Labels[v1.NodeRegisteredLabelKey], node.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	node.Spec.Taints = n.NodeClaim().Spec.Taints
	node.Status.Allocatable = allocatable.ResourceList()
	return node
}

// runsOn says whether a DaemonSet has a pod on a node.
func runsOn(daemon *corev1.Pod, node *corev1.Node) bool {
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(daemon).Match(node); err != nil || !fits {
		return false
	}
	_, refused := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, daemon.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	}, true)
	return !refused
}
