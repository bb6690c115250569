package disruption_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// rounds is how many random inputs each law is tried on.
func rounds() int { return testlong.Seeds(60, 400) }

func methods() []disruption.Method {
	return []disruption.Method{disruption.MethodRepair, disruption.MethodEmptiness, disruption.MethodDrift,
		disruption.MethodConsolidation, disruption.MethodInterruption}
}

// answers writes down everything that a cluster says. Costs that change with time
// are left out, and the order of repairs, which follows them.
func answers(t testing.TB, f *disruption.Cluster) []string {
	t.Helper()
	var out []string
	say := func(what string, v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		out = append(out, what+" "+string(text))
	}
	results := map[string]disruption.Result{"interruption": f.Interruption().Result, "liveness": f.Liveness(), "garbage": f.Garbage(),
		"expiration": f.Expiration(), "scaledown": f.ScaleDown(), "repair": f.Repair(), "emptiness": f.Emptiness(), "drift": f.Drift()}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		if name == "repair" {
			slices.SortFunc(r.Actions, func(a, b disruption.Action) int { return strings.Compare(a.String(), b.String()) })
		}
		say(name, r.Actions)
		say(name+" blocked", r.Blocked)
	}
	say("interruption", f.Interruption().Ignored)
	say("unavailable", f.Interruption().Unavailable)
	for _, m := range methods() {
		candidates, blocked := f.Candidates(m)
		for _, c := range candidates {
			pods := []string{}
			for _, p := range c.Pods {
				pods = append(pods, p.Name)
			}
			out = append(out, fmt.Sprintf("%s %v %v %v %v %v %d", m, c.Target, c.Price, c.DisruptionCost, c.Empty, pods, len(c.Held)))
		}
		say(string(m), blocked)
	}
	drifts := f.Drifts()
	for i := range drifts {
		drifts[i].Next = time.Time{}
	}
	say("drifts", drifts)
	say("settling", f.Settling())
	p := f.Pace(f.Actions().Actions)
	say("go", p.Go)
	say("wait", p.Wait)
	for _, c := range f.PodDeletionCosts() {
		out = append(out, fmt.Sprintf("deletion cost %s %s/%s %d", c.Node, c.Pod.Namespace, c.Pod.Name, c.Cost))
	}
	for _, s := range f.SoftTaints() {
		out = append(out, fmt.Sprintf("soft taint %s %v", s.Node.Name, s.Remove))
	}
	return out
}

// steady returns the answers without deletion costs and soft taints, for which Next does not tell, and
// without what follows LifetimeCost, which changes all the time: which
// nodes static pools give up that have too many, and what is to be done beside.
func steady(t testing.TB, f *disruption.Cluster) []string {
	t.Helper()
	out := slices.DeleteFunc(answers(t, f), func(line string) bool {
		return strings.HasPrefix(line, "deletion cost ") || strings.HasPrefix(line, "soft taint ")
	})
	excess := len(f.ScaleDown().Actions)
	if excess == 0 {
		return out
	}
	out = slices.DeleteFunc(out, func(line string) bool {
		what, _, _ := strings.Cut(line, " ")
		return what == "scaledown" || what == "go" || what == "wait"
	})
	return append(out, fmt.Sprint("too many ", excess))
}

func TestOrderOfTheInputHasNoMeaning(t *testing.T) {
	for seed := range uint64(rounds()) {
		in, opts := newMaker(seed).input()
		f := observe(t, in, opts)
		shuffled := observe(t, newMaker(seed+1).shuffle(in), opts)
		require.Equal(t, answers(t, f), answers(t, shuffled), "seed %d", seed)
		require.Equal(t, f.Next(), shuffled.Next(), "seed %d", seed)
	}
}

func TestInputsAreUnchanged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds() / 4) {
		in, opts := newMaker(seed).input()
		answers(t, observe(t, in, opts))
		again, optsAgain := newMaker(seed).input()
		require.Equal(t, again, in, "seed %d", seed)
		require.Equal(t, optsAgain, opts)
	}
}

// TestNothingChangesBeforeNext moves the clock to the last instant at which
// nothing should have changed, and to one in between.
func TestNothingChangesBeforeNext(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(rounds()) {
		m := newMaker(seed)
		in, opts := m.input()
		opts.Policies = nil // a rate counts from when an action begins, which is now
		f := observe(t, in, opts)
		next := f.Next()
		if next.IsZero() {
			next = noon.Add(1000 * time.Hour)
		}
		require.True(t, next.After(noon), "seed %d", seed)
		want := steady(t, f)
		for _, d := range []time.Duration{next.Sub(noon) - 1, time.Duration(m.Int64N(int64(next.Sub(noon))))} {
			later, err := disruption.Observe(noon.Add(d), in, opts)
			require.NoError(t, err)
			require.Equal(t, want, steady(t, later), "seed %d, %s later", seed, d)
			if d > 0 {
				require.Equal(t, f.Next(), later.Next(), "seed %d", seed)
			}
		}
		then, err := disruption.Observe(next, in, opts)
		require.NoError(t, err)
		if !slices.Equal(want, steady(t, then)) {
			moved++
		}
	}
	require.Greater(t, moved, rounds()/3, "an instant that is named should matter often enough")
}

