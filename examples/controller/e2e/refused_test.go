package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// told are the notes of events about an object.
func (s *scene) told(name, reason string) (notes []string) {
	s.Helper()
	var all eventsv1.EventList
	if err := s.api.List(s.ctx, &all, client.InNamespace("default")); err != nil {
		s.Fatal(err)
	}
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
	if err != nil || len(l.claims) > 0 {
		t.Errorf("%d NodeClaims, %v", len(l.claims), err)
	}
	s.report("3 pods that fit nowhere are told why within %.0f s, and nothing is launched", took.Seconds())
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
	if err != nil {
		t.Fatal(err)
	}
	plain.stop(syscall.SIGTERM)
	families := slices.Sorted(maps.Keys(cheapest))
	s := newScene(t, "-sold-out", family+" in ("+strings.Join(families, ", ")+")")
	s.apply("testdata/small.yaml")
	l, took := s.watch(4*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })
	for _, n := range l.nodes {
		if cheapest[n.Labels[family]] {
			t.Errorf("node %s is of %s, which is sold out", n.Name, n.Labels[family])
		}
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
	if refused == 0 {
		t.Error("no launch was refused")
	}
}
