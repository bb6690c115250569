package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// Takes returns what a pod of a class uses of a node on which some volumes are attached already.
// The result must not be changed.
func (p *Problem) Takes(c int, attached []int32) []int64 {
	out := p.Requests[c]
	if len(attached) == 0 {
		return out
	}
	for _, id := range p.Classes[c].Shares {
		if slices.Contains(attached, id) {
			if &out[0] == &p.Requests[c][0] {
				out = slices.Clone(out)
			}
			out[p.Extras.Attached.Dimensions[id]]--
		}
	}
	return out
}

// Attach adds the volumes of a class to those attached. It does not write to the given list.
func (p *Problem) Attach(attached []int32, c int) []int32 {
	for _, id := range p.Classes[c].Shares {
		if !slices.Contains(attached, id) {
			attached = append(slices.Clip(attached), id)
		}
	}
	return attached
}

// Drivers returns, by name of the instance types of some options, the sorted drivers of the devices
// that pods and the daemons on their node will be allocated. It is nil if no pod requests a device.
func (p *Problem) Drivers(podIDs []int32, options bitset.Set) map[string][]string {
	if p.Extras.Counts == nil {
		return nil
	}
	var wanted []device.Demand
	classes := map[int]bool{}
	for _, podID := range podIDs {
		if c := p.ClassOf[podID]; !classes[c] && p.Classes[c].Devices != nil {
			classes[c] = true
			wanted = append(wanted, p.Classes[c].Demand)
		}
	}
	if len(wanted) == 0 && p.Extras.DaemonNeeds == nil {
		return nil
	}
	by := map[*cloudprovider.InstanceType][]int{} // by instance type: its options
	for o := range options.All() {
		t := p.Option(o).InstanceType
		by[t] = append(by[t], o)
	}
	out := make(map[string][]string, len(by))
	for t, options := range by { // the order does not matter
		demands := slices.Clip(wanted)
		for i := range p.Extras.DaemonNeeds {
			if !slices.ContainsFunc(options, func(o int) bool { return !p.onDaemon[i].Has(o) }) {
				demands = append(demands, p.Daemons[i].Demand)
			}
		}
		out[t.Name] = p.Extras.Counts.Drivers(t, demands)
	}
	return out
}

// SharedVolume returns the reason for which pods of a class cannot be with others that share a
// claim with them, nil if no term is about a claim.
func (p *Problem) SharedVolume(terms []workload.Term) *model.Reason {
	i := slices.IndexFunc(terms, func(t workload.Term) bool { return t.Storage })
	if i < 0 {
		return nil
	}
	claim, where := p.Rules.selections[terms[i].Pods].Claim, "zone"
	if terms[i].Key == corev1.LabelHostname {
		where = "node"
	}
	return &model.Reason{Cause: model.CauseVolumes, Detail: "claim " + claim + " gets its volume in the " + where +
		" of the other pods that use it, and there is no room for this one; there may be once the claim is bound"}
}
