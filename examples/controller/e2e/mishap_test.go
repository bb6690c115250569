package e2e

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/fake/kwok"
)

// Two of the machines are spot and get their notice: their pods run elsewhere before the
// two minutes are over.
func TestInterruption(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	before := s.small()
	noticed, pods := map[string]bool{}, 0
	for i := range before.nodes[:2] {
		n := &before.nodes[i]
		after := n.DeepCopy()
		after.Annotations[kwok.NoticeAnnotation] = "SpotInterrupted"
		require.NoError(t, s.api.Patch(s.ctx, after, client.MergeFrom(n)))
		noticed[n.Name] = true
	}
	for _, p := range before.pods {
		if noticed[p.Spec.NodeName] {
			pods++
		}
	}
	tally, closed := newTally(), closedNodes{}
	l, took := s.watch(2*time.Minute, "the pods are elsewhere", func(l look) error {
		tally.count(l)
		assert.Empty(t, closed.count(l))
		for _, n := range l.nodes {
			if noticed[n.Name] {
				return fmt.Errorf("node %s is still there", n.Name)
			}
		}
		return settled(l, 60)
	})
	evicted := len(s.entries("evicted"))
	s.report("2 of %d nodes were to be interrupted: gone, and their %d pods run elsewhere, %.0f s after the notice, %d evictions; %d nodes at most, %d in the end, from %.4f to %.4f USD/h, a pod pending for %.0f s at most",
		len(before.nodes), pods, took.Seconds(), evicted, tally.most, len(l.nodes), before.cost, l.cost, tally.longest.Seconds())
}

// closedNodes are the pods on each node with the disrupted taint, from the look on after
// the one that saw the taint: a pod may be bound at the moment at which that is written.
type closedNodes map[string]map[types.UID]bool

// count takes in a look, and says which node did not stay closed.
func (c closedNodes) count(l look) (came string) {
	on := map[string]map[types.UID]bool{}
	for _, p := range l.pods {
		if on[p.Spec.NodeName] == nil {
			on[p.Spec.NodeName] = map[types.UID]bool{}
		}
		on[p.Spec.NodeName][p.UID] = true
		if before := c[p.Spec.NodeName]; before != nil && !before[p.UID] {
			came = fmt.Sprintf("pod %s came to node %s, which was closed", p.Name, p.Spec.NodeName)
		}
	}
	for _, n := range l.nodes {
		disrupted := v1.DisruptedNoScheduleTaint()
		tainted := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&disrupted) })
		_, seen := c[n.Name]
		switch {
		case !tainted && seen:
			came = fmt.Sprintf("node %s, which was closed, is open again", n.Name)
		case !tainted:
		case !seen:
			c[n.Name] = nil // this look is too early
		case on[n.Name] == nil:
			c[n.Name] = map[types.UID]bool{}
		default:
			c[n.Name] = on[n.Name]
		}
	}
	return came
}

// The API server goes away for half a minute while machines are being launched: nothing
// is launched twice, and all goes on.
func TestOutage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.apply("testdata/small.yaml")
	s.eventually(time.Minute, "planned", func() error {
		plans := s.entries("planned")
		if made := len(s.entries("created")); len(plans) == 0 || float64(made) < number(plans[0], "create") {
			return fmt.Errorf("%d NodeClaims of %d plans", made, len(plans))
		}
		return nil
	})
	require.NoError(t, s.plane.Outage(s.ctx, 30*time.Second))
	l, took := s.watch(4*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })
	planned := s.entries("planned")[0]
	s.report("API server away for 30 s while nodes were launched: %.0f planned at %.4f USD/h, %d run at %.4f, %.0f s after it was back; %d plans",
		number(planned, "create"), number(planned, "cost"), len(l.nodes), l.cost, took.Seconds(), len(s.entries("planned")))
	assert.EqualValues(t, number(planned, "create"), len(l.nodes), l.waiting())
	assert.LessOrEqual(t, l.cost, 1.03*number(planned, "cost"), l.waiting())
}

// Of two replicas one works. It is killed in the middle, and the other goes on; that is
// stopped, and a third goes on at once.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-batch-idle=2s", "-leader-elect")
	s.eventually(30*time.Second, "the leader has begun", func() error { return s.leads() })
	second := s.replica()
	t.Cleanup(func() { _ = second.Process.Kill(); _ = second.Wait() })
	s.apply("testdata/small.yaml")
	s.eventually(time.Minute, "planned", func() error {
		if len(s.entries("created")) == 0 {
			return errors.New("no NodeClaim yet")
		}
		return nil
	})
	s.stop(syscall.SIGKILL)
	l, took := s.watch(3*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })
	planned := s.entries("planned")[0]
	assert.LessOrEqual(t, l.cost, 1.03*number(planned, "cost"))
	third := s.replica()
	t.Cleanup(func() { _ = third.Process.Kill(); _ = third.Wait() })
	time.Sleep(3 * time.Second)
	_ = second.Process.Signal(syscall.SIGTERM)
	_ = second.Wait()
	s.deployments(func(have int) int { return have * 2 })
	more, next := s.watch(3*time.Minute, "120 pods run", func(l look) error { return settled(l, 120) })
	s.report("leader killed while nodes were launched: %.0f planned at %.4f USD/h, %d run at %.4f, %.0f s later; stopped, the next had 120 pods running on %d nodes after %.0f s",
		number(planned, "create"), number(planned, "cost"), len(l.nodes), l.cost, took.Seconds(), len(more.nodes), next.Seconds())
}

// leads says whether some replica has the Lease.
func (s *scene) leads() error {
	var lease coordinationv1.Lease
	err := s.api.Get(s.ctx, client.ObjectKey{Namespace: "dovetail", Name: "dovetail-controller"}, &lease)
	if err == nil && (lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "") {
		err = errors.New("nobody leads")
	}
	return err
}
