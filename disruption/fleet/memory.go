package fleet

import (
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

const (
	// RefusedFor is how long the API server may refuse to add a pod's toleration before its node no
	// longer waits for it: an API server that has just started does not know permissions yet.
	RefusedFor = 10 * time.Second
	// BoundWithin is how long room on an open node is kept for a pod, from when there is such room.
	BoundWithin = 30 * time.Second
	// HintsAtOnce is the largest number of hints of a Read. Later Reads have the rest, whose pods
	// are mostly bound by then.
	HintsAtOnce = 100
)

// Memory is the state of a program that is not in the cluster. The zero value is empty, as after a
// restart, which costs only a little time. Data about a pod is dropped with the pod.
type Memory struct {
	bindings []nomination.Binding
	refused  map[types.UID]refusal
	putOff   map[types.UID]time.Time  // until when
	told     map[types.UID]string     // the node
	pods     map[string][]*corev1.Pod // by Node, at the last Read
	events   map[string]time.Time     // of pods, by Node
	seen     seen
	compiled compiled // the last problem

	shortages []disruption.UnavailableOffering
	blocked   map[string]string    // texts of events about Nodes that stay
	foreseen  map[string]time.Time // by Node: since when each proposal would remove it
}

// refusal is the state of a pod whose toleration was refused.
type refusal struct {
	since time.Time
	final bool // not tried any more
}

// live returns a copy without outdated entries.
func (m Memory) live(pods []*corev1.Pod, now time.Time) Memory {
	out := m
	out.refused, out.putOff, out.told = map[types.UID]refusal{}, map[types.UID]time.Time{}, map[types.UID]string{}
	for _, p := range pods {
		if r, ok := m.refused[p.UID]; ok {
			out.refused[p.UID] = r
		}
		if until := m.putOff[p.UID]; now.Before(until) {
			out.putOff[p.UID] = until
		}
		if node, ok := m.told[p.UID]; ok {
			out.told[p.UID] = node
		}
	}
	out.shortages = nil
	for _, u := range m.shortages {
		if now.Sub(u.At) < disruption.UnavailableHold {
			out.shortages = append(out.shortages, u)
		}
	}
	return out
}

// givenUp returns the pods that were refused for longer than RefusedFor.
func (m Memory) givenUp() map[types.UID]bool {
	out := map[types.UID]bool{}
	for uid, r := range m.refused {
		out[uid] = r.final
	}
	return out
}

// hint sets Hints. It drops the refusals of pods that have their toleration meanwhile.
func (f *Fleet) hint() {
	for _, place := range f.Promises.Pods {
		uid := place.Pod.UID
		if place.Toleration != nil {
			continue
		}
		if !f.Memory.refused[uid].final {
			delete(f.Memory.refused, uid)
		}
		if place.Node == "" || f.Memory.told[uid] == place.Node || place.Pod.Status.NominatedNodeName == place.Node {
			continue
		}
		if len(f.Hints) < HintsAtOnce {
			f.Memory.told[uid] = place.Node
			f.Hints = append(f.Hints, place)
		}
	}
}

// Refuse notes that the API server refused to add a pod's toleration, and reports whether this has
// lasted for RefusedFor: from the next Read on its node does not wait for the pod, which gets at
// most a hint.
func (f *Fleet) Refuse(pod *corev1.Pod) bool {
	r, again := f.Memory.refused[pod.UID]
	if !again {
		r.since = f.Now
	}
	r.final = f.Now.Sub(r.since) >= RefusedFor
	f.Memory.refused[pod.UID] = r
	return r.final
}

// PutOff leaves pods out of Waiting until an instant, or ends that if it is past. Use it for pods
// without a place, and for those whose NodeClaims are not stored yet.
func (f *Fleet) PutOff(until time.Time, pods ...*corev1.Pod) {
	for _, p := range pods {
		f.Memory.putOff[p.UID] = until
	}
}

// SoldOut notes the offerings that the error of a launch lists as refused: from the next Read on
// they are in Input.UnavailableOfferings, for disruption.UnavailableHold.
func (f *Fleet) SoldOut(err error) {
	var refusal *cloudprovider.Error
	if errors.As(err, &refusal) {
		for _, o := range refusal.Offerings {
			f.Memory.shortages = append(f.Memory.shortages, disruption.UnavailableOffering{Offering: o, At: f.Now})
		}
	}
}

// News returns the entries of Proposal.Blocked that need an event: the first for each Event and
// existing Node, if the last call had none or another Detail.
func (f *Fleet) News(blocked []disruption.Blocked) (out []disruption.Blocked) {
	texts := map[string]string{}
	for _, b := range blocked {
		about := b.Event() + " of " + b.Node
		if _, again := texts[about]; again || b.Event() == "" || f.nodes[b.Node] == nil {
			continue
		}
		texts[about] = b.Detail
		if before, told := f.Memory.blocked[about]; !told || before != b.Detail {
			out = append(out, b)
		}
	}
	f.Memory.blocked = texts
	return out
}

// Foreseen says for each of the Actions of a proposal since when all proposals would remove its targets:
// at once, once they may (Proposal.Waiting), or if budgets and consolidateAfter held none back, which
// is the result of disruption.Cluster.Unneeded. A cause that may pass within seconds (see
// disruption.Transient) has lasted for that long. So wait with the confirmation until some seconds after
// that instant, and not after the proposal: an action that waited for a budget is confirmed when it may
// begin. Call it once for each proposal, as Memory has what it needs of the last call.
func (f *Fleet) Foreseen(p *disruption.Proposal, unneeded ...string) []time.Time {
	now := map[string]time.Time{}
	note := func(node string) time.Time {
		since, before := f.Memory.foreseen[node]
		if !before {
			since = f.Now
		}
		now[node] = since
		return since
	}
	out := make([]time.Time, len(p.Actions))
	for i, a := range p.Actions {
		for _, t := range a.Targets {
			if since := note(t.Node); since.After(out[i]) {
				out[i] = since
			}
		}
	}
	for _, w := range p.Waiting {
		for _, t := range w.Action.Targets {
			note(t.Node)
		}
	}
	for _, node := range unneeded {
		note(node)
	}
	f.Memory.foreseen = now
	return out
}

// Bind promises existing and starting nodes to the pods of a plan for Input. For open nodes the
// promise is in Memory, for BoundWithin after the pods of Binding.After are gone; for others it is in the NodeClaim, and Bind returns the
// NodeClaims to store. The error joins those of nomination.Reserve; the other claims are valid.
func (f *Fleet) Bind(bindings []provisioning.Binding) (claims []*v1.NodeClaim, err error) {
	kept := map[string]bool{}
	for _, n := range f.Promises.Nodes {
		kept[n.NodeClaim] = n.Phase != nomination.Open
	}
	for _, b := range bindings {
		i := slices.IndexFunc(f.Input.Nodes, func(n provisioning.Node) bool { return n.Name() == b.Node })
		if i < 0 {
			continue
		}
		n := f.Input.Nodes[i]
		if n.NodeClaim == nil || !kept[n.NodeClaim.Name] && n.Node != nil {
			f.Memory.bindings = append(f.Memory.bindings, nomination.Bind(b.Node, b.Pods, f.boundBy(b))...)
			continue
		}
		claim, fault := nomination.Reserve(f.Now, n.NodeClaim, f.Stored(b.Pods), nil)
		if err = errors.Join(err, fault); fault == nil {
			claims = append(claims, claim)
		}
	}
	return claims, err
}
