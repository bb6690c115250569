package amiselect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Node is a node that a change of terms may replace.
type Node struct {
	// Name is the name, unique among the nodes. Required.
	Name string
	// NodePool is the pool, whose budgets hold.
	NodePool string
	// ImageID is the image that it booted. A node for which it is empty is not
	// judged.
	ImageID string
	// InstanceType is its type. Without it neither the image that replaces its
	// own is known, nor whether its own is meant for the type.
	InstanceType *cloudprovider.InstanceType
	// Created is when it was created: of nodes that drift at the same time the
	// oldest go first.
	Created time.Time
}

// DriftedNode is a node that a change of terms replaces.
type DriftedNode struct {
	// Node is the node.
	Node
	// Reason says why it has drifted.
	Reason Reason
	// To is the image that a new node of the same type boots. Its ID is empty
	// if the type is not known, or nothing selected boots it: then a new node
	// must be of another type.
	To Image
	// Already says that the node had drifted under the old terms too, from the
	// image of this or of another one.
	Already bool
}

// Difference is what a change of terms means to nodes.
type Difference struct {
	// Drifted are the nodes to replace: by NodePool, then those that had drifted
	// Already, then the oldest node, then by name.
	Drifted []DriftedNode
	// Settled are the names of nodes that had drifted under the old terms and
	// no longer do, sorted.
	Settled []string
	// Kept are the names of nodes that drift neither under the old nor the new
	// terms, sorted.
	Kept []string
	// Unjudged are the names of nodes whose image is not known, sorted.
	Unjudged []string
}

// Diff says what happens if terms that give the selection next take the place of
// those that give old: which nodes drift, and to which image. old may be the empty
// Selection; then no node had drifted before. When the nodes would go is told by
// Preview of package disruption/rollout.
//
// The error joins all faults: an empty next, a node without name or named twice. Lists
// are the caller's. It takes time in proportion to the nodes times the images selected.
func Diff(old, next Selection, nodes []Node) (Difference, error) {
	if err := checkDiff(next, nodes); err != nil {
		return Difference{}, err
	}
	var out Difference
	for _, n := range nodes {
		reason, drifted := next.DriftedOn(n.ImageID, n.InstanceType)
		_, before := old.DriftedOn(n.ImageID, n.InstanceType)
		switch {
		case reason.Code == CodeNotJudged:
			out.Unjudged = append(out.Unjudged, n.Name)
		case !drifted && before:
			out.Settled = append(out.Settled, n.Name)
		case !drifted:
			out.Kept = append(out.Kept, n.Name)
		default:
			to, _ := next.For(n.InstanceType)
			out.Drifted = append(out.Drifted, DriftedNode{Node: n, Reason: reason, To: to, Already: before})
		}
	}
	slices.SortFunc(out.Drifted, func(a, b DriftedNode) int {
		if c := cmp.Compare(a.NodePool, b.NodePool); c != 0 || a.Already == b.Already {
			return cmp.Or(c, a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
		}
		if a.Already {
			return -1
		}
		return 1
	})
	slices.Sort(out.Settled)
	slices.Sort(out.Kept)
	slices.Sort(out.Unjudged)
	return out, nil
}

func checkDiff(next Selection, nodes []Node) error {
	var errs []error
	if next.Empty() {
		errs = append(errs, errors.New("diff: the new selection is empty; an empty selection replaces nothing"))
	}
	seen := map[string]bool{}
	for i, n := range nodes {
		switch {
		case n.Name == "":
			errs = append(errs, fmt.Errorf("nodes[%d]: has no name", i))
		case seen[n.Name]:
			errs = append(errs, fmt.Errorf("nodes[%d]: %q is listed twice; remove one", i, shorten(n.Name)))
		}
		seen[n.Name] = true
	}
	return errors.Join(errs...)
}
