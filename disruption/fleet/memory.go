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
	// RefusedFor is how long the API server may refuse a pod its toleration before nobody
	// waits for the pod: one that has just started knows no rights yet.
	RefusedFor = 10 * time.Second
	// BoundWithin is how long room on a node that is open to all is kept for a pod.
	BoundWithin = 30 * time.Second
	// HintsAtOnce is how many hints a Read gives at the most. The rest come with those after
	// it, and most of their pods are bound by then and need none.
	HintsAtOnce = 100
)

// Memory is what a program knows that does not stand in the cluster. The zero value has
// nothing, as after a restart: a little time is lost then, and nothing else. What it knows
// of a pod goes with the pod.
type Memory struct {
	bindings []nomination.Binding
	refused  map[types.UID]refusal
	putOff   map[types.UID]time.Time  // until when
	told     map[types.UID]string     // the node
	pods     map[string][]*corev1.Pod // by Node, at the last look
	events   map[string]time.Time     // of pods, by Node
	seen     seen
	compiled compiled // the last problem

	shortages []disruption.UnavailableOffering
	blocked   map[string]string // texts of events about Nodes that stay
}

// refusal is how a pod fares that is refused its toleration.
type refusal struct {
	since time.Time
	final bool // nobody tries any more
}

// live is a copy with what still matters.
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

// givenUp are the pods that were refused for too long.
func (m Memory) givenUp() map[types.UID]bool {
	out := map[types.UID]bool{}
	for uid, r := range m.refused {
		out[uid] = r.final
	}
	return out
}

// hint finds whom to tell a node. A pod that is not given up and lacks nothing is not
// refused anything any more.
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

// Refuse notes that the API server does not let a pod have its toleration, and reports
// whether that goes on for RefusedFor: from the next Read on nobody waits for the pod,
// which is given a hint at most.
func (f *Fleet) Refuse(pod *corev1.Pod) bool {
	r, again := f.Memory.refused[pod.UID]
	if !again {
		r.since = f.Now
	}
	r.final = f.Now.Sub(r.since) >= RefusedFor
	f.Memory.refused[pod.UID] = r
	return r.final
}

// PutOff leaves pods out of Waiting before an instant, or no longer if that is past: pods
// that found no place, and those whose NodeClaims are still to be stored.
func (f *Fleet) PutOff(until time.Time, pods ...*corev1.Pod) {
	for _, p := range pods {
		f.Memory.putOff[p.UID] = until
	}
}

// SoldOut notes what the cloud refused to sell, where the error of a launch says so: from the
// next Read on it is among Input.UnavailableOfferings, for disruption.UnavailableHold.
func (f *Fleet) SoldOut(err error) {
	var refusal *cloudprovider.Error
	if errors.As(err, &refusal) {
		for _, o := range refusal.Offerings {
			f.Memory.shortages = append(f.Memory.shortages, disruption.UnavailableOffering{Offering: o, At: f.Now})
		}
	}
}

// News are those of Proposal.Blocked that an event is due for: the first of its Event about
// its Node, if that is there, where the call before had none or another Detail.
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

// Bind promises nodes that are there, or coming, to the pods of a plan for Input: those that
// are open to all in memory, for BoundWithin; any other by its NodeClaim, and it returns
// those as they should be stored. The error joins those of nomination.Reserve, and the rest
// is right.
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
			f.Memory.bindings = append(f.Memory.bindings, nomination.Bind(b.Node, b.Pods, f.Now.Add(BoundWithin))...)
			continue
		}
		claim, fault := nomination.Reserve(n.NodeClaim, f.Stored(b.Pods), f.Now, nil)
		if err = errors.Join(err, fault); fault == nil {
			claims = append(claims, claim)
		}
	}
	return claims, err
}
