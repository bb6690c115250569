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
	// NodePool is the pool, whose disruption budgets apply.
	NodePool string
	// ImageID is the image that it booted. A node without it is not compared.
	ImageID string
	// InstanceType is its type. Without it neither the replacing image is known, nor whether the
	// present one is for the type.
	InstanceType *cloudprovider.InstanceType
	// Created is when it was created. The oldest nodes are replaced first.
	Created time.Time
}

// DriftedNode is a node that a change of terms replaces.
type DriftedNode struct {
	Node
	// Explanation says why it has drifted.
	Explanation Explanation
	// To is the image that a new node of the same type boots. Its ID is empty if the type is not
	// known, or if no selected image boots it: then a new node must have another type.
	To Image
	// Already says that the node had drifted under the old terms too.
	Already bool
}

// Difference is the effect of a change of terms on nodes.
type Difference struct {
	// Drifted are the nodes to replace: by NodePool, then those that had drifted
	// Already, then the oldest node, then by name.
	Drifted []DriftedNode
	// NoLongerDrifted are the names of nodes that had drifted under the old terms and do not under
	// the new ones, sorted.
	NoLongerDrifted []string
	// Kept are the names of nodes that drift neither under the old nor the new
	// terms, sorted.
	Kept []string
	// Unjudged are the names of nodes whose image is not known, sorted.
	Unjudged []string
}

// Diff returns the effect of replacing terms with the selection old by terms with the selection
// next: which nodes drift, and to which image. old may be the empty Selection; then no node had
// drifted before. Preview of package disruption/rollout says when the nodes would be replaced.
//
// The error joins all faults: an empty next, a node without name or named twice. The caller owns
// the lists. The time is proportional to the nodes times the selected images.
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
			out.NoLongerDrifted = append(out.NoLongerDrifted, n.Name)
		case !drifted:
			out.Kept = append(out.Kept, n.Name)
		default:
			to, _ := next.For(n.InstanceType)
			out.Drifted = append(out.Drifted, DriftedNode{Node: n, Explanation: reason, To: to, Already: before})
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
	slices.Sort(out.NoLongerDrifted)
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
