package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nodepool"
)

// told returns the notes of events about an object.
func (s *scene) told(name, reason string) (notes []string) {
	s.Helper()
	var all eventsv1.EventList
	s.must(s.api.List(s.ctx, &all, client.InNamespace("default")))
	for _, e := range all.Items {
		if e.Regarding.Name == name && e.Reason == reason && e.ReportingController == "dovetail" {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// Pods that fit nowhere are told why, in words that their owners can do something with.
func TestUnplaceable(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.apply("testdata/impossible.yaml")
	started := time.Now()
	for name, want := range map[string]string{"foreign": "kubernetes.io/arch", "huge": "cpu=500", "novolume": "missing"} {
		s.eventually(time.Minute, "told", func() error {
			if notes := strings.Join(s.told(name, "FailedScheduling"), "\n"); !strings.Contains(notes, want) || strings.Contains(notes, "is not in the input") {
				return fmt.Errorf("pod %s was told %q", name, notes)
			}
			return nil
		})
		t.Logf("%s: %s", name, s.told(name, "FailedScheduling"))
	}
	took := time.Since(started)
	l, err := s.look()
	assert.NoError(t, err)
	assert.Empty(t, l.claims)
	s.report("3 pods that fit nowhere are told why within %.0f s, and nothing is launched", took.Seconds())
}

// Faults of others: a NodePool that does not validate, one with a class of another cloud,
// and NodeClaims that a policy of the API server refuses. Each is told where its owner
// looks, and what does not need them goes on.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.apply("testdata/faults.yaml")
	for name, want := range map[string]struct{ condition, reason, text string }{
		"invalid": {v1.ConditionTypeValidationSucceeded, v1.ReasonNodePoolValidationFailed, "borrowed"},
		"foreign": {v1.ConditionTypeNodeClassReady, nodepool.ReasonNodeClassNotReady, "AKSNodeClass"},
	} {
		s.eventually(time.Minute, "told", func() error {
			var pool v1.NodePool
			if err := s.api.Get(s.ctx, client.ObjectKey{Name: name}, &pool); err != nil {
				return err
			}
			c := meta.FindStatusCondition(pool.Status.Conditions, want.condition)
			if c == nil || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, want.text) || meta.IsStatusConditionTrue(pool.Status.Conditions, v1.ConditionTypeReady) {
				return fmt.Errorf("NodePool %s has %v", name, pool.Status.Conditions)
			}
			if notes := strings.Join(s.told(name, want.reason), "\n"); !strings.Contains(notes, want.text) {
				return fmt.Errorf("NodePool %s was told %q", name, notes)
			}
			return nil
		})
	}
	s.apply("testdata/guarded.yaml")
	s.eventually(time.Minute, "told", func() error {
		if notes := strings.Join(s.told("guarded", "FailedScheduling"), "\n"); !strings.Contains(notes, "nobody launches for the guarded team") {
			return fmt.Errorf("the pod was told %q", notes)
		}
		return nil
	})
	l, took := s.watch(2*time.Minute, "the other pod runs", func(l look) error {
		if l.running != 1 {
			return errors.New(l.String())
		}
		return nil
	})
	s.report("a NodePool that does not validate, one with a foreign class and one whose NodeClaims a policy refuses: each is told by condition or event; %d node runs the pod of another after %.0f s, in %d plans",
		len(l.nodes), took.Seconds(), len(s.entries("planned")))
}

// What is cheapest is sold out: the pods are planned for anew, and run on the rest.
func TestSoldOut(t *testing.T) {
	t.Parallel()
	const family = "karpenter.k8s.aws/instance-family"
	plain := newScene(t)
	cheapest := map[string]bool{}
	for _, n := range plain.small().nodes {
		cheapest[n.Labels[family]] = true
	}
	first, err := plain.look()
	require.NoError(t, err)
	plain.stop(syscall.SIGTERM)
	families := slices.Sorted(maps.Keys(cheapest))
	s := newScene(t, "-sold-out", family+" in ("+strings.Join(families, ", ")+")")
	s.apply("testdata/small.yaml")
	l, took := s.watch(4*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })
	for _, n := range l.nodes {
		assert.False(t, cheapest[n.Labels[family]], "node %s is of %s, which is sold out", n.Name, n.Labels[family])
	}
	s.report("families %s sold out: %d launches refused, %d nodes at %.4f USD/h in place of %d at %.4f, after %.0f s", strings.Join(families, ", "),
		len(s.entries("not launched")), len(l.nodes), l.cost, len(first.nodes), first.cost, took.Seconds())
}

// A whole zone is sold out: NodeClaims for it are given up, and their pods run elsewhere.
func TestZoneSoldOut(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-sold-out", "topology.kubernetes.io/zone = us-east-1a")
	s.apply("testdata/small.yaml")
	l, took := s.watch(5*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })
	refused := len(s.entries("not launched"))
	s.report("zone us-east-1a sold out: %d launches refused, %d nodes at %.4f USD/h after %.0f s, in %d plans", refused, len(l.nodes), l.cost, took.Seconds(), len(s.entries("planned")))
	assert.NotZero(t, refused, "no launch was refused")
}
