package nomination_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// world is a small cluster and a controller without memory. Nodes hold two pods each.
type world struct {
	now     time.Time
	claims  map[string]*v1.NodeClaim
	nodes   map[string]*corev1.Node
	pods    map[string]*corev1.Pod
	refused map[types.UID]bool // a restart forgets it
	plans   int
	calm    bool // no deadline has passed, no launch has failed, no write was refused
	left    map[string]int
}

// room is how many pods a node holds.
const room = 2

// newWorld has the claims of a plan for four pods, of which three will come back if
// they are deleted, and a stranger that the plan knows nothing of. One of the four runs
// on a node that is to go.
func newWorld(t *testing.T) *world {
	w := &world{now: noon, claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{},
		refused: map[types.UID]bool{}, calm: true, left: map[string]int{"fail": 1, "delete": 1, "refuse": 1, "restart": 1, "time": 3}}
	w.nodes["old"] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "old", Labels: map[string]string{"full": "true"}}}
	for _, p := range []*corev1.Pod{pod("x", "rs"), pod("y", "rs"), pod("solo", ""), on(pod("z", "rs"), "old"), pod("stranger", "other")} {
		w.pods[p.Name] = p
	}
	w.create(t, "a", w.pods["x"], w.pods["solo"])
	w.create(t, "b", w.pods["y"], w.pods["z"])
	return w
}

func (w *world) create(t *testing.T, name string, pods ...*corev1.Pod) {
	c, err := nomination.Reserve(w.now, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}, pods, nil)
	require.NoError(t, err)
	c.UID, c.CreationTimestamp = types.UID(name), metav1.NewTime(w.now)
	w.claims[name] = c
}

func (w *world) clone() *world {
	out := *w
	out.claims, out.nodes, out.pods = maps.Clone(w.claims), maps.Clone(w.nodes), maps.Clone(w.pods)
	out.refused, out.left = maps.Clone(w.refused), maps.Clone(w.left)
	return &out
}

func (w *world) review(t *testing.T) nomination.State {
	in := nomination.Input{Refused: w.refused}
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		in.NodeClaims = append(in.NodeClaims, w.claims[name])
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		in.Nodes = append(in.Nodes, w.nodes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		in.Pods = append(in.Pods, w.pods[name])
	}
	s, err := nomination.Review(w.now, in, nil)
	require.NoError(t, err)
	return s
}

// free is how many more pods a node holds.
func (w *world) free(node string) int {
	n := room
	for _, p := range w.pods {
		if p.Spec.NodeName == node {
			n--
		}
	}
	return n
}

// admits is what kube-scheduler asks of a node.
func (w *world) admits(n *corev1.Node, p *corev1.Pod) bool {
	if n.Labels["full"] != "" || w.free(n.Name) == 0 {
		return false
	}
	for _, taint := range n.Spec.Taints {
		if !slices.ContainsFunc(p.Spec.Tolerations, func(have corev1.Toleration) bool { return have.Key == taint.Key && have.Value == taint.Value }) {
			return false
		}
	}
	return true
}

// step is one thing that may happen next.
type step struct {
	name string
	do   func(*world)
}

// steps lists what may happen in a state: each write that the controller asks for by itself,
// as it may die after any; and whatever the cluster does.
func (w *world) steps(t *testing.T, s nomination.State) (out []step) {
	add := func(name string, do func(*world)) { out = append(out, step{name, do}) }
	once := func(kind, name string, do func(*world)) {
		if w.left[kind] > 0 {
			add(kind+" "+name, func(w *world) { w.left[kind]--; do(w) })
		}
	}
	for _, p := range s.Pods {
		if p.Toleration == nil {
			continue
		}
		add("tolerate "+p.Pod.Name, func(w *world) { w.pods[p.Pod.Name] = tolerating(p) })
		once("refuse", p.Pod.Name, func(w *world) { w.refused[p.Pod.UID], w.calm = true, false })
	}
	for _, n := range s.Nodes {
		if n.Opened != nil {
			add("open "+n.Node, func(w *world) { w.nodes[n.Node] = n.Opened })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		if w.claims[name].Status.NodeName != "" {
			continue
		}
		add("join "+name, func(w *world) {
			c := w.claims[name].DeepCopy()
			w.nodes["node-"+name], w.claims[name] = ready(c, w.now), c
		})
		once("fail", name, func(w *world) { delete(w.claims, name); w.calm = false })
	}
	w.podSteps(s, add, once)
	if len(w.refused) > 0 {
		once("restart", "", func(w *world) { w.refused = map[types.UID]bool{} })
	}
	if !s.Next.IsZero() {
		once("time", "", func(w *world) { w.now, w.calm = s.Next, false })
	}
	if free := w.unplanned(s); len(free) > 0 && w.plans < 1 {
		add("plan", func(w *world) { w.plans++; w.create(t, "c", free[:min(room, len(free))]...) })
	}
	return out
}

// podSteps are what kube-scheduler and the owners of pods do.
func (w *world) podSteps(s nomination.State, add func(string, func(*world)), once func(string, string, func(*world))) {
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		if p.Spec.NodeName == "" {
			for _, node := range slices.Sorted(maps.Keys(w.nodes)) {
				if w.admits(w.nodes[node], p) {
					add("bind "+name+" to "+node, func(w *world) { w.pods[name] = on(p, node) })
				}
			}
		}
		gone := func(w *world) {
			delete(w.pods, name)
			if o := p.OwnerReferences; len(o) > 0 {
				w.pods[name+"+"] = pod(name+"+", o[0].Name)
			}
		}
		switch {
		case p.Spec.NodeName == "old":
			add("evict "+name, gone)
		case name != "stranger":
			once("delete", name, gone)
		}
	}
}

