package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	offers "github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// contender is a controller that a comparison runs.
type contender struct {
	name    string
	scene   func(*testing.T) *scene
	plan    string                              // the message of its log that has a plan
	counts  string                              // the entry of that message that says how many nodes
	soldOut func(s *scene, family string) error // has the next start know of a family that is sold out
}

// contenderFlags are the defaults of the controller, which scenarios make quicker otherwise.
var contenderFlags = []string{"-confirm-after=15s", "-propose-every=10s"}

// Both have their defaults, and know from the start of what is sold out: Karpenter's provider for
// kwok cannot refuse a launch.
var contenders = []contender{
	{"dovetail", func(t *testing.T) *scene { return newScene(t, contenderFlags...) }, "planned", "create", func(s *scene, family string) error {
		before := s.command
		s.command = func() *exec.Cmd {
			cmd := before()
			cmd.Args = append(cmd.Args, "-sold-out=karpenter.k8s.aws/instance-family = "+family)
			return cmd
		}
		return nil
	}},
	{"karpenter", newKarpenterScene, "computed new nodeclaim(s) to fit pod(s)", "nodeclaims", func(s *scene, family string) error {
		return writeTypes(s.types, family)
	}},
}

// result is a line of a table of RESULTS.md. Its name is how the line begins.
type result interface {
	name() string
	text() string
}

// row is what a contender came to in a scenario.
type row struct {
	scenario, contender  string
	planned, nodes, most int
	before, cost         float64 // USD/h
	took, pending        time.Duration
	evicted, breaches    int
	running              bool // all pods ran before
}

// name is how the line of a row begins.
func (r row) name() string { return fmt.Sprintf("| %s | %s |", r.scenario, r.contender) }

func (r row) text() string {
	perDollar, breaches := "-", "-" // budgets of pods that start are no promise yet
	if r.running {
		breaches = fmt.Sprint(r.breaches)
	}
	if saved := r.before - r.cost; r.running && saved > 0.005 {
		perDollar = fmt.Sprintf("%.0f", float64(r.evicted)/saved)
	}
	return r.name() + fmt.Sprintf(" %d | %d | %d | %.4f | %.0f | %d | %s | %.0f | %s |", r.planned, r.nodes, r.most, r.cost, r.took.Seconds(), r.evicted, perDollar, r.pending.Seconds(), breaches)
}

// compared is the table of a section of RESULTS.md.
type compared struct{ title, text, header string }

var scenarioTable = compared{"## On a control plane", `"Planned" are the nodes of all
plans for pods, "most" is how many there were at one time, and "s" is until all pods run on
ready nodes, or no node comes or goes any more. "Evicted" are pods that ended while they
ran, and "per USD/h" is for each USD per hour saved. "Pending" is the longest that a pod
waited, and "breaches" are budgets of pods that were broken.`, `| scenario | | planned | nodes | most | USD/h | s | evicted | per USD/h | pending s | breaches |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|`}

var churnTable = compared{"## Churn on a control plane", `331 pods of 15 workloads for 20 minutes: a workload
is scaled every 20 s, one gets a new template every 90 s, all nodes drift twice, the node with the most
pods is lost, the family c6a is sold out, and the controller is killed five times. "Over" is the bill over that of plans from
empty for the same pods, made every 20 s by Dovetail. "Evicted" are the pods that were evicted, and
"preempted" the pods that kube-scheduler ended to make room for others. "Median" and "99%" are the times from the creation
of a pod to its binding. The columns after "rest" are of the time after the last change: what the nodes cost in the
end and how much that is over a plan from empty, how long it took, and how many pods were evicted meanwhile. "Left" is
what is tainted, orphaned or doubled then.`, `| scenario | | USD | over | evicted | preempted | launches | median s | 99% s | rest USD/h | over | s | evicted | left |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|`}

// TestCompare runs Karpenter with its own provider for kwok and this controller in the
// same scenarios, one after another, on a control plane of their own each: machines
// boot in the same time, and cost and hold the same. make e2e-compare runs it.
func TestCompare(t *testing.T) {
	file := os.Getenv("DOVETAIL_E2E_COMPARE")
	if file == "" {
		t.Skip("this compares with Karpenter: run make e2e-compare")
	}
	for _, scenario := range []struct {
		name  string
		run   func(*scene, contender) []result
		table compared
	}{{"burst", burstAndRest, scenarioTable}, {"growth", growth, scenarioTable}, {"drift", drift, scenarioTable},
		{"rolling update", rollingUpdate, scenarioTable}, {"churn", churn, churnTable}} {
		for _, c := range contenders {
			t.Run(scenario.name+"/"+c.name, func(t *testing.T) {
				s := c.scene(t)
				results := scenario.run(s, c)
				for _, r := range results {
					t.Log(r.text())
				}
				t.Logf("%d pods preempted", s.preempted())
				assert.NoError(t, scenario.table.write(file, results))
			})
		}
	}
}

