package disruption

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// WaveEdit is what an edit of a NodePool does to its nodes.
type WaveEdit struct {
	// Nodes are those that the edited pool would replace, in the order in which
	// they go. Those that had drifted before the edit are among them.
	Nodes []WaveNode
	// Already are the names of those of Nodes that had drifted before, sorted.
	Already []string
	// Settled are the names of those that had drifted and no longer do, sorted.
	Settled []string
	// Kept are the names of those that drift neither before nor after, sorted.
	Kept []string
	// Unjudged are the names of those whose hash is missing or of another
	// version, sorted: an edit of the template may replace them or not.
	Unjudged []string
}

// WaveEditInput is an edit of a NodePool, and its nodes.
type WaveEditInput struct {
	// Before and After are the pool before and after the edit. Required.
	Before, After *v1.NodePool
	// Claims are NodeClaims, in any order. Those of other pools and those being
	// deleted are passed over.
	Claims []*v1.NodeClaim
	// Vocabulary is that of the provider, nil for the default.
	Vocabulary *requirements.Vocabulary
}

// PreviewEdit says which nodes of a pool an edit of the pool replaces if it is
// made now. Nodes have the name of the Node, or of the NodeClaim as long as
// there is none.
//
// A node drifts if the hash of the template in its annotations is not that of
// the pool, or if its labels do not satisfy the requirements; a label that is
// missing satisfies only what admits its absence. Drift of the image, of what
// the provider knows, and of the catalog, does not depend on the pool and is
// left out. A node that had drifted before the edit goes by the time of its
// condition Drifted, or first of all if it has none yet; for others that time is
// now, so that they come after those, the oldest first.
//
// The error joins all faults: a nil pool or claim, a claim listed twice, pools
// of different names, requirements that cannot be read.
func PreviewEdit(now time.Time, in WaveEditInput) (WaveEdit, error) {
	old, next, v := in.Before, in.After, in.Vocabulary
	if old == nil || next == nil {
		return WaveEdit{}, errors.New("preview of an edit: a NodePool is nil; give the pool before and after the edit")
	}
	var errs []error
	if old.Name != next.Name {
		errs = append(errs, fmt.Errorf("preview of an edit: NodePool %q and %q have different names; give the same pool before and after the edit", old.Name, next.Name))
	}
	before, err := newWaveJudge(old, v)
	errs = append(errs, err)
	after, err := newWaveJudge(next, v)
	errs = append(errs, err)
	seen := map[string]bool{}
	for i, c := range in.Claims {
		switch {
		case c == nil:
			errs = append(errs, fmt.Errorf("claims[%d]: is nil; leave it out", i))
		case seen[c.Name]:
			errs = append(errs, fmt.Errorf("claims[%d]: %q is listed twice; remove one", i, c.Name))
		default:
			seen[c.Name] = true
		}
	}
	if err := errors.Join(errs...); err != nil {
		return WaveEdit{}, err
	}
	var out WaveEdit
	for _, c := range in.Claims {
		if c.Labels[v1.NodePoolLabelKey] == next.Name && c.DeletionTimestamp == nil {
			out.add(now, c, before.reason(c, v), after.reason(c, v))
		}
	}
	slices.SortFunc(out.Nodes, compareWaveNodes)
	for _, list := range [][]string{out.Already, out.Settled, out.Kept, out.Unjudged} {
		slices.Sort(list)
	}
	return out, nil
}

// add sorts a claim in.
func (e *WaveEdit) add(now time.Time, c *v1.NodeClaim, before, after string) {
	name := cmp.Or(c.Status.NodeName, c.Name)
	switch {
	case after != "":
		n := WaveNode{Name: name, NodePool: c.Labels[v1.NodePoolLabelKey], Drifted: now, Created: c.CreationTimestamp.Time, Reason: after}
		if before != "" {
			n.Drifted = time.Time{}
			e.Already = append(e.Already, name)
			for _, cond := range c.Status.Conditions {
				if cond.Type == v1.ConditionTypeDrifted && cond.Status == metav1.ConditionTrue {
					n.Drifted = cond.LastTransitionTime.Time
				}
			}
		}
		e.Nodes = append(e.Nodes, n)
	case !waveHashed(c):
		e.Unjudged = append(e.Unjudged, name)
	case before != "":
		e.Settled = append(e.Settled, name)
	default:
		e.Kept = append(e.Kept, name)
	}
}

// waveHashed is whether a claim has a hash that can be compared.
func waveHashed(c *v1.NodeClaim) bool {
	return c.Annotations[v1.NodePoolHashAnnotationKey] != "" &&
		c.Annotations[v1.NodePoolHashVersionAnnotationKey] == v1.NodePoolHashVersion
}

// waveJudge is what a pool asks of its nodes.
type waveJudge struct {
	hash string
	reqs requirements.Set
}

func newWaveJudge(pool *v1.NodePool, v *requirements.Vocabulary) (waveJudge, error) {
	reqs, err := requirements.FromRequirements(pool.Spec.Template.Spec.Requirements, v)
	if err != nil {
		return waveJudge{}, fmt.Errorf("NodePool %q: %w", pool.Name, err)
	}
	return waveJudge{pool.Hash(), reqs}, nil
}

// reason is why a node has drifted, empty if it has not.
func (j *waveJudge) reason(c *v1.NodeClaim, v *requirements.Vocabulary) string {
	switch {
	case waveHashed(c) && c.Annotations[v1.NodePoolHashAnnotationKey] != j.hash:
		return NodePoolDrifted
	case !requirements.FromLabels(c.Labels, v).Compatible(j.reqs, nil):
		return RequirementsDrifted
	}
	return ""
}
