package device

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Need is the device requests of a pod's resource claims. The zero value asks for
// nothing.
type Need struct {
	// Refusal says why the pod cannot be placed; if it is set, the other fields are empty.
	Refusal *Refusal

	// Pins are the node selectors of claims that are allocated already. A node must match all of
	// them.
	Pins []*corev1.NodeSelector

	// where is Pins as alternatives, of which a node must satisfy one.
	where []requirements.Alternative

	// Demands are the ways to satisfy the claims that are not allocated, in the order in which
	// kube-scheduler tries them on a node. There is at least one, which may be empty, unless the
	// pod is refused or has no claims.
	Demands []Demand
}

// Refusal says why a pod with resource claims cannot be placed.
type Refusal struct {
	// Unsupported says that the pod uses a feature that is not modelled. Text then names the
	// feature; otherwise it is a sentence that says what is wrong.
	Unsupported bool
	Text        string
}

func unsupported(format string, args ...any) *Refusal {
	return &Refusal{Unsupported: true, Text: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Refusal {
	return &Refusal{Text: fmt.Sprintf(format, args...)}
}

// in adds to a refusal which claim of the pod it refers to.
func (r *Refusal) in(u *use) *Refusal {
	return &Refusal{Unsupported: r.Unsupported, Text: fmt.Sprintf("resource claim %s (%s): %s", u.entry, u.source, r.Text)}
}

// Needs returns the needs of the pods to be placed, in their order. The pods must be given
// together: if several of them use one claim that is not allocated, all of them are refused,
// because they would have to be placed on one node at the same time.
func (x *Index) Needs(pods []*corev1.Pod) []Need {
	out := make([]Need, len(pods))
	uses := make([][]use, len(pods))
	sharers := map[string]int{} // by claim: the number of pods
	for i, pod := range pods {
		if pod == nil {
			continue
		}
		uses[i], out[i].Refusal = x.uses(pod)
		for j := range uses[i] {
			if uses[i][j].claim != nil {
				sharers[objectKey(uses[i][j].claim)]++
			}
		}
	}
	for i, pod := range pods {
		if out[i].Refusal == nil && len(uses[i]) > 0 {
			out[i] = x.need(pod, uses[i], sharers)
		}
	}
	return out
}

// Pinned says whether a node matches all Pins.
func (n *Need) Pinned(name string, labels map[string]string) bool {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	return !slices.ContainsFunc(n.Pins, func(pin *corev1.NodeSelector) bool {
		selector, err := nodeaffinity.NewNodeSelector(pin)
		return err != nil || !selector.Match(node)
	})
}

// DaemonNeed returns the need of a pod that represents a DaemonSet, on each node. The claims that
// the pod has already belong to one node and are ignored: their templates count.
func (x *Index) DaemonNeed(pod *corev1.Pod) Need {
	if pod == nil {
		return Need{}
	}
	free := *pod
	free.Status.ResourceClaimStatuses = nil
	uses, refusal := x.uses(&free)
	for i := range uses {
		if refusal == nil && uses[i].claim != nil {
			refusal = unsupported("one claim for all pods of a DaemonSet").in(&uses[i])
		}
	}
	if refusal != nil {
		return Need{Refusal: refusal}
	}
	if len(uses) == 0 {
		return Need{}
	}
	return x.need(&free, uses, nil)
}

// need returns the sum of the claims of a pod.
func (x *Index) need(pod *corev1.Pod, uses []use, sharers map[string]int) Need {
	out := Need{Demands: []Demand{{}}}
	for i := range uses {
		u := &uses[i]
		if u.claim != nil && u.claim.Status.Allocation != nil {
			if refusal := x.pin(&out, pod, u); refusal != nil {
				return Need{Refusal: refusal.in(u)}
			}
			continue
		}
		if u.claim != nil && sharers[objectKey(u.claim)] > 1 {
			return Need{Refusal: unsupported("not allocated yet, and shared by %d pods that are to be placed", sharers[objectKey(u.claim)]).in(u)}
		}
		demands, refusal := x.demands(u.spec)
		if refusal != nil {
			return Need{Refusal: refusal.in(u)}
		}
		if out.Demands = product(out.Demands, demands); out.Demands == nil {
			return Need{Refusal: unsupported("more than %d ways to choose among firstAvailable in all claims of the pod", maxWays).in(u)}
		}
	}
	return out
}

// pin restricts a pod to the nodes of an allocation.
func (x *Index) pin(out *Need, pod *corev1.Pod, u *use) *Refusal {
	status := &u.claim.Status
	if len(status.ReservedFor) >= maxConsumers && !reservedFor(status.ReservedFor, pod) {
		return invalid("it is in use by %d pods, and no more may use it", len(status.ReservedFor))
	}
	selector := status.Allocation.NodeSelector
	if selector == nil {
		return nil
	}
	where, err := requirements.FromNodeSelector(selector, x.vocabulary)
	if err != nil {
		return invalid("the node selector of its allocation: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(out.Pins) > 0 {
		if where = both(out.where, where); len(where) > maxWays {
			return unsupported("more than %d alternatives in the node selectors of allocations", maxWays)
		}
	}
	out.where = where
	out.Pins = append(out.Pins, selector)
	return nil
}

// Narrow returns the alternatives of a pod combined with the node selectors of its allocated
// claims.
func (n *Need) Narrow(alternatives []requirements.Alternative) []requirements.Alternative {
	if len(n.Pins) == 0 {
		return alternatives
	}
	return both(alternatives, n.where)
}

// both returns the intersections of each of a with each of b.
func both(a, b []requirements.Alternative) []requirements.Alternative {
	out := make([]requirements.Alternative, 0, len(a)*len(b))
	for _, p := range a {
		for _, q := range b {
			out = append(out, p.Intersect(q))
		}
	}
	return out
}

// Key is equal for pods whose claims ask for the same, and "" for pods without claims.
func (n *Need) Key() string {
	if n.Refusal != nil {
		return "!" + n.Refusal.Text
	}
	var b strings.Builder
	for _, p := range n.Pins {
		text, _ := json.Marshal(p) // a node selector can always be marshalled
		fmt.Fprintf(&b, "@%d:%s", len(text), text)
	}
	if !slices.ContainsFunc(n.Demands, func(d Demand) bool { return !d.empty() }) {
		return b.String()
	}
	for _, d := range n.Demands {
		text := d.text()
		fmt.Fprintf(&b, "|%d:%s", len(text), text)
	}
	return b.String()
}
