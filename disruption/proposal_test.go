package disruption_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestProposalTellsWhatNoticesSay: which offerings the cloud is taking back, and
// which notices ask for nothing.
func TestProposalTellsWhatNoticesSay(t *testing.T) {
	_, _, large, all := sizes()
	in := fleetOf(all, machine("n1", "default", large, load("a", 7000)))
	in.Interruptions = []cloudprovider.Interruption{
		{InstanceID: "cloud://n1", Kind: cloudprovider.InterruptionSpot, At: noon},
		{InstanceID: "cloud://gone", Kind: cloudprovider.InterruptionStopping, At: noon},
	}
	in.Nodes[0].Node.Labels["karpenter.sh/capacity-type"] = "spot"
	p := propose(t, in, nil)
	require.Equal(t, []string{"Delete n1 SpotInterrupted"}, brief(p.Actions))
	require.Equal(t, []cloudprovider.OfferingKey{{InstanceType: large.Name, Zone: "a", CapacityType: "spot"}}, p.Unavailable)
	require.Len(t, p.Ignored, 1)
	require.Equal(t, "Stopping of machine cloud://gone: no node has this machine", p.Ignored[0].String())
}

// A node that a decision is dealing with is on its way out, and not among the cost:
// that it is interrupted as well saves nothing.
func TestInterruptionOfANodeThatGoesAnyhowSavesNothing(t *testing.T) {
	_, _, large, all := sizes()
	in := fleetOf(all, machine("n1", "default", large, load("a", 7000)), machine("n2", "default", large, load("b", 7000)))
	in.MarkedForDeletion = map[string]disruption.Reason{"n1": disruption.Underutilized}
	in.Interruptions = []cloudprovider.Interruption{{InstanceID: "cloud://n1", Kind: cloudprovider.InterruptionStopping, At: noon}}
	p := propose(t, in, nil)
	require.Equal(t, []string{"Delete n1 Stopping"}, brief(p.Actions))
	require.Equal(t, p.CostBefore, p.CostAfter)
	require.Zero(t, p.Savings())
}

// TestOneActionRemovesNoMoreThanItMay: however its nodes were found.
func TestOneActionRemovesNoMoreThanItMay(t *testing.T) {
	actions := 0
	for seed := range uint64(testlong.Seeds(30, 60)) {
		in := newMaker(9100 + seed).oracle().input()
		for _, a := range propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1, MaxNodes: 1}}).Actions {
			require.Len(t, a.Targets, 1, "seed %d: %s", seed, a)
			actions++
		}
	}
	require.Greater(t, actions, 10)
}

// Pods that are ending, or have ended, are on their nodes still, and may ask for
// company that no other pod asks for.
func TestPodsThatEndHoldNobody(t *testing.T) {
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	for name, edit := range map[string]func(*corev1.Pod){"ending": terminating, "ended": ended} {
		t.Run(name, func(t *testing.T) {
			in := bondedZones(load("web", 1000), load("other", 1000), true)
			in.Nodes[0].Pods = append(in.Nodes[0].Pods, load("last", 100, ofApp("last"), bondedTo("last-db", false), edit),
				load("loner", 100, ofApp("loner"), bondedTo("loner", true), edit))
			p := propose(t, in, anySaving())
			require.NotEmpty(t, p.Actions)
		})
	}
}

