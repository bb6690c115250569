package disruption

import (
	"maps"
	"time"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// DefaultNomination is for how long a node is kept for pods by default: twice the
// time for which pending pods are gathered before they are planned for.
const DefaultNomination = 20 * time.Second

// Nominations say until when nodes are kept for pods that were promised a place
// there, by name: the value for Input.Nominations. A node is free again at that
// instant. Nil has none. The functions here change no map that they are given.
type Nominations map[string]time.Time

// Nominate keeps the nodes that a plan places pods on until an instant: those in
// Plan.Bind. The nodes that it creates are the affair of whoever makes objects of
// them; name them with Keep.
func Nominate(plan *provisioning.Plan, until time.Time) Nominations {
	n := Nominations{}
	if plan == nil {
		return n
	}
	for _, b := range plan.Bind {
		if len(b.Pods) > 0 {
			n[b.Node] = until
		}
	}
	return n
}

// Keep returns n with one more node that is kept. Of two instants for one node the
// later holds. An empty name, as of a node that is not known, changes nothing.
func (n Nominations) Keep(node string, until time.Time) Nominations {
	return n.With(Nominations{node: until})
}

// With returns what is kept by n, by other, or by both. Of two instants for one node
// the later holds: a new promise does not end an earlier one.
func (n Nominations) With(other Nominations) Nominations {
	out := n.clone()
	for node, until := range other {
		if have, kept := out[node]; node != "" && (!kept || until.After(have)) {
			out[node] = until
		}
	}
	return out
}

// At returns what n still keeps at an instant, so that the map of a program that
// runs for long does not grow without end.
func (n Nominations) At(now time.Time) Nominations {
	out := n.clone()
	maps.DeleteFunc(out, func(_ string, until time.Time) bool { return !until.After(now) })
	return out
}

// Renamed returns n with the promises of one node moved to another: from the name of
// a NodeClaim to that of its Node once there is one, as entries of Input.Nodes are
// named.
func (n Nominations) Renamed(from, to string) Nominations {
	until, kept := n[from]
	if !kept || from == to {
		return n.clone()
	}
	out := n.clone()
	delete(out, from)
	return out.Keep(to, until)
}

func (n Nominations) clone() Nominations {
	if n == nil {
		return Nominations{}
	}
	return maps.Clone(n)
}
