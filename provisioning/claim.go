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

// maxInstanceTypes is the largest number of instance types in a NodeClaim, as in Karpenter: a
// NodeClaim must be small enough for the API server.
const maxInstanceTypes = 600

// Request returns the launch request for a CloudProvider. The token makes the launch idempotent;
// see cloudprovider.LaunchRequest. Use the UID of the NodeClaim, or another token that is never
// used again. Do not use Name: it starts anew with each plan, so the request would return the
// machine of an earlier plan. The Name of the request is empty; set it if the node has a NodeClaim
// object.
//
// The annotation karpenter.sh/requested-dra-drivers lists, sorted, the drivers of the devices that
// the pods will be allocated, restricted to drivers that all Options have. NodeClaim does the same
// for the options that it states.
//
// It requests Requests plus Daemons, without resources that only DaemonSets request and some option
// has too little of: the pods of these DaemonSets stay pending on that option.
//
// The request lists all Options one by one, so it is exact where a NodeClaim cannot be. Its slices
// and maps are shared with the plan.
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

// total returns the requests of pods and daemons, without the resources that wanting lists. The
// engine has computed the same sum, so it cannot overflow.
func (n *NewNode) total() resources.List {
	sum, err := n.Requests.Add(n.Daemons)
	if err != nil {
		return n.Requests
	}
	return sum.Without(n.wanting()...)
}

// wanting lists the resources that no pod of the node requests, if some option has less of them
// than the daemons request. A DaemonSet pod without enough of such a resource stays pending and
// excludes no other pod.
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

// NodeClaim returns the node as a karpenter.sh/v1 object to create: named by generateName, owned by
// the pool, with the hash of the pool for drift. If your program terminates the machine, add the
// finalizer v1.TerminationFinalizer before creating the object: without it the object disappears
// before its deletion can be observed.
//
// The requirements of a NodeClaim can say "these types, in these zones, with these capacity types"
// but not "type a in zone x or type b in zone y". If the options are not all combinations of types,
// zones and capacity types, the NodeClaim states a part of them that is: the largest such part that
// includes the cheapest option. So every node launched from the NodeClaim holds the pods, and the
// cost of the plan can be reached. A part without the cheapest option is used only to satisfy
// minValues. If the part is reserved, the NodeClaim names its reservations too, by the label of the
// offerings whose value is Offering.ReservationID; without such a label the reservation of a type
// and zone stays open. It names at most 600 instance types, the cheapest. A minValues that no such
// part satisfies is lowered to what the part has, and an annotation of the NodeClaim says so.
//
// The object shares nothing with the plan.
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

// claim returns a NodeClaim of the pool, made from its template.
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

// annotations returns the annotations of the node if it is launched by any of some options. Drivers
// in the annotations of the template are kept.
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

// driversOf lists, sorted, the drivers of devices for the pods that each of some options has. Other
// drivers are left out, because a node without their devices would wait for them for ever.
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

// kept returns the options that the NodeClaim states: the box, with at most maxInstanceTypes
// instance types.
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

// claimRequirements narrows Requirements to some options, and says whether a minValues had to be
// lowered.
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
