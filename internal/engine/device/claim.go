package device

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxConsumers is how many pods may use a claim at once.
const maxConsumers = resourcev1.ResourceClaimReservedForMaxSize

// use is one claim that a pod uses.
type use struct {
	entry  string // name of the entry in spec.resourceClaims
	source string // object that the claim comes from, for reasons
	claim  *resourcev1.ResourceClaim
	spec   *resourcev1.ResourceClaimSpec
}

// uses returns the claims of a pod, without duplicates. The claim field is nil if the claim has
// still to be made from its template.
func (x *Index) uses(pod *corev1.Pod) ([]use, *Refusal) {
	if name := undeclared(&pod.Spec); name != "" {
		return nil, invalid("a container uses resource claim %s, which spec.resourceClaims does not have", name)
	}
	var out []use
	for i := range pod.Spec.ResourceClaims {
		u, refusal := x.resolve(pod, &pod.Spec.ResourceClaims[i])
		if refusal != nil {
			return nil, refusal
		}
		twice := u.claim != nil && slices.ContainsFunc(out, func(o use) bool { return o.claim == u.claim })
		if u.spec != nil && !twice {
			out = append(out, u)
		}
	}
	return out, nil
}

// undeclared returns the first claim that a container uses and spec.resourceClaims lacks, "" if
// there is none.
func undeclared(spec *corev1.PodSpec) string {
	declared := map[string]bool{}
	for i := range spec.ResourceClaims {
		declared[spec.ResourceClaims[i].Name] = true
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, c := range containers[i].Resources.Claims {
				if !declared[c.Name] {
					return c.Name
				}
			}
		}
	}
	return ""
}

// resolve returns the claim of one entry of a pod. Its spec is nil if the entry needs no claim.
func (x *Index) resolve(pod *corev1.Pod, c *corev1.PodResourceClaim) (use, *Refusal) {
	switch {
	case c.ResourceClaimName != nil:
		return x.existing(pod, c, *c.ResourceClaimName)
	case c.ResourceClaimTemplateName == nil:
		return use{}, invalid("resource claim %s: it names neither a ResourceClaim nor a ResourceClaimTemplate", c.Name)
	}
	key := pod.Namespace + "/" + *c.ResourceClaimTemplateName
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name != c.Name {
			continue
		}
		if s.ResourceClaimName == nil {
			return use{}, nil // Kubernetes has decided that no claim is needed
		}
		u, refusal := x.existing(pod, c, *s.ResourceClaimName)
		if refusal == nil && ofOtherPod(u.claim, pod) {
			refusal = invalid("the claim belongs to another pod").in(&u)
		}
		// From here on the source is the template: a fault in one of its claims is in all of them,
		// and pods with equal reasons are reported together.
		u.source = "ResourceClaimTemplate " + key
		return u, refusal
	}
	u := use{entry: c.Name, source: "ResourceClaimTemplate " + key}
	if pod.Spec.SchedulingGroup != nil {
		return u, unsupported("a claim that may belong to the scheduling group of the pod").in(&u)
	}
	t := x.templates[key]
	if t == nil {
		return u, invalid("there is no such template").in(&u)
	}
	u.spec = &t.Spec.Spec
	return u, nil
}

// existing returns a claim by name.
func (x *Index) existing(pod *corev1.Pod, c *corev1.PodResourceClaim, name string) (use, *Refusal) {
	key := pod.Namespace + "/" + name
	u := use{entry: c.Name, source: "ResourceClaim " + key, claim: x.claims[key]}
	switch {
	case u.claim == nil:
		return u, invalid("there is no such claim").in(&u)
	case !u.claim.DeletionTimestamp.IsZero():
		return u, invalid("it is being deleted").in(&u)
	}
	u.spec = &u.claim.Spec
	return u, nil
}

// ofOtherPod says whether a claim was made for another pod.
func ofOtherPod(claim *resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(claim)
	return owner != nil && owner.Kind == "Pod" && owner.UID != pod.UID
}

// reservedFor says whether a pod is among the consumers of a claim.
func reservedFor(consumers []resourcev1.ResourceClaimConsumerReference, pod *corev1.Pod) bool {
	return slices.ContainsFunc(consumers, func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == pod.UID })
}
