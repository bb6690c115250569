package solve

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/repair"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Solution is where all pods of a problem go, or why they do not. Package provisioning
// makes its Plan of it, and says there what the fields of the same names mean.
type Solution struct {
	Create   []model.NewNode
	Bind     []model.Binding
	Unplaced []model.Unplaced
	Spare    []model.Unplaced // pods that stand for room to keep, and have no place
	Order    []*corev1.Pod
	GivenUp  []model.GivenUpPreference

	Cost, LowerBound, PackingBound, ObjectiveBound float64

	Stats   model.Stats
	Fees    float64          // Options.NodeFee of all new nodes
	Offered map[string]Offer // by pool: what it had to choose from

	floor float64     // LowerBound, if it matters to preferences: also with NoBounds
	did   repair.Done // by passes

	of      *assembler // that made it, until it is finished
	bounded bool       // its bounds are worked out
}

// Most solutions are made to be compared with others, by what bounds and reasons have no part
// in: these are worked out of the one that is taken.

// bound works out the bounds.
func (s *Solution) bound() {
	if !s.bounded {
		s.of.setBounds(s)
		s.bounded = true
	}
}

// finish works out what a solution lacks that assemble has made, and returns it.
func (s *Solution) finish() *Solution {
	if s.of != nil {
		s.bound()
		s.of.setReasons(s)
		s.of.setGivenUp(s)
		s.of = nil
	}
	return s
}

// detail is how good a solution is that a strategy leads to, for people.
func (s *Solution) detail(strategy string) string {
	return fmt.Sprintf("%d new nodes at %.4f USD/h, %d pods without a place, after %s",
		len(s.Create), s.Cost, len(s.Unplaced), strings.ReplaceAll(strategy, "-", " "))
}

// Offer is what a pool had to choose from.
type Offer struct {
	Template  requirements.Set
	Types     []*cloudprovider.InstanceType
	Limits    []corev1.ResourceName
	Options   []catalog.Option
	Resources []corev1.ResourceName // of the capacities of options
}

// placedIn counts the pods that a plan places, by class.
func placedIn(p *compile.Problem, plan *Solution) []int {
	unplaced := map[*corev1.Pod]bool{}
	for i := range plan.Unplaced {
		unplaced[plan.Unplaced[i].Pod] = true
	}
	out := make([]int, len(p.Classes))
	for c := range p.Classes {
		for _, podID := range p.Classes[c].Pods {
			if !unplaced[p.Pods[podID]] {
				out[c]++
			}
		}
	}
	return out
}
