package provisioning

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// maxInstanceTypes is the most instance types that a NodeClaim names, as
// Karpenter has it: a NodeClaim must stay small enough for the API server.
const maxInstanceTypes = 600

// Request is the order for the node as a CloudProvider takes it. The token
// makes it idempotent: see cloudprovider.LaunchRequest. Use the UID of the NodeClaim, or
// another token that is never used again: Name begins anew with each plan, so that a token
// made of it gets the machine of an earlier plan. Name of the request is left empty for
// the caller to set if the node has a NodeClaim object.
//
// The drivers of the devices that the pods are to have are in its annotation
// karpenter.sh/requested-dra-drivers, sorted, as far as all Options have them; so they
// are in that of NodeClaim, as far as all have them that it states.
//
// It asks for Requests and Daemons, less what only DaemonSets ask for and some option has
// too little of: that DaemonSet waits there.
//
// The request names all Options, each on its own, so that it stays exact where
// a NodeClaim cannot be. Its slices and maps are shared with the plan.
func (n *NewNode) Request(token string) cloudprovider.LaunchRequest {
	template := &n.Pool.Spec.Template
	var class v1.NodeClassReference
	if template.Spec.NodeClassRef != nil {
		class = *template.Spec.NodeClassRef
	}
	return cloudprovider.LaunchRequest{
		Token:         token,
		NodePool:      n.Pool.Name,
		NodeClassRef:  class,
		Requirements:  n.Requirements,
		Requests:      n.total(),
		Options:       n.Options,
		Labels:        n.Labels,
		Annotations:   n.annotations(n.Options),
		Taints:        template.Spec.Taints,
		StartupTaints: template.Spec.StartupTaints,
	}
}

// total is what pods and daemons ask for, as far as every option has it. It was summed up
// before, so that it cannot overflow.
func (n *NewNode) total() resources.List {
	sum, err := n.Requests.Add(n.Daemons)
	if err != nil {
		return n.Requests
	}
	return sum.Without(n.wanting()...)
}

// wanting lists what no pod of the node asks for, and daemons more of than some option has.
// A daemon that finds too little of it waits, and is in nobody's way.
func (n *NewNode) wanting() []corev1.ResourceName {
	var out []corev1.ResourceName
	for name, amount := range n.Daemons.All() {
		if n.Requests.Get(name) <= 0 && slices.ContainsFunc(n.Options, func(o cloudprovider.LaunchOption) bool {
			room, err := o.InstanceType.AllocatableFor(o.Offering)
			return err != nil || room.Get(name) < amount
		}) {
			out = append(out, name)
		}
	}
	return out
}

// NodeClaim is the node as a karpenter.sh/v1 object to create: named by
// generateName, owned by the pool, with the hash of the pool for drift. Add the finalizer
// v1.TerminationFinalizer before it is created, if you end its machine: without it the
// object is gone before anybody has seen that it goes.
//
// The requirements of a NodeClaim can say "these types, in these zones, as
// these capacity types" but not "type a in zone x or type b in zone y". Where
// the options are not all combinations of the former kind, the NodeClaim
// states a part of them that is, one with the cheapest option and the largest of those,
// so that whatever is launched by it holds the pods, and what the plan costs can be
// had by it. If that part is reserved, the NodeClaim names its reservations as well, by the
// label of the offerings whose value is Offering.ReservationID; without such a label it
// leaves open which reservation of a type and zone is used. Only to keep a minValues does
// it go without the cheapest. It names at most 600 instance
// types, the cheapest. A minValues that no such part satisfies is lowered to
// what the part has, and the NodeClaim is annotated so.
//
// The object is the caller's own.
func (n *NewNode) NodeClaim() *v1.NodeClaim {
	kept := n.kept()
	asked, lowered := n.claimRequirements(kept)
	annotations := n.annotations(kept)
	if lowered {
		annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] = strconv.FormatBool(true)
	}
	claim := n.claim(annotations)
	claim.Spec.Requirements = asked.NodeSelectorRequirements()
	claim.Spec.Resources.Requests = n.total().ResourceList()
	return claim
}

// claim is a NodeClaim of the pool, made from its template.
func (n *NewNode) claim(annotations map[string]string) *v1.NodeClaim {
	block := true
	claim := n.Pool.Spec.Template.ToNodeClaim()
	claim.TypeMeta = metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.NodeClaimKind}
	claim.ObjectMeta = metav1.ObjectMeta{
		GenerateName: n.Pool.Name + "-",
		Labels:       maps.Clone(n.Labels),
		Annotations:  annotations,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion:         v1.GroupVersion.String(),
			Kind:               v1.NodePoolKind,
			Name:               n.Pool.Name,
			UID:                n.Pool.UID,
			BlockOwnerDeletion: &block,
		}},
	}
	return claim
}

// annotations are those of the node, whichever of some options it is launched by. Drivers
// that the template names stay.
func (n *NewNode) annotations(options []cloudprovider.LaunchOption) map[string]string {
	out := map[string]string{}
	maps.Copy(out, n.Pool.Spec.Template.Annotations)
	out[v1.NodePoolHashAnnotationKey] = n.Pool.Hash()
	out[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	out[v1.NodeClaimMinValuesRelaxedAnnotationKey] = strconv.FormatBool(n.MinValuesRelaxed)
	maps.Copy(out, overlay.Annotations(n.Options))
	if drivers := n.driversOf(options); len(drivers) > 0 {
		separator := func(r rune) bool { return r == ',' || r == ' ' }
		drivers = append(drivers, strings.FieldsFunc(out[v1.DRADriversAnnotationKey], separator)...)
		slices.Sort(drivers)
		out[v1.DRADriversAnnotationKey] = strings.Join(slices.Compact(drivers), ",")
	}
	return out
}

// driversOf lists the drivers of devices that the pods are to have on each of some options,
// sorted. A driver that only some of the options have devices of is not among them: on the
// others the node would wait for it for ever.
func (n *NewNode) driversOf(options []cloudprovider.LaunchOption) []string {
	var out []string
	for i, o := range options {
		drivers := n.drivers[o.InstanceType.Name]
		if i == 0 {
			out = slices.Clone(drivers)
		}
		out = slices.DeleteFunc(out, func(driver string) bool { return !slices.Contains(drivers, driver) })
	}
	return out
}

// kept are the options that the NodeClaim states: the largest box, as far as it may name
// their instance types.
func (n *NewNode) kept() []cloudprovider.LaunchOption {
	types := map[string]bool{}
	var kept []cloudprovider.LaunchOption
	for _, o := range n.box() {
		if name := o.InstanceType.Name; types[name] || len(types) < maxInstanceTypes {
			types[name] = true
			kept = append(kept, o)
		}
	}
	return kept
}

// claimRequirements narrows Requirements to some options, and says whether it had to lower
// a minValues.
func (n *NewNode) claimRequirements(kept []cloudprovider.LaunchOption) (requirements.Set, bool) {
	var types []string
	for _, o := range kept {
		types = append(types, o.InstanceType.Name)
	}
	asked := n.Requirements.With(requirements.In(corev1.LabelInstanceTypeStable, types...)).
		With(catalog.Whereabouts(kept)...).With(catalog.Reservations(kept)...)
	short := catalog.Missed(asked, kept)
	for _, m := range short {
		r, _ := asked.Get(m.Key)
		asked = asked.Without(m.Key).With(r.WithMinValues(m.Have))
	}
	return asked, len(short) > 0
}
