package repair

import (
	"cmp"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/attempt"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// exchangeLooks bounds the work of exchanges: looks at a node for a pod, and nodes put
// back after an exchange that was in vain.
const exchangeLooks = 800

// exchangeSome takes all pods off a node that exists and off one or two new nodes at once,
// and places those of the new nodes first: what was put on nodes that exist before it
// was known what has to be bought may be in the place of pods that cost more. It does
// so as long as that makes the plan cheaper, and says whether it did.
func (k *eliminator) exchangeSome() bool {
	if k.p.Skips(model.Exchange) {
		return false
	}
	k.left = k.looks(exchangeLooks)
	some := false
	for k.left > 0 && k.exchangeOnce() {
		some = true
	}
	if k.p.Limited() {
		k.left = k.looks(exchangeLooks)
		for k.left > 0 && k.exchangeForLimits() {
			some = true
		}
	}
	return some
}

// exchangeOnce tries each new node, and then each two of them, those first that waste
// most, until the plan is cheaper, and says whether it is.
func (k *eliminator) exchangeOnce() bool {
	fresh := k.worthTrying()
	for _, s := range fresh {
		if k.exchangeAny(s) {
			return true
		}
	}
	for i, s := range fresh {
		for _, t := range fresh[:i] {
			if k.exchangeAny(s, t) || k.exchangeAny(t, s) {
				return true
			}
			if k.left <= 0 {
				return false
			}
		}
	}
	return false
}

// worthTrying lists the new nodes that are worth a try, those first that waste most.
func (k *eliminator) worthTrying() []*ledger.Bin {
	total := 0.0
	for _, s := range k.st.New {
		total += k.priced(s)
	}
	fresh := slices.DeleteFunc(slices.Clone(k.st.New), func(s *ledger.Bin) bool {
		return s.BinType.Price() <= 0 || k.priced(s) < total*eliminationShare
	})
	waste := func(s *ledger.Bin) float64 { return k.priced(s) * (1 - k.used(s)) }
	slices.SortStableFunc(fresh, func(x, y *ledger.Bin) int { return -cmp.Compare(waste(x), waste(y)) })
	return fresh
}

// exchangeAny tries an exchange of new nodes with each node that exists and has pods of
// the plan, and says whether one made the plan cheaper.
func (k *eliminator) exchangeAny(shut ...*ledger.Bin) bool {
	for i := range k.p.Nodes {
		if len(k.bins[i].PodIDs) == 0 || !k.admitsAny(i, shut) {
			continue
		}
		if k.left -= len(k.bins); k.left <= 0 {
			return false
		}
		if k.exchange(append(slices.Clone(shut), k.bins[i])) && k.accept() {
			return true
		}
		k.restore()
	}
	return false
}

// exchangeForLimits takes all pods off a new node, and off the emptiest of a pool whose
// limits keep pods of that node out of it, one more at a time: small nodes that are cheap by
// themselves may use up limits of which larger ones would leave some. It does so until the
// plan is cheaper, and says whether it is.
func (k *eliminator) exchangeForLimits() bool {
	limited := k.limitedPools()
	for _, s := range k.worthTrying() {
		for _, l := range limited {
			if l.pool == s.BinType.Pool || !k.suitsAny(s, l.out) {
				continue
			}
			shut := []*ledger.Bin{s}
			for _, t := range l.emptiest {
				if k.left -= len(k.bins); k.left <= 0 {
					return false
				}
				if shut = append(shut, t); k.exchange(shut) && k.accept() {
					return true
				}
				k.restore()
			}
		}
	}
	return false
}

// limitedPool is a pool with limits and new nodes.
type limitedPool struct {
	pool     int
	out      bitset.Set    // options that its limits do not leave beside the plan
	emptiest []*ledger.Bin // its new nodes of which least is used
}

// exchangeNodes is how many new nodes of a pool with limits are taken out of it at once.
const exchangeNodes = 4

// limitedPools lists the pools with limits that have new nodes.
func (k *eliminator) limitedPools() (out []limitedPool) {
	for pool := range k.p.LowPools {
		low := &k.p.LowPools[pool]
		if low.Limits == nil {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(k.st.New), func(s *ledger.Bin) bool { return s.BinType.Pool != pool })
		if len(of) == 0 {
			continue
		}
		slices.SortStableFunc(of, func(x, y *ledger.Bin) int { return cmp.Compare(k.used(x), k.used(y)) })
		l := limitedPool{pool, bitset.New(len(k.p.LowOptions)), of[:min(len(of), exchangeNodes)]}
		l.out.AddRange(low.First, low.Last)
		l.out.AndNot(k.withinLimits(pool))
		out = append(out, l)
	}
	return out
}

// suitsAny says whether some of some options suit a pod of a new node.
func (k *eliminator) suitsAny(s *ledger.Bin, options bitset.Set) bool {
	return slices.ContainsFunc(s.Pods, func(m attempt.Bundled) bool { return k.p.Admission.Lowered(m.Class).Overlaps(options) })
}

// admitsAny says whether a node that exists would take some pod of new nodes, if it had
// no others.
func (k *eliminator) admitsAny(node int, fresh []*ledger.Bin) bool {
	n := &k.p.Nodes[node]
	return slices.ContainsFunc(fresh, func(s *ledger.Bin) bool {
		return slices.ContainsFunc(s.Pods, func(m attempt.Bundled) bool {
			return k.p.Admits(m.Class, n) && compile.Within(k.p.OfResources(k.p.Requests[m.Class]), n.Free)
		})
	})
}

// exchange takes all pods off some nodes, of which new ones are shut, and finds other places
// for all, for less than the new nodes cost: for the pods of the first node first, and of a
// node for the largest first. It says whether there are any.
func (k *eliminator) exchange(of []*ledger.Bin) bool {
	k.budget = 0
	var podIDs []int32
	tiers := map[int32]int{}
	for _, s := range of {
		if s.Node < 0 {
			k.budget += k.priced(s) * (1 - 1e-9)
		}
		for _, podID := range k.vacate(s) {
			tiers[podID] = k.tierOn(s, k.p.ClassOf[podID])
			podIDs = append(podIDs, podID)
		}
	}
	for _, podID := range podIDs {
		if k.tier = tiers[podID]; !k.place(podID, nil) {
			return false
		}
	}
	return true
}
