package e2e

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// tally is what a scenario keeps count of while it is looked at.
type tally struct {
	pendingSince map[types.UID]time.Time
	longest      time.Duration      // that a pod was pending
	most         int                // nodes
	seen         map[types.UID]bool // pods that ran
	ended        map[types.UID]bool // of those
	breaches     map[string]bool
	changed      time.Time // when nodes last came or went
	was          string
}

func newTally() *tally {
	return &tally{pendingSince: map[types.UID]time.Time{}, seen: map[types.UID]bool{}, ended: map[types.UID]bool{}, breaches: map[string]bool{}, changed: time.Now()}
}

// count takes in a look.
func (t *tally) count(l look) {
	now := time.Now()
	there := map[types.UID]bool{}
	for _, p := range l.pods {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			there[p.UID], t.seen[p.UID] = true, true
		}
	}
	for uid := range t.seen {
		if !there[uid] {
			t.ended[uid] = true
		}
	}
	pending := map[types.UID]time.Time{}
	for _, p := range l.pods {
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		pending[p.UID] = now
		if since, ok := t.pendingSince[p.UID]; ok {
			pending[p.UID] = since
			t.longest = max(t.longest, now.Sub(since))
		}
	}
	t.pendingSince = pending
	t.most = max(t.most, len(l.nodes))
	// A workload that was scaled down below what its budget wants breaches nothing.
	for _, b := range l.pdbs {
		if want := min(b.Status.DesiredHealthy, b.Status.ExpectedPods); b.Status.CurrentHealthy < want && b.Status.ObservedGeneration == b.Generation {
			t.breaches[b.Name] = true
		}
	}
	names := ""
	for _, n := range l.nodes {
		names += n.Name + fmt.Sprint(closed(n)) + " "
	}
	if names != t.was || l.pending > 0 || going(l.nodes) {
		t.was, t.changed = names, now
	}
}

// still is for how long no node has come or gone.
func (t *tally) still() time.Duration { return time.Since(t.changed) }

func going(nodes []corev1.Node) bool {
	for _, n := range nodes {
		if n.DeletionTimestamp != nil || closed(n) {
			return true
		}
	}
	return false
}