// measured returns a row of what a tally has seen of a scenario that ended in a look.
func (s *scene) measured(name string, c contender, from int, t *tally, l look, took time.Duration) row {
	s.Helper()
	planned := 0
	for _, e := range s.entries(c.plan)[from:] {
		planned += int(number(e, c.counts))
	}
	return row{scenario: name, contender: c.name, planned: planned, nodes: len(l.nodes), most: t.most, cost: l.cost, took: took, evicted: len(t.ended), pending: t.longest, breaches: len(t.breaches)}
}

// burstAndRest is 300 pods, of which seven of ten go when all run.
func burstAndRest(s *scene, c contender) []result {
	first := newTally()
	s.apply("testdata/burst.yaml")
	before, took := s.watch(6*time.Minute, "300 pods run", func(l look) error { first.count(l); return settled(l, 300) })
	burst := s.measured("burst of 300 pods", c, 0, first, before, took)
	plans := len(s.entries(c.plan))
	pods := s.deployments(func(have int) int { return int(math.Ceil(0.3 * float64(have))) })
	s.watch(time.Minute, "the other pods are gone", func(l look) error {
		if len(l.pods) != pods {
			return fmt.Errorf("%d pods", len(l.pods))
		}
		return nil
	})
	t := newTally()
	const still = 2 * time.Minute // both look again sooner than that
	l, took := s.watch(20*time.Minute, "at rest", atRest(t, still, pods))
	s.Logf("a plan from empty costs %.4f USD/h", s.fresh(l).Cost)
	rest := s.measured(fmt.Sprintf("scaled to %d pods, at rest", pods), c, plans, t, l, took-still)
	rest.before, rest.running = before.cost, true
	return []result{burst, rest}
}

// growth is 300 pods that become 1950.
func growth(s *scene, c contender) []result {
	s.apply("testdata/burst.yaml")
	s.watch(6*time.Minute, "300 pods run", func(l look) error { return settled(l, 300) })
	plans := len(s.entries(c.plan))
	pods := s.deployments(sevenfold)
	t := newTally()
	l, took := s.watch(15*time.Minute, "all pods run", func(l look) error { t.count(l); return settled(l, pods) })
	return []result{s.measured(fmt.Sprintf("300 pods become %d", pods), c, plans, t, l, took)}
}

// drift returns a template that changes, with a budget of one node.
func drift(s *scene, c contender) []result {
	s.pool(func(p *v1.NodePool) { p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}} })
	before := s.small()
	plans := len(s.entries(c.plan))
	s.pool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "b"} })
	t := newTally()
	l, took := s.watch(15*time.Minute, "none has drifted", func(l look) error {
		t.count(l)
		if err := settled(l, 60); err != nil {
			return err
		}
		return labelled(l)
	})
	r := s.measured("60 pods, all nodes drift, one at a time", c, plans, t, l, took)
	r.before, r.running = before.cost, true
	return []result{r}
}

// rollingUpdate returns a new template of all pods at once.
func rollingUpdate(s *scene, c contender) []result {
	before := s.small()
	plans, t := len(s.entries(c.plan)), newTally()
	l, took := s.rollout(60, t)
	r := s.measured("60 pods of a new template", c, plans, t, l, took)
	r.before, r.running = before.cost, true
	return []result{r}
}

// karpenterRelease is the release of Karpenter that is compared: that of the module karpenter, or the one
// that make e2e-compare KARPENTER=1.15.0 asks for.
func karpenterRelease() string { return cmp.Or(os.Getenv("DOVETAIL_E2E_KARPENTER"), "1.14.1") }

// karpenter builds Karpenter with its provider for kwok, and says where its module is.
func karpenter(ctx context.Context, to string) (module string, err error) {
	for _, args := range [][]string{{"build", "-o", to, "sigs.k8s.io/karpenter/kwok"}, {"list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/karpenter"}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		if os.Getenv("DOVETAIL_E2E_KARPENTER") != "" {
			cmd = exec.CommandContext(ctx, "../../../../benchmarks/karpenter/release", append([]string{"-C", ".", karpenterRelease(), "go"}, args...)...)
		}
		cmd.Dir, cmd.Env = "karpenter", append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		module = strings.TrimSpace(string(out))
	}
	return module, nil
}

// newKarpenterScene is newScene with Karpenter, its own definitions, and machines that
// are those of our cloud.
func newKarpenterScene(t *testing.T) *scene {
	t.Helper()
	s := newCluster(t, controlPlane(t))
	dir := t.TempDir()
	program := filepath.Join(dir, "karpenter")
	module, err := karpenter(t.Context(), program)
	require.NoError(t, err)
	for _, pattern := range []string{"pkg/apis/crds/*.yaml", "kwok/apis/crds/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(module, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			s.apply(file)
		}
	}
	s.types = filepath.Join(dir, "types.json")
	require.NoError(t, writeTypes(s.types, ""))
	class := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": map[string]any{"name": "default"}}}
	s.eventually(30*time.Second, "node classes are served", func() error { return s.api.Create(s.ctx, class.DeepCopy()) })
	s.served()
	s.apply("../deploy/pool.yaml")
	s.pool(func(p *v1.NodePool) { // its machines have no such label: there are no larger ones
		r := &p.Spec.Template.Spec.Requirements
		*r = slices.DeleteFunc(*r, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == "karpenter.k8s.aws/instance-cpu" })
	})
	s.command = func() *exec.Cmd {
		cmd := exec.Command(program, "--metrics-port=0", "--health-probe-port=0", "--disable-leader-election", "--instance-types-file-path="+s.types)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "SYSTEM_NAMESPACE=kube-system")
		return cmd
	}
	s.start()
	return s
}

