package screen

// Count is a number of pods of a class.
type Count struct {
	Class int32
	Pods  int32
}

// Node is a node and the pods that have to move when it goes.
type Node struct {
	// Free is the room for pods of other nodes; nil takes none.
	Free []int64
	// Kind tells apart nodes that admit different classes.
	Kind int32
	// Price is in USD per hour.
	Price float64
	// Pods are those that have to move, each class once.
	Pods []Count
	// There is who is there, whether it moves or not.
	There Company
}

// Company is what pods are to one another. The zero value is company to all.
// Sets are of groups, by number: all of a cluster have the same length.
type Company struct {
	// Of are the groups that they belong to.
	Of []uint64
	// Shuns are the groups of which they share a node with no other pod.
	Shuns []uint64
}

// suits reports whether pods may join others.
func (c Company) suits(others Company) bool {
	for i, s := range c.Shuns {
		if s&others.Of[i]|c.Of[i]&others.Shuns[i] != 0 {
			return false
		}
	}
	return true
}

// Alone reports whether a node has no more than one of the pods.
func (c Company) Alone() bool {
	for i, s := range c.Shuns {
		if s&c.Of[i] != 0 {
			return true
		}
	}
	return false
}

// Class is a group of pods that are alike.
type Class struct {
	// Request is what one of them asks for.
	Request []int64
	// Admits tells for each kind of node whether it admits them.
	Admits []bool
	// Floor is what one of them costs at least on new nodes, in USD per hour.
	// Infinite if no new node can have it.
	Floor float64
	// Company is what they are to other pods.
	Company Company
}

// Cluster is nodes and classes of pods. It does not change while it is in use.
type Cluster struct {
	Nodes   []Node
	Classes []Class
}

// Outcome is the estimate of what becomes of the pods of removed nodes.
type Outcome struct {
	// Moved is how many pods find room on other nodes, and Left how many do not.
	Moved, Left int
	// Rest are those that do not, by class. It is good until the next estimate.
	Rest []Count
	// Floor is what those that are left cost at least, in USD per hour.
	Floor float64
	// Price is that of the nodes.
	Price float64
}

// Place is a number of pods of a class on a node, by its number.
type Place struct {
	Class, Node, Pods int32
}

// Swap is a pod that counts for another class than its own.
type Swap struct {
	Own, Other int32
}

// Saving is the most that removing the nodes can save, as far as the estimate
// goes.
func (o Outcome) Saving() float64 { return o.Price - o.Floor }
