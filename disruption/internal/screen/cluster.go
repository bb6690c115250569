package screen

// Count is a number of pods of a class.
type Count struct {
	Class int32
	Pods  int32
}

// Node is a node, with the pods that have to move when it is removed.
type Node struct {
	// Free is the room for pods of other nodes. A node with nil takes none.
	Free []int64
	// Kind is equal for nodes that admit the same classes; see Class.Admits.
	Kind int32
	// Price is in USD per hour.
	Price float64
	// Pods are the pods that have to move, each class once.
	Pods []Count
	// There is the anti-affinity of all pods on the node, whether they move or not.
	There AntiAffinity
}

// AntiAffinity describes the anti-affinity of pods as sets of groups, by the number of the group.
// With the zero value, pods may share a node with all others. All sets of a cluster have the same
// length.
type AntiAffinity struct {
	// Of are the groups to which the pods belong.
	Of []uint64
	// Excludes are the groups whose pods may not share a node with these pods.
	Excludes []uint64
}

// compatible reports whether pods may share a node with others.
func (c AntiAffinity) compatible(others AntiAffinity) bool {
	for i, s := range c.Excludes {
		if s&others.Of[i]|c.Of[i]&others.Excludes[i] != 0 {
			return false
		}
	}
	return true
}

// Alone reports whether a node can have only one of the pods, because they exclude their own group.
func (c AntiAffinity) Alone() bool {
	for i, s := range c.Excludes {
		if s&c.Of[i] != 0 {
			return true
		}
	}
	return false
}

// Class is a group of pods with equal requirements.
type Class struct {
	// Request is the request of one pod.
	Request []int64
	// Admits tells for each kind of node whether it admits the pods.
	Admits []bool
	// Floor is a lower bound on the price of one pod on new nodes, in USD per hour. It is infinite
	// if no new node can have the pod.
	Floor float64
	// AntiAffinity is the anti-affinity of the pods.
	AntiAffinity AntiAffinity
}

// Cluster has the nodes and the classes of pods. It does not change while it is in use.
type Cluster struct {
	Nodes   []Node
	Classes []Class
}

// Outcome is the estimate for the pods of removed nodes.
type Outcome struct {
	// Moved is the number of pods that fit on other nodes, and Left the number of those that do
	// not.
	Moved, Left int
	// Rest are the pods that do not fit, by class. It is valid until the next estimate.
	Rest []Count
	// Floor is a lower bound on the price of new nodes for the pods in Rest, in USD per hour.
	Floor float64
	// Price is the price of the removed nodes, in USD per hour.
	Price float64
}

// Place is a number of pods of a class on a node, which is given by number.
type Place struct {
	Class, Node, Pods int32
}

// Swap says that one pod of class Own counts as one of class Other.
type Swap struct {
	Own, Other int32
}

// Saving returns an upper bound on what removing the nodes saves, by the estimate, in USD per hour.
func (o Outcome) Saving() float64 { return o.Price - o.Floor }
