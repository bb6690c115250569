package solve

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Solution has the place of every pod of a problem, or the reason why the pod has none. Package
// provisioning converts it to a Plan, whose comments describe the fields of the same names.
type Solution struct {
	Create   []model.NewNode
	Bind     []model.Binding
	Unplaced []model.Unplaced
	Spare    []model.Unplaced // headroom pods without a place
	Order    []*corev1.Pod
	GivenUp  []model.GivenUpPreference

	Cost, LowerBound, PackingBound, ObjectiveBound float64

	Stats   model.Stats
	Fees    float64          // Options.NodeFee of all new nodes, in USD per hour
	Offered map[string]Offer // by pool: the options that it could choose from

	floor  float64 // LowerBound where preferences need it, also with NoBounds
	closed bool    // see Closed of repair.State

	of      *assembler // that made the solution; nil once it is finished
	bounded bool       // the bounds are set
}

// Most solutions are only compared with others, which needs neither bounds nor reasons. So these
// are computed only for the solution that is returned.

// bound sets the bounds if they are not set.
func (s *Solution) bound() {
	if !s.bounded {
		s.of.setBounds(s)
		s.bounded = true
	}
}

// finish sets bounds, reasons and preferences given up, and returns the solution.
func (s *Solution) finish() *Solution {
	if s.of != nil {
		s.bound()
		s.of.setReasons(s)
		s.of.setGivenUp(s)
		s.of = nil
	}
	return s
}

// detail describes the solution of a strategy in one line, for progress reports.
func (s *Solution) detail(strategy string) string {
	return fmt.Sprintf("%d new nodes at %.4f USD/h, %d pods without a place, after %s",
		len(s.Create), s.Cost, len(s.Unplaced), strings.ReplaceAll(strategy, "-", " "))
}

// Offer is the options that a pool had for a node.
type Offer struct {
	Template  requirements.Set
	Types     []*cloudprovider.InstanceType
	Limits    []corev1.ResourceName
	Options   []catalog.Option
	Resources []corev1.ResourceName // of the capacities of Options
}

// placedIn returns, by class, the number of pods that a plan places.
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
