package disruption

// hostStand is what parts do to a topology spread over the name of the node. While a
// node is emptied it is a domain without pods, so that pods with the spread may come
// where there are no more than maxSkew by then. Pods that the spread counts, and that do
// not have it, may come there with another part first.
type hostStand struct {
	counted map[string]int // by node: pods there before any part or action
	known   bool
	come    map[string]int // those that come by some part
	owners  map[string]int // those that have the spread
}

// hostMoves are the pods that a part takes to nodes that there are, by number of the
// spread.
func (b *balance) hostMoves(pt *part) map[int]*hostStand {
	var out map[int]*hostStand
	at := func(number int) *hostStand {
		if out == nil {
			out = map[int]*hostStand{}
		}
		if out[number] == nil {
			out[number] = &hostStand{}
		}
		return out[number]
	}
	if len(b.c.hosts.list) == 0 {
		return nil
	}
	for _, move := range pt.moves {
		if move.Node == "" {
			continue // nobody else comes there
		}
		kind := b.c.kinds.of(move.Pod)
		for _, number := range b.c.inHosts(kind) {
			more(&at(number).come, move.Node, 1)
		}
		for _, own := range b.c.facts(kind).hosts {
			if number, known := b.c.hosts.numbers[own.text]; known {
				more(&at(number).owners, move.Node, 1)
			}
		}
	}
	return out
}

// crowds reports whether a part and those before it bring more pods to a node than pods
// with a spread may find there when their turn comes.
func (b *balance) crowds(part map[int]*hostStand) bool {
	for number, e := range part { // each by itself: the order does not matter
		s := b.hostStand(number)
		for _, nodes := range []map[string]int{e.come, e.owners} {
			for node := range nodes { // each by itself: the order does not matter
				if s.owners[node]+e.owners[node] == 0 {
					continue
				}
				s.count(b.c, number)
				there := s.counted[node] + s.come[node] + e.come[node]
				if s.come[node]+s.owners[node] == 0 { // it can let those with the spread go first
					there = s.counted[node] + min(e.come[node], e.owners[node])
				}
				if there > b.c.hosts.list[number].skew {
					return true
				}
			}
		}
	}
	return false
}

func (b *balance) hostStand(number int) *hostStand {
	s := b.hostStands[number]
	if s == nil {
		s = &hostStand{}
		b.hostStands[number] = s
	}
	return s
}

// add counts a part in.
func (s *hostStand) add(e *hostStand) {
	for node, n := range e.come { // each by itself: the order does not matter
		more(&s.come, node, n)
	}
	for node, n := range e.owners {
		more(&s.owners, node, n)
	}
}

// begin notes an action that is decided already: in the world its pods are where it
// takes them.
func (s *hostStand) begin(c *spreadCensus, number int, e *hostStand) {
	s.count(c, number)
	for node, n := range e.come { // each by itself: the order does not matter
		more(&s.counted, node, -n)
	}
	s.add(e)
}

// count counts the pods on the nodes, once.
func (s *hostStand) count(c *spreadCensus, number int) {
	if s.known {
		return
	}
	s.known = true
	of := c.hosts.list[number]
	for _, p := range c.among(&of.pods) {
		if of.counts(p.pod) {
			more(&s.counted, p.node.Name, 1)
		}
	}
}