func TestAnUnrelatedNodeChangesNothing(t *testing.T) {
	for seed := range uint64(rounds()) {
		in, opts := newMaker(seed).input()
		before := observe(t, in, opts)
		in.NodePools = append(in.NodePools, newPool("apart", budgetOf("1")))
		in.InstanceTypes["apart"] = catalog(newType("m.large", 1))
		in.Nodes = append(in.Nodes, newNode("apart", "apart", withPods(newPod("apart", func(p *corev1.Pod) { p.Namespace = "apart" })),
			expiresAfter(v1.NewDuration(time.Hour))))
		after := observe(t, in, opts)
		apart := func(a disruption.Action) bool { return a.Targets[0].Node == "apart" }
		a, b := before.Actions(), after.Actions()
		require.Equal(t, brief(a.Actions), brief(slices.DeleteFunc(b.Actions, apart)), "seed %d", seed)
		require.Equal(t, rules(a.Blocked), rules(slices.DeleteFunc(b.Blocked, func(b disruption.Blocked) bool { return b.Node == "apart" })), "seed %d", seed)
		p, q := before.Pace(a.Actions), after.Pace(after.Actions().Actions)
		require.Equal(t, brief(p.Go), brief(slices.DeleteFunc(q.Go, apart)), "seed %d", seed)
	}
}

func TestEachNodeIsCandidateOrBlocked(t *testing.T) {
	for seed := range uint64(rounds()) {
		in, opts := newMaker(seed).input()
		f := observe(t, in, opts)
		for _, m := range methods() {
			candidates, blocked := f.Candidates(m)
			where := map[string]int{}
			for _, c := range candidates {
				where[c.Node] += 100
			}
			for _, b := range blocked {
				where[b.Node] = max(where[b.Node], where[b.Node]/100*100+1)
				require.NotEmpty(t, b.Detail)
				require.True(t, b.Until.IsZero() || b.Until.After(noon))
				require.False(t, strings.HasSuffix(b.Detail, "."))
			}
			require.Len(t, where, len(in.Nodes), "seed %d", seed)
			for name, n := range where {
				require.Contains(t, []int{1, 100}, n, "seed %d, node %s", seed, name)
			}
		}
	}
}

// TestWhatWaitsStillWaits marks what goes as underway: then nothing that waited
// may go, or Pace would have let too much or too little go.
func TestWhatWaitsStillWaits(t *testing.T) {
	waited := 0
	for seed := range uint64(rounds()) {
		in, opts := newMaker(seed).input()
		for _, p := range in.NodePools {
			p.Spec.Limits = nil // a replacement that is not there yet takes no room
		}
		f := observe(t, in, opts)
		p := f.Pace(f.Actions().Actions)
		in.MarkedForDeletion = maps.Clone(in.MarkedForDeletion)
		for _, a := range p.Go {
			for _, target := range a.Targets {
				if target.Node != "" {
					in.MarkedForDeletion[target.Node] = a.Reason
				}
			}
		}
		var rest []disruption.Action
		for _, w := range p.Wait {
			rest = append(rest, w.Action)
			waited++
		}
		require.Empty(t, observe(t, in, opts).Pace(rest).Go, "seed %d", seed)
	}
	require.Greater(t, waited, rounds()/8)
}

func FuzzWholeInputs(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		m := newMaker(seed)
		in, opts := m.input()
		m.spoil(&in)
		fleet, err := disruption.Observe(noon, in, opts)
		for _, fault := range provisioning.Faults(err) {
			require.NotEmpty(t, fault.Error())
		}
		want := answers(t, fleet)
		again, _ := disruption.Observe(noon, newMaker(seed+1).shuffle(in), opts)
		require.Equal(t, want, answers(t, again))
		for _, a := range fleet.Actions().Actions {
			require.NotEmpty(t, a.Detail, a.String())
			require.Len(t, a.Targets, 1)
		}
	})
}

func FuzzPodAnnotations(f *testing.F) {
	for _, text := range []string{"true", "1h", "-1h", "", "9223372036854775807ns", "1e9h", "NaN", "2147483648", "-2147483649"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, disrupt, cost string) {
		pod := newPod("p", note(v1.DoNotDisruptAnnotationKey, disrupt), note(v1.DisruptionCostAnnotationKey, cost))
		got := disruption.EvictionCost(pod, false)
		require.True(t, got >= -10 && got <= 10)
		in := newInput(newNode("n", "web", withPods(pod)))
		_, blocked := observe(t, in, nil).Candidates(disruption.MethodConsolidation)
		d, err := time.ParseDuration(disrupt)
		held := disrupt == "true" || err == nil && d > time.Hour
		require.Equal(t, held, len(blocked) == 1)
	})
}
