// Package topology assigns pods that have constraints between pods to domains (zones, capacity
// types, racks): topology spread, affinity and anti-affinity over any label except the hostname.
//
// It knows nothing of Kubernetes. Label keys are numbers, and so are the values that a key may have
// (its domains). Every class of pods lists the combinations of domains (cells) in which it may be.
// Pods are placed one after the other, each by the checks of kube-scheduler, so they can be bound
// in the order in which they were placed.
package topology

// Problem is one assignment problem. Assign does not change it.
type Problem struct {
	// Domains is, by key, the number of domains.
	Domains []int
	Rules   []Rule
	// Classes are in the order in which Assign serves them.
	Classes []Class
}

// Kind is a kind of rule.
type Kind int

const (
	// Spread limits how far the member count of a domain may be above the lowest count.
	Spread Kind = iota
	// Together allows owners only in domains with a member.
	Together
	// Apart excludes owners from domains with a member, and members from domains with an owner.
	Apart
)

// Rule is a constraint between pods. Its owners are the pods that have it, and its members the pods
// that it counts.
type Rule struct {
	Kind Kind
	// Key is -1 for a rule that no class has, over a label by which no cells are divided.
	Key int

	// For Spread: Skew is the largest difference allowed between a domain and the least domain, and
	// MinDomains is the number of domains below which the least counts as zero.
	Skew, MinDomains int

	// Members is, by domain, the number of members before the assignment.
	Members []int
	// For Apart: Owners is, by domain, the number of owners before the assignment.
	Owners []int
	// For Spread: Counted says, by domain, whether pods are spread over the domain, because it has
	// a node or one could be launched there.
	Counted []bool
	// Sure says, by domain, that it has a node whatever is launched. Only such domains count
	// towards MinDomains.
	Sure []bool
	// For Together: Group is equal for rules that select the same pods. A pod that owns several
	// rules of a group can be the first pod only if it is the first for all of them.
	Group int
	// For Together: Elsewhere says that there are members outside all domains, so no owner can be
	// the first pod.
	Elsewhere bool
}

// Class is a group of pods that are alike for all rules.
type Class struct {
	Count int
	// Owns lists the rules that its pods have, and Joins the rules that count its pods.
	Owns  []Own
	Joins []Join
	// Keys lists the label keys by which Cells are divided.
	Keys  []int
	Cells []Cell
}

// Own is the ownership of a rule by a class.
type Own struct {
	Rule int
	// Count is the number of owners that one pod of the class stands for. It is more than one where
	// the class stands for several pods that are packed together.
	Count int
	// Weight is positive if the rule is only preferred. A preferred rule helps to choose between
	// cells and excludes none.
	Weight int
}

// Join is the membership of a class in a rule.
type Join struct {
	Rule int
	// Count is the number of members that one pod of the class stands for, and Both the number of
	// these that are owners too.
	Count, Both int
}

// Cell is a combination of domains.
type Cell struct {
	// At is, by entry of Keys, the domain of the cell; None where its nodes lack the label.
	At []int
	// Cost decides between cells that are equally good otherwise. The first Free pods of the class
	// cost nothing in the cell.
	Cost float64
	Free int
	// Room is the largest number of pods of the class that the cell takes.
	Room int
}

// None is the domain of a node without the label.
const None = -1

// Unknown is the domain of a node that will have the label with a value not known yet. No cell has
// it.
const Unknown = -2

// Event is a number of pods of a class that were placed in a cell one after the other.
type Event struct{ Class, Cell, Count int }

// Result is the assignment of pods to cells.
type Result struct {
	// Events are in the order in which pods were placed.
	Events []Event
	// Placed is the number of pods, by class and cell.
	Placed [][]int
	// Blocked is, by class, the number of pods without a cell.
	Blocked []int
}