// machines are the instance types that newScene's pool may launch.
const machines = "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m, r), karpenter.k8s.aws/instance-cpu < 17"

// writeTypes writes machines in the form that Karpenter's provider reads, but for a family that is
// sold out. That takes 100m and 10Mi of each machine for itself: they have so much
// more, and pods find the same room.
func writeTypes(file, soldOut string) error {
	where, err := requirements.Parse(machines)
	if err != nil {
		return err
	}
	types, err := offers.New(&offers.Options{Where: where})
	if err != nil {
		return err
	}
	var out []map[string]any
	for _, it := range types {
		family, _, _ := strings.Cut(it.Name, ".")
		var offerings []map[string]any
		var allocatable corev1.ResourceList
		for _, o := range it.Offerings {
			have, err := it.AllocatableFor(&o)
			if err != nil {
				return err
			}
			allocatable = have.ResourceList()
			key := o.Key(it.Name)
			if key.CapacityType != v1.CapacityTypeOnDemand {
				continue
			}
			is := func(label, value string) map[string]any {
				return map[string]any{"key": label, "operator": "In", "values": []string{value}}
			}
			offerings = append(offerings, map[string]any{"Price": o.Price, "Available": family != soldOut,
				"Requirements": []any{is(corev1.LabelTopologyZone, key.Zone), is(v1.CapacityTypeLabelKey, key.CapacityType)}})
		}
		for name, more := range map[corev1.ResourceName]string{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "10Mi"} {
			q := allocatable[name].DeepCopy()
			q.Add(resource.MustParse(more))
			allocatable[name] = q
		}
		out = append(out, map[string]any{"name": it.Name, "architecture": "amd64", "operatingSystems": []string{"linux"}, "resources": allocatable, "offerings": offerings})
	}
	text, err := json.Marshal(out)
	return errors.Join(err, os.WriteFile(file, text, 0o600))
}

// write puts results into the table of a file, in the place of those of an earlier run.
func (t compared) write(file string, results []result) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	above, section, _ := strings.Cut(string(old), t.title+"\n")
	section, below, more := strings.Cut(section, "\n## ")
	if more {
		below = "\n## " + below
	}
	lines := slices.DeleteFunc(strings.Split(section, "\n"), func(line string) bool {
		again := slices.ContainsFunc(results, func(r result) bool { return strings.HasPrefix(line, r.name()) })
		return again || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| scenario |")
	})
	for _, r := range results {
		lines = append(lines, r.text())
	}
	scenario := func(line string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, strings.Join(strings.SplitN(line, "|", 4)[:2], "|")) })
	}
	order := make(map[string]int, len(lines))
	for _, line := range lines {
		order[line] = scenario(line)
	}
	slices.SortStableFunc(lines, func(a, b string) int { return order[a] - order[b] })
	var b strings.Builder
	fmt.Fprintf(&b, `%s

Written by %[2]smake e2e-compare%[2]s on %s, %d processors, %s.

Dovetail's [controller](../examples/controller) and Karpenter %s with its own provider
for kwok, each with its defaults and a control plane of its own: kube-apiserver,
kube-scheduler and kube-controller-manager 1.36. The same machines at the same prices,
ready %.0f s after their launch; nothing stands behind them. %s
The scenarios may be from several runs. The machine did other work at the same time.

%s
`, t.title, "`", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), karpenterRelease(), bootTime.Seconds(), t.text, t.header)
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	return os.WriteFile(file, []byte(strings.TrimRight(above, "\n")+"\n\n"+b.String()+below), 0o644)
}

// Rows of several runs come together, those of one scenario side by side, and other
// sections stay.
func TestRowsOfAComparison(t *testing.T) {
	file := filepath.Join(t.TempDir(), "RESULTS.md")
	require.NoError(t, os.WriteFile(file, []byte("# Results\n\ntext\n\n## Other\n\n| a | b |\n"), 0o600))
	for _, rows := range [][]result{{row{scenario: "burst", contender: "dovetail", nodes: 1}, row{scenario: "rest", contender: "dovetail"}},
		{row{scenario: "burst", contender: "karpenter"}, row{scenario: "rest", contender: "karpenter"}}, {row{scenario: "burst", contender: "dovetail", nodes: 2}}} {
		require.NoError(t, scenarioTable.write(file, rows))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); len(cells) > 3 && cells[0] != "| scenario" {
			names = append(names, cells[0]+" "+cells[1]+" "+cells[3])
		}
	}
	want := []string{"| burst karpenter 0", "| burst dovetail 2", "| rest dovetail 0", "| rest karpenter 0"}
	require.Equal(t, want, names)
	require.True(t, strings.HasPrefix(string(text), "# Results\n\ntext\n\n## Other\n\n| a | b |\n"), string(text))
}
