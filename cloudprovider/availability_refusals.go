package cloudprovider

import (
	"container/heap"
	"math"
	"time"
)

// refusal is what is remembered of a scope beyond its mark.
type refusal struct {
	scope Scope
	count int       // refusals in a row, one or more
	until time.Time // when it is forgotten

	// probing says that the mark now on the scope, if any, stands for a probe
	// budget that is used up, not for a refusal.
	probing bool
	// used counts the probes since period began.
	used   int
	period time.Time

	index int
}

// doublings is how many times the next mark is doubled.
func (r *refusal) doublings() int {
	if r == nil {
		return 0
	}
	return r.count - 1
}

// refused counts a refusal and returns what is remembered of the scope, or nil
// if the options have no use for it. Launches that fail while a mark stands had
// been sent before it, so they tell nothing new, unless they were probes.
func (a *Availability) refused(scope Scope, marked bool) *refusal {
	if !a.opts.remembers() {
		return nil
	}
	r, found := a.past.records[scope]
	switch {
	case !found:
		r = a.past.add(scope)
	case (!marked || r.probing) && r.count < math.MaxInt:
		r.count++
	}
	r.used, r.period = 0, time.Time{}
	return r
}

// refusals are the remembered scopes, in a heap by when they are forgotten,
// then by scope.
type refusals struct {
	records map[Scope]*refusal
	queue   refusalQueue
	inUse   [fieldsEnd]int
}

func (p *refusals) add(scope Scope) *refusal {
	r := &refusal{scope: scope, count: 1}
	p.records[scope] = r
	p.inUse[scope.fields()]++
	heap.Push(&p.queue, r)
	return r
}

func (p *refusals) drop(r *refusal) {
	heap.Remove(&p.queue, r.index)
	delete(p.records, r.scope)
	p.inUse[r.scope.fields()]--
}

// advance forgets the refusals whose time is up.
func (p *refusals) advance(now time.Time) {
	for len(p.queue) > 0 && !p.queue[0].until.After(now) {
		p.drop(p.queue[0])
	}
}

func (p *refusals) clear() {
	for len(p.queue) > 0 {
		p.drop(p.queue[0])
	}
}

func (p *refusals) rememberUntil(r *refusal, until time.Time) {
	if until.After(r.until) {
		r.until = until
		heap.Fix(&p.queue, r.index)
	}
}

// covering yields what is remembered of scopes that cover the offering, in an
// order that depends on nothing but the fields in use.
func (p *refusals) covering(key OfferingKey, yield func(*refusal)) {
	if len(p.queue) == 0 {
		return
	}
	for f := range fieldsEnd {
		if p.inUse[f] == 0 {
			continue
		}
		// Two sets of fields give one scope where a field of the key is empty;
		// it counts with the fields that it has.
		if r, found := p.records[key.only(f)]; found && r.scope.fields() == f {
			yield(r)
		}
	}
}

// refusalQueue implements heap.Interface.
type refusalQueue []*refusal

func (q refusalQueue) Len() int { return len(q) }

func (q refusalQueue) Less(i, j int) bool {
	if c := q[i].until.Compare(q[j].until); c != 0 {
		return c < 0
	}
	return q[i].scope.Compare(q[j].scope) < 0
}

func (q refusalQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *refusalQueue) Push(r any) {
	r.(*refusal).index = len(*q)
	*q = append(*q, r.(*refusal))
}

func (q *refusalQueue) Pop() any {
	last := len(*q) - 1
	r := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return r
}