// TestSpareRoomIsKeptForAll: room that is kept for a buffer moves with the node that
// it was on, and is not given to the pods of the next node that goes.
func TestSpareRoomIsKeptForAll(t *testing.T) {
	_, _, large, _ := sizes()
	in := fleetOf([]*cloudprovider.InstanceType{large})
	for i := range 12 {
		in.Nodes = append(in.Nodes, machine(fmt.Sprintf("n%02d", i), "default", large, load(fmt.Sprintf("p%02d", i), 2000)))
	}
	in.Buffers = bufferOf(2, "3")
	p := propose(t, in, anySaving())
	require.NotEmpty(t, p.Actions)
	after := carriedOut(t, noon.Add(time.Hour), in, p.Actions, nil)
	free := 0
	for _, n := range after.Nodes {
		left := n.Node.Status.Allocatable.Cpu().MilliValue()
		for _, pod := range n.Pods {
			left -= pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
		free += int(left / 3000)
	}
	require.GreaterOrEqual(t, free, 2, "on %d nodes", len(after.Nodes))
}

// bufferOf returns a buffer of the given number of pods that ask for so many CPUs each.
func bufferOf(replicas int, cpu string) []provisioning.Buffer {
	b := provisioning.Buffer{Namespace: "shop", Name: "spare", Replicas: replicas}
	b.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	return []provisioning.Buffer{b}
}

// TestPrinted: what a user prints says what it is.
func TestPrinted(t *testing.T) {
	a := disruption.Action{Reason: disruption.Empty, Operation: disruption.Delete, Targets: []disruption.Target{{Node: "n1"}}, Detail: "it is empty"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	for want, value := range map[string]fmt.Stringer{
		`Delete n1 (Empty) waits for NodePool "web": its budget is spent`:                             disruption.Waiting{Action: a, For: `NodePool "web"`, Why: "its budget is spent"},
		`Delete n1 (Empty) waits for NodePool "web": its budget is spent, until 2026-01-01T12:00:00Z`: disruption.Waiting{Action: a, For: `NodePool "web"`, Why: "its budget is spent", Until: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)},
		`Pod "shop/web" from n1 to n2`:                  disruption.Move{Pod: pod, From: "n1", Node: "n2", Replacement: -1},
		`Pod "shop/web" from n1 to Replacements[1]`:     disruption.Move{Pod: pod, From: "n1", Replacement: 1},
		`n1: not drifted`:                               disruption.DriftStatus{Target: a.Targets[0]},
		`n1: NodePoolDrifted: the template has changed`: disruption.DriftStatus{Target: a.Targets[0], Reason: disruption.NodePoolDrifted, Detail: "the template has changed"},
	} {
		require.Equal(t, want, value.String())
	}
	require.Equal(t, "a pod from n1 to n2", disruption.Move{From: "n1", Node: "n2"}.String())
}

// TestReasonsByTheEstimateHold: of a node that is left alone because it cannot save
// enough, the engine says the same, asked about it alone; but for a few, as places are
// guessed one after the other.
func TestReasonsByTheEstimateHold(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	seeds := uint64(testlong.Seeds(60, 160))
	if testlong.UnderRace {
		seeds = 40
	}
	for seed := range seeds {
		in, opts := newMaker(4400 + seed).mixed(20)
		opts.Consolidation.MinimumScore = cmp.Or(opts.Consolidation.MinimumScore, 0.5)
		reasonsHold(t, in, opts, kinds)
	}
	require.Greater(t, kinds["asked"], 3, "%v", kinds)
	require.LessOrEqual(t, 20*kinds["wrong"], kinds["asked"], "%v", kinds)
	require.NotZero(t, kinds["NotSearched"], "%v", kinds)
}

func reasonsHold(t *testing.T, in disruption.Input, opts *disruption.Options, kinds map[string]int) {
	p := propose(t, in, opts)
	for _, b := range p.Blocked {
		kinds[disruption.RuleOf(b)]++
		switch {
		case disruption.RuleOf(b) == "NotSearched":
			require.Regexp(t, "by itself it may save up to|topology spread over .* ties its pods to those of others", b.Detail)
			continue
		case b.Method != disruption.MethodConsolidation || strings.Contains(b.Detail, "others of this proposal"):
			continue
		case disruption.RuleOf(b) != "SavingTooSmall" && disruption.RuleOf(b) != "NotCheaper":
			continue
		}
		alone := in
		alone.Nodes = slices.Clone(in.Nodes)
		for i, n := range in.Nodes {
			if n.Name() != b.Node {
				node := n.Node.DeepCopy()
				node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
				alone.Nodes[i].Node = node
			}
		}
		if strings.Contains(b.Detail, " at most, and ") || strings.Contains(b.Detail, " find no room elsewhere") || strings.Contains(b.Detail, "pod finds no room elsewhere") {
			for _, a := range propose(t, alone, opts).Actions {
				if a.Reason == disruption.Underutilized && a.Targets[0].Node == b.Node {
					kinds["wrong"]++
				}
			}
			kinds["asked"]++
		}
	}
}
