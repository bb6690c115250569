package repair

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
)

// keepOffSpot takes the spot options off new nodes that have others too, where
// Options want that: nodes with pods that are to come on other capacity, and nodes
// that name too few instance types to count on spot. The packer sees to both while
// it has a choice; this is for pods that found their place when it had none.
func (st *State) keepOffSpot() {
	p := st.p
	if p.Opts.CapacityMix == nil && p.Flexible == nil {
		return
	}
	few, steady := map[*ledger.BinType]bool{}, st.withoutSpot()
	for _, s := range st.New {
		tooFew, ok := few[s.BinType]
		if !ok {
			tooFew = tooFewKinds(p, s.BinType.Options)
			few[s.BinType] = tooFew
		}
		if !tooFew && !st.avoidsSpot(s) {
			continue
		}
		s.BinType = steady(s.BinType)
	}
	if p.Opts.CapacityMix != nil {
		st.evenMix()
	}
}

// mixed is a group of pods that CapacityMix divides, as far as they have a place:
// those that ask the same of their nodes and have the same constraints.
type mixed struct {
	placed, steady int
	bins           []int // new nodes that may be spot and could do without
	pods           []int // of the group on each
}

// evenMix takes the spot options off more nodes where a group has too few pods on
// other capacity: some of those that were to be there found a place on spot only.
func (st *State) evenMix() {
	groups, of := st.mixedGroups()
	bare, steady := make([]*ledger.BinType, len(st.New)), st.withoutSpot()
	for i, s := range st.New {
		bare[i] = steady(s.BinType)
		spot := maySpot(st.p, s.BinType.Options)
		for _, podID := range s.PodIDs {
			g := of[st.p.ClassOf[podID]]
			if g < 0 {
				continue
			}
			groups[g].placed++
			if !spot {
				groups[g].steady++
			} else if bare[i] != s.BinType {
				groups[g].on(i)
			}
		}
	}
	for g := range groups {
		group := &groups[g]
		for group.steady < compile.OnDemand(st.p.Opts.CapacityMix, group.placed) && len(group.bins) > 0 {
			best, least := -1, math.Inf(1)
			for k, i := range group.bins {
				if more := (bare[i].Price() - st.New[i].BinType.Price()) / float64(group.pods[k]); more < least {
					best, least = k, more
				}
			}
			i := group.bins[best]
			st.New[i].BinType = bare[i]
			for h := range groups {
				groups[h].takeOffSpot(i)
			}
		}
	}
}

// on notes a pod of the group on a new node that has a choice.
func (m *mixed) on(bin int) {
	if n := len(m.bins); n == 0 || m.bins[n-1] != bin {
		m.bins, m.pods = append(m.bins, bin), append(m.pods, 0)
	}
	m.pods[len(m.pods)-1]++
}

// takeOffSpot notes that a new node is not launched as spot any more.
func (m *mixed) takeOffSpot(bin int) {
	if k := slices.Index(m.bins, bin); k >= 0 {
		m.steady += m.pods[k]
		m.bins, m.pods = slices.Delete(m.bins, k, k+1), slices.Delete(m.pods, k, k+1)
	}
}

// mixedGroups groups the classes, -1 for those that no mix is wanted of, and counts
// their pods on nodes that exist.
func (st *State) mixedGroups() (groups []mixed, of []int) {
	of = make([]int, len(st.p.Classes))
	index := map[string]int{}
	for c := range st.p.Classes {
		class := &st.p.Classes[c]
		of[c] = -1
		if class.Refusal != nil || class.Headroom {
			continue
		}
		key := mixKey(class)
		g, ok := index[key]
		if !ok {
			g = len(groups)
			index[key] = g
			groups = append(groups, mixed{})
		}
		of[c] = g
	}
	for _, podIDs := range st.Bound {
		for _, podID := range podIDs {
			if g := of[st.p.ClassOf[podID]]; g >= 0 {
				groups[g].placed++
				groups[g].steady++
			}
		}
	}
	return groups, of
}

// mixKey is the same for classes that CapacityMix divides together. Volumes and
// devices, and what they ask of nodes, are not in it.
func mixKey(c *workload.Class) string {
	var b strings.Builder
	for _, alt := range c.Asked {
		fmt.Fprintf(&b, "%s %v|", alt.Set, alt.NodeNames)
	}
	fmt.Fprint(&b, c.Requests)
	for _, h := range c.Holds {
		if !kinds.IsDisk(h) {
			fmt.Fprintf(&b, " %v", h)
		}
	}
	for _, t := range c.Tolerations {
		fmt.Fprintf(&b, " %q", []string{t.Key, string(t.Operator), t.Value, string(t.Effect)})
	}
	for _, t := range c.Terms {
		if t.Weight == 0 && !t.Storage {
			fmt.Fprintf(&b, " %v", t)
		}
	}
	return b.String()
}

// avoidsSpot says whether a pod on a new node is to come on other capacity.
func (st *State) avoidsSpot(s *ledger.Bin) bool {
	return slices.ContainsFunc(s.PodIDs, func(podID int32) bool { return st.p.Classes[st.p.ClassOf[podID]].NoSpot })
}

// withoutSpot takes the spot options off bin types, off each once: none off one that has no
// others, or too few for the minValues of its pool.
func (st *State) withoutSpot() func(*ledger.BinType) *ledger.BinType {
	known := map[*ledger.BinType]*ledger.BinType{}
	return func(s *ledger.BinType) *ledger.BinType {
		out, ok := known[s]
		if ok {
			return out
		}
		out = s
		if rest := st.p.SteadyOptions(s.Options); !rest.Empty() && !rest.Equal(s.Options) && (s.Relaxed || st.p.Choice(s.Pool, rest, s.Trait)) {
			out = st.NewBinType(s.Pool, rest, s.Trait, s.Asked, s.Relaxed)
		}
		known[s] = out
		return out
	}
}