// unplanned returns the pending pods that nothing is coming for.
func (w *world) unplanned(s nomination.State) (out []*corev1.Pod) {
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		if p.Spec.NodeName == "" && !slices.ContainsFunc(s.Pods, func(o nomination.Place) bool { return o.Pod.Name == name }) {
			out = append(out, p)
		}
	}
	return out
}

// key tells worlds apart that may go on differently.
func (w *world) key() string {
	var b strings.Builder
	fmt.Fprint(&b, w.now.Unix(), w.calm, w.plans, w.left, w.refused)
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		c := w.claims[name]
		fmt.Fprint(&b, "|", name, c.CreationTimestamp.Unix(), c.Status.NodeName, c.Annotations)
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n := w.nodes[name]
		fmt.Fprint(&b, "|", name, n.Spec.Taints, n.Status.Conditions)
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		p := w.pods[name]
		fmt.Fprint(&b, "|", name, p.Spec.NodeName, p.Spec.Tolerations)
	}
	return b.String()
}

// check is what holds in every world, whose state is s.
func (w *world) check(t *testing.T, s nomination.State, path []string) {
	seen := map[string]bool{}
	for _, p := range s.Pods {
		require.Empty(t, p.Pod.Spec.NodeName, "%q: a promise to a pod that is bound", path)
		require.False(t, seen[p.Pod.Name], "%q: %s has two promises", path, p.Pod.Name)
		seen[p.Pod.Name] = true
		require.Contains(t, w.claims, p.NodeClaim, "%q", path)
		require.True(t, p.Until.After(w.now), "%q", path)
		require.False(t, s.Next.IsZero() || s.Next.After(p.Until), "%q: time ends a promise unforeseen", path)
	}
	for _, p := range s.Moving {
		require.Equal(t, "old", p.Pod.Spec.NodeName, "%q: %s does not move", path, p.Pod.Name)
		require.Contains(t, w.claims, p.NodeClaim, "%q", path)
		require.True(t, p.Until.After(w.now) && !s.Next.After(p.Until), "%q: time ends a promise unforeseen", path)
		require.Nil(t, p.Toleration, "%q", path)
	}
	for _, n := range s.Nodes {
		if w.calm && n.Phase != nomination.Open && n.Node != "" {
			require.GreaterOrEqual(t, w.free(n.Node), n.Pending+n.Moving+n.Missing, "%q: %s was given to others", path, n.Node)
		}
	}
}

// mostSteps is how many steps a world takes at most until nothing is left to happen.
const mostSteps = 100

// settled lets everything happen that will if nothing more goes wrong, and says what the
// cluster is like then: whatever was before, no pod waits for what does not come, and no
// node stays tainted. Ends has the number of steps left to the end, by the key of each world
// that came to one.
func (w *world) settled(t *testing.T, ends map[string]int, path []string) {
	w = w.clone()
	w.left = map[string]int{}
	w.plans = 1
	var keys []string
	for range mostSteps {
		key := w.key()
		if more, known := ends[key]; known {
			require.Less(t, len(keys)+more, mostSteps, "%q: no end", path)
			for i, k := range keys {
				ends[k] = len(keys) - i + more
			}
			return
		}
		keys = append(keys, key)
		s := w.review(t)
		steps := w.steps(t, s)
		switch {
		case len(steps) > 0:
			steps[0].do(w)
			path = append(path, steps[0].name)
		case !s.Next.IsZero():
			require.True(t, s.Next.After(w.now))
			w.now = s.Next
			path = append(path, "time")
		default:
			require.Empty(t, s.Pods, "%q: a pod waits for ever", path)
			for _, n := range w.nodes {
				require.Empty(t, n.Spec.Taints, "%q: %s stays tainted", path, n.Name)
			}
			for i, k := range keys {
				ends[k] = len(keys) - 1 - i
			}
			return
		}
	}
	t.Fatalf("%q: no end", path)
}

// TestEveryInterleaving goes through every order in which these can happen: writes of a
// controller that may die after each and that has no memory; nodes that join;
// kube-scheduler binding pods wherever they are admitted; evictions; a second plan; and
// mishaps. By default mishaps come alone, and of each world so many states are drawn; the
// long run has two of them, and more.
func TestEveryInterleaving(t *testing.T) {
	mishaps := []string{"fail", "delete", "refuse", "time", "stranger"}
	for i, one := range mishaps {
		for _, two := range mishaps[i : i+testlong.Seeds(1, len(mishaps)-i)] {
			t.Run(one+" "+two, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.left = map[string]int{one: 1, two: 1, "restart": 1}
				if w.left["time"] > 0 {
					w.left["time"] = 3
				}
				if w.left["stranger"] == 0 {
					delete(w.pods, "stranger")
				}
				explore(t, w, testlong.Seeds(100, 1_500))
			})
		}
	}
}

// explore goes through worlds that can be reached, in an order drawn by lot, and stops
// after so many different ones.
func explore(t *testing.T, start *world, limit int) {
	type found struct {
		w    *world
		path []string
	}
	draw := rand.New(rand.NewPCG(1, 2))
	seen, ends := map[string]bool{}, map[string]int{}
	queue := []found{{start, nil}}
	for len(queue) > 0 && len(seen) < limit {
		i := draw.IntN(len(queue))
		f := queue[i]
		queue[i] = queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		key := f.w.key()
		if seen[key] {
			continue
		}
		seen[key] = true
		s := f.w.review(t)
		f.w.check(t, s, f.path)
		f.w.settled(t, ends, f.path)
		for _, one := range f.w.steps(t, s) {
			next := f.w.clone()
			one.do(next)
			queue = append(queue, found{next, append(slices.Clone(f.path), one.name)})
		}
	}
	t.Logf("%d states, %d not gone through", len(seen), len(queue))
}
