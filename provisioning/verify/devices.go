package verify

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/devices"
)

// checkDevices counts the devices that the pods of each node request. The faults it reports are
// certain, but kube-scheduler may refuse more.
func (r *referee) checkDevices() {
	var d *devices.Index
	homes := map[objectKey]*site{} // by claim without an allocation: its node
	for _, s := range r.sites {
		asked := map[objectKey]*resourcev1.ResourceClaimSpec{}
		for _, p := range s.placed {
			for i := range p.Spec.ResourceClaims {
				if d == nil {
					d = devices.New(&r.in.Devices)
				}
				key, spec, where, fault := d.Resolve(p.Pod, &p.Spec.ResourceClaims[i])
				if where != nil && !r.reaches(s, where) {
					fault = "has devices that the node cannot reach"
				}
				if fault != "" {
					r.report(RuleDevices, s.name, p.key.String(), "its resource claim %s %s", p.Spec.ResourceClaims[i].Name, fault)
					continue
				}
				if spec == nil {
					continue
				}
				if home := homes[key]; home != nil && home != s && len(d.ByNode[""]) == 0 {
					r.report(RuleDevices, s.name, p.key.String(), "its resource claim %s is for devices of one node, and a pod on node %s uses it too",
						p.Spec.ResourceClaims[i].Name, home.name)
					continue
				}
				homes[key], asked[key] = s, spec
			}
		}
		if len(asked) > 0 {
			r.countDevices(d, s, asked)
		}
	}
}

// reaches says whether a site is certain to be among some nodes, whichever option is launched.
func (r *referee) reaches(s *site, nodes *corev1.NodeSelector) bool {
	selection := r.selections.OfNodes(nodes)
	return !slices.ContainsFunc(r.outcomes(s, selection.Mentions), func(node *corev1.Node) bool { return !selection.Accepts(node) })
}

// countDevices checks that there are as many devices of each class as claims request.
func (r *referee) countDevices(d *devices.Index, s *site, asked map[objectKey]*resourcev1.ResourceClaimSpec) {
	needs := devices.Needs(asked)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		class := d.Classes[name]
		if class == nil {
			r.report(RuleDevices, s.name, "", "its pods ask for devices of class %s, which is not in the input", name)
			continue
		}
		for _, there := range r.devicesAt(d, s) {
			have, countable := d.Count(class, there)
			if countable && needs[name] > have {
				r.report(RuleDevices, s.name, "", "its pods ask for %d devices of class %s, but it may have %d", needs[name], name, have)
				break
			}
		}
	}
}

// devicesAt returns the devices of a site, for each instance type that it may be. A node that has
// published no devices yet gets those of its instance type.
func (r *referee) devicesAt(d *devices.Index, s *site) [][]devices.Device {
	if s.node != nil {
		own := d.ByNode[s.node.Node.Name]
		if len(own) == 0 && s.node.Settling {
			if t := r.typeOf(s.node); t != nil {
				own = devices.OfType(t.Devices)
			}
		}
		return [][]devices.Device{slices.Concat(own, d.ByNode[""])}
	}
	var all [][]devices.Device
	seen := map[string]bool{}
	for _, i := range s.family.options {
		t := s.family.pool.stock.options[i].InstanceType
		if !seen[t.Name] {
			seen[t.Name] = true
			all = append(all, slices.Concat(devices.OfType(t.Devices), d.ByNode[""]))
		}
	}
	return all
}
