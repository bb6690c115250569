// Package topology decides which domains (zones, capacity types, racks) pods go
// to that have constraints between pods: topology spread, affinity and
// anti-affinity over any label but the name of the node.
//
// It knows nothing of Kubernetes: label keys are numbers, so are the values
// that a key may have (its domains), and every class of pods comes with the
// combinations of domains (cells) it may go to. Pods are served one after the
// other, each by the same checks that kube-scheduler makes, so that the order
// in which they were served is an order in which they can be bound.
package topology

// Problem is one assignment problem. It is read-only.
type Problem struct {
	// Domains is, by key, how many domains there are.
	Domains []int
	Rules   []Rule
	// Classes are in the order they are served.
	Classes []Class
}

// Kind tells rules apart.
type Kind int

const (
	// Spread keeps the members of the domains of a key even.
	Spread Kind = iota
	// Together sends owners only where a member is.
	Together
	// Apart keeps owners and members out of one domain.
	Apart
)

// Rule is a constraint. Pods that have it are its owners, those that it counts
// its members.
type Rule struct {
	Kind Kind
	Key  int

	// Skew is how far a domain may be above the least, for Spread; and
	// MinDomains is how many domains there must be for a least above zero.
	Skew, MinDomains int

	// Members holds, by domain, the members that are there before.
	Members []int
	// Owners holds, by domain, the owners that are there before, for Apart.
	Owners []int
	// Counted says, by domain, whether it is one to spread over, for Spread: it has
	// a node, or one could be launched there.
	Counted []bool
	// Sure says, by domain, that a node is there whatever else happens; only such
	// domains count towards MinDomains.
	Sure []bool
	// Group is equal for rules about the same pods: an owner of several of them
	// can be the first only if it is the first of all, for Together.
	Group int
	// Elsewhere says that there are members outside of all domains. Then an
	// owner cannot be the first, for Together.
	Elsewhere bool
}

// Class is a group of pods that are alike.
type Class struct {
	Count int
	// Owns lists the rules that its pods have, Joins those that count them.
	Owns  []Own
	Joins []Join
	// Keys lists the keys that cells tell apart.
	Keys  []int
	Cells []Cell
}

// Own is the ownership of a rule by a class.
type Own struct {
	Rule int
	// Count is how many owners one pod of the class stands for: more than one
	// where the class stands for several pods that go together.
	Count int
	// Weight is above zero if the pods would only rather keep the rule: it
	// decides between cells, and keeps them out of none.
	Weight int
}

// Join is the membership of a class in a rule.
type Join struct {
	Rule int
	// Count is how many members one pod of the class stands for, and Both how
	// many of them are owners too.
	Count, Both int
}

// Cell is a combination of domains.
type Cell struct {
	// At holds a domain for each of the class's keys; None where the node has
	// no such label.
	At []int
	// Cost decides between cells that are equally good. The first Free pods of the
	// class cost nothing there.
	Cost float64
	Free int
	// Room is the most pods of the class that it takes.
	Room int
}

// None is the domain of a node without the label.
const None = -1

// Unknown is the domain of a node that will have the label, nobody knows with
// which value. No cell is there.
const Unknown = -2

// Event is a number of pods of a class that went to a cell, one after the
// other.
type Event struct{ Class, Cell, Count int }

// Result says where pods go.
type Result struct {
	// Events are in the order of service.
	Events []Event
	// Placed counts pods by class and cell.
	Placed [][]int
	// Blocked counts, by class, the pods without a cell, and By says which rule
	// was in the way of the last one in the cell that came closest, -1 if its
	// cells had no room.
	Blocked []int
	By      []int
	// Members is, by rule and domain, what was counted in the end.
	Members [][]int
}
