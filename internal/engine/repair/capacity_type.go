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

// keepOffSpot removes the spot options of new nodes that have other options too, where Options
// require that: nodes with pods that CapacityMix assigns to other capacity, and nodes with too few
// instance types for spot. The packer observes both while it has a choice. This function corrects
// nodes whose pods were placed when it had none.
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
		if tooFew || st.avoidsSpot(s) {
			s.BinType = steady(s.BinType)
		}
	}
	if p.Opts.CapacityMix != nil {
		st.evenMix()
	}
}

// mixed is a group of pods that CapacityMix divides, restricted to pods with a place. The pods of a
// group have the same node requirements and the same constraints.
type mixed struct {
	placed, steady int
	bins           []int // new nodes that may be spot and have other options
	pods           []int // by entry of bins: pods of the group on it
}

// evenMix removes the spot options of further nodes where a group has too few pods on other
// capacity, because some of the pods assigned to other capacity found a place on spot only.
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

// on records a pod of the group on a new node that may be spot and has other options.
func (m *mixed) on(bin int) {
	if n := len(m.bins); n == 0 || m.bins[n-1] != bin {
		m.bins, m.pods = append(m.bins, bin), append(m.pods, 0)
	}
	m.pods[len(m.pods)-1]++
}

// takeOffSpot records that a new node is no longer launched as spot.
func (m *mixed) takeOffSpot(bin int) {
	if k := slices.Index(m.bins, bin); k >= 0 {
		m.steady += m.pods[k]
		m.bins, m.pods = slices.Delete(m.bins, k, k+1), slices.Delete(m.pods, k, k+1)
	}
}

// mixedGroups divides the classes into groups and counts their pods on existing nodes. of is, by
// class, the index of its group, -1 if CapacityMix does not apply to the class.
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

// mixKey is equal for classes that CapacityMix divides as one group. It leaves out volumes and
// devices, and what these require of nodes.
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

// avoidsSpot says whether CapacityMix assigns a pod on a new node to other capacity than spot.
func (st *State) avoidsSpot(s *ledger.Bin) bool {
	return slices.ContainsFunc(s.PodIDs, func(podID int32) bool { return st.p.Classes[st.p.ClassOf[podID]].NoSpot })
}

// withoutSpot returns a function that removes the spot options of a bin type. The function returns
// the bin type unchanged if it has no other options, or too few for the minValues of its pool.
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
