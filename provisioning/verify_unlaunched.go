package provisioning

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// unlaunched says whether all there is of a node is a NodeClaim that no instance
// stands behind yet.
func (*referee) unlaunched(in Node) bool {
	return in.Node == nil && in.NodeClaim != nil &&
		in.NodeClaim.Status.ProviderID == "" && len(in.NodeClaim.Status.Allocatable) == 0
}

// settledLabels are those that the requirements of a claim leave no choice of.
// Where they leave one, the label counts as absent until there is a Node.
func (r *referee) settledLabels(claim *v1.NodeClaim) map[string]string {
	asked, err := requirements.FromRequirements(claim.Spec.Requirements, r.vocabulary)
	if err != nil {
		return nil // expect says so
	}
	settled := map[string]string{}
	for want := range asked.All() {
		if values, finite := want.Values(); finite && len(values) == 1 && !want.AllowsAbsent() {
			settled[want.Key()] = values[0]
		}
	}
	return settled
}

// expect sets what an unlaunched claim can be counted on for. It may become any
// instance type of its pool that its requirements admit, so pods get the room
// that all of those have, and limits count the size that any of them has.
func (r *referee) expect(n *refereeNode, claim *v1.NodeClaim) {
	asked, err := requirements.FromNodeClaim(claim, r.vocabulary)
	if err != nil {
		n.allocatableErr, n.capacityErr = err, err
		return
	}
	admitted := 0
	for _, t := range r.in.InstanceTypes[n.pool] {
		if t == nil || !r.mayBecome(asked, t) {
			continue
		}
		room, err := r.roomOf(t)
		if err != nil {
			n.allocatableErr = errors.Join(n.allocatableErr, fmt.Errorf("instance type %s: %w", t.Name, err))
		}
		if admitted++; admitted == 1 {
			n.allocatable, n.capacity = room, t.Capacity
			continue
		}
		n.allocatable, n.capacity = n.allocatable.Min(room), n.capacity.Max(t.Capacity)
	}
	switch debts := n.allocatable.Negative(); {
	case n.allocatableErr != nil:
	case n.pool == "":
		n.shut = "its NodeClaim is not launched, and names no NodePool"
	case admitted == 0:
		n.shut = fmt.Sprintf("its NodeClaim is not launched, and its requirements admit no instance type of NodePool %s", n.pool)
	case len(debts) > 0:
		n.shut = fmt.Sprintf("its NodeClaim is not launched, and an instance type it may become has less %s than it holds back", debts[0])
	}
}

// mayBecome says whether a claim admits an instance type: for each label that
// both speak of, some value or its absence suits both.
func (*referee) mayBecome(asked requirements.Set, t *cloudprovider.InstanceType) bool {
	if asked.Impossible() {
		return false
	}
	have := t.Requirements.With(requirements.In(corev1.LabelInstanceTypeStable, t.Name))
	for want := range asked.All() {
		if label, named := have.Get(want.Key()); named && !label.Overlaps(want) {
			return false
		}
	}
	return true
}

// roomOf is what an instance type can allocate whatever it is bought as.
func (r *referee) roomOf(t *cloudprovider.InstanceType) (resources.List, error) {
	overhead, err := t.Overhead.Total()
	if err != nil {
		return resources.List{}, err
	}
	return r.lessOverhead(t.Capacity, overhead)
}
