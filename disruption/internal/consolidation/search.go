package consolidation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/internal/admission"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// Found is the result of a search.
type Found struct {
	// Sets are the sets that may be removed together, in the order in which they were found.
	Sets []*simulation.CandidateSet
	// Waiting are the sets that are worth doing, but may not begin together with Sets.
	Waiting []Waiting
	// Left are the other candidates, sorted by name.
	Left []Left
	// Truncated reports whether MaxSteps ended the search.
	Truncated bool
	// Stats is the work of the simulation so far, except for the work for the reasons of Left.
	Stats simulation.Stats
}

// Waiting is a set that is worth doing but may not begin yet.
type Waiting struct {
	*simulation.CandidateSet
	For *admission.Refusal
}

// Left is a candidate that stays, with the reason.
type Left struct {
	Node   *state.StateNode
	Reason rule.Outcome
}

// Find searches among candidates, the nodes that may be removed, sorted by name. w answers its what-ifs; nothing
// may have been accepted in it yet. rules say what an action must save, and quota counts how many nodes budgets
// let go. The error is that of ctx.
func Find(ctx context.Context, w *simulation.Simulation, candidates []*state.StateNode, rules *Rules, quota *admission.Quota) (*Found, error) {
	s := newSearch(w, candidates, rules, quota)
	defer w.Forget()
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	s.report(ctx)
	done := w.Stats // the work for reasons does not count as search
	if err := s.withoutBudgets(ctx); err != nil {
		return nil, err
	}
	return &Found{Sets: s.sets, Waiting: s.waiting, Left: s.leftAlone(), Truncated: s.truncated, Stats: done}, nil
}

func newSearch(w *simulation.Simulation, candidates []*state.StateNode, rules *Rules, quota *admission.Quota) *search {
	return &search{cluster: w.Cluster, rules: rules, w: w, quota: quota, candidates: candidates,
		reasons: map[string]rule.Outcome{}, refused: map[string][]*state.StateNode{}, waits: map[string]bool{}, tried: map[string]bool{}}
}

// search is the state of one search.
type search struct {
	cluster    *state.Cluster
	rules      *Rules
	w          *simulation.Simulation
	first, e   *estimate.Estimate // at the beginning of the search, and of this pass
	quota      *admission.Quota
	candidates []*state.StateNode         // sorted by name
	sets       []*simulation.CandidateSet // accepted sets
	waiting    []Waiting
	waits      map[string]bool // names of the nodes of waiting
	reasons    map[string]rule.Outcome
	refused    map[string][]*state.StateNode // sets that budgets do not let go together, by setKey
	truncated  bool
	before     int             // number of actions found before this pass
	tried      map[string]bool // setKey of the sets that were tried without success
}

// run runs the search.
func (s *search) run(ctx context.Context) error {
	if s.w.Refused != nil {
		return nil
	}
	for _, m := range s.candidates {
		s.promise(m.Name)
	}
	if len(s.open()) <= exhaustiveLimit {
		if err := s.exhaust(ctx); err != nil {
			return err
		}
		return s.singles(ctx)
	}
	for pass := 0; pass < max(1, min(mostPasses, lookedAt/len(s.cluster.Nodes))); pass++ {
		s.e = s.w.Estimate(s.e)
		if pass == 0 {
			s.first = s.e
		}
		s.before = s.found()
		if err := s.cover(ctx); err != nil {
			return err
		}
		if !s.news() && (pass == 0 || len(s.cluster.Nodes) <= repolished) { // a try takes long on a large cluster
			if err := s.polish(ctx); err != nil {
				return err
			}
		}
		if !s.news() || s.spent() {
			break
		}
	}
	return s.singles(ctx)
}

// mostPasses bounds how often the search begins anew after it found something. Nodes to which pods
// are about to move stay, so later passes find less.
const mostPasses = 2

// repolished is the largest number of nodes for which passes after the first call polish as well.
const repolished = 200

// found returns the number of actions found, and news reports whether this pass found one.
func (s *search) found() int { return len(s.sets) + len(s.waiting) }
func (s *search) news() bool { return s.found() > s.before }

// promise excludes a candidate on which a pending or moving pod was promised a place.
func (s *search) promise(node string) {
	if pod := s.w.Promised[node]; pod != "" && s.reasons[node].Rule == "" {
		s.reasons[node] = rule.Outcome{Rule: rule.Promised, Object: pod, Detail: pod + " is about to come here"}
	}
}

// open lists the candidates that may still be removed.
func (s *search) open() []*state.StateNode {
	var out []*state.StateNode
	for _, m := range s.candidates {
		if s.mayGo(m) {
			out = append(out, m)
		}
	}
	return out
}

func (s *search) mayGo(m *state.StateNode) bool {
	return !s.w.Leaving[m.Name] && s.w.Promised[m.Name] == "" && !s.waits[m.Name]
}

// spent reports whether the steps are used up.
func (s *search) spent() bool {
	if s.w.Stats.Steps >= s.rules.opts.MaxSteps {
		s.truncated = true
	}
	return s.truncated
}

// try simulates the removal of some nodes and accepts the sets that are worth doing. It returns the
// other sets.
func (s *search) try(ctx context.Context, targets []*state.StateNode) ([]*simulation.CandidateSet, error) {
	sets, err := s.ask(ctx, targets, nil)
	if err != nil {
		return nil, err
	}
	if len(targets) >= min(fewTargets, len(s.cluster.Nodes)/refitShare) {
		if sets, err = s.refit(ctx, targets, sets, refitGap); err != nil {
			return nil, err
		}
	}
	var bad []*simulation.CandidateSet
	for _, cs := range bestFirst(sets) {
		if cs.Outcome.Bad() {
			s.remember(cs)
			s.tried[setKey(cs.Targets)] = true
			bad = append(bad, cs)
			continue
		}
		if s.accept(cs); cs.Outcome.Bad() {
			bad = append(bad, cs)
		}
	}
	s.report(ctx)
	return bad, nil
}

// report reports the progress of the search.
func (s *search) report(ctx context.Context) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: simulation.Work, Stage: "search", Done: s.w.Stats.Steps, Total: s.rules.opts.MaxSteps, Unit: "steps",
			Detail: fmt.Sprintf("%d actions that save money", s.found())})
	}
}

// ask simulates the removal of some nodes together and judges the resulting sets. A set is rejected
// if the engine cannot place some pod on the node given for it in places, because the search asked
// for those places.
func (s *search) ask(ctx context.Context, targets []*state.StateNode, places map[types.NamespacedName]string) ([]*simulation.CandidateSet, error) {
	if s.w.Refused != nil {
		return nil, nil
	}
	sets, err := s.w.Try(ctx, targets, places)
	if err != nil {
		return nil, err
	}
	for _, cs := range sets {
		for _, move := range cs.Moves {
			if at := places[state.NameOf(move.Pod)]; at != "" && at != move.Node && !cs.Outcome.Bad() {
				cs.Outcome = rule.Forbid(rule.Unplaced, "%s has no place on Node %q", state.PodObject(move.Pod), at)
			}
		}
	}
	s.judge(sets)
	return sets, nil
}

// setAt returns the nodes of a set. A search tries sets one after the other, and i is the index of the set.
// The result is empty if the search skips the set. allowed reports whether budgets allow a set: search.allowed
// when the turn of the set has come, and Quota.MayLet before.
type setAt func(i int, allowed func([]*state.StateNode) bool) []*state.StateNode

// expect tells the simulation which sets the search is likely to ask about next: of those from first to below
// end, most at most. With one goroutine it does nothing.
func (s *search) expect(ctx context.Context, alone bool, most, first, end int, at setAt) {
	if s.w.Width < 2 {
		return
	}
	var out [][]*state.StateNode
	for i := first; i < end && len(out) < min(most, s.w.Width); i++ {
		if set := at(i, s.quota.MayLet); len(set) > 0 {
			out = append(out, set)
		}
	}
	s.w.Expect(ctx, out, alone)
}

// judge judges sets by their saving, by the number of nodes that one action may remove, and by
// whether they are valid one after the other, together with the sets accepted before.
func (s *search) judge(sets []*simulation.CandidateSet) {
	for _, cs := range sets {
		s.rules.judge(cs)
		if !cs.Outcome.Bad() && len(cs.Targets) > s.rules.opts.MaxNodes {
			cs.Outcome = rule.Forbid(rule.NotCheaper, "%d nodes would have to go together, and one action removes %d at most", len(cs.Targets), s.rules.opts.MaxNodes)
		}
	}
	s.setApart(sets)
}

// accept accepts a set that is worth doing, if its pods can be bound in the state that earlier
// actions leave. A set that has to wait still counts for later sets, except for the effect of its
// pods on constraints. It begins as soon as it may.
func (s *search) accept(cs *simulation.CandidateSet) {
	before := s.w.BindOrder.Mark()
	if ok, tie := s.w.BindOrder.Takes(cs); !ok {
		cs.TurnDown(s.w.BindOrder, tie)
		s.remember(cs)
		return
	}
	cs.After = s.w.BindOrder.After()
	for _, m := range cs.Targets {
		delete(s.reasons, m.Name)
	}
	a := admission.Request{Reason: budgets.Underutilized, Nodes: names(cs.Targets), Replaces: true}
	no, members := s.quota.Admission.Judge(a)
	if no != nil {
		s.w.BindOrder.Rewind(before)
		s.waiting = append(s.waiting, Waiting{cs, no})
		for _, m := range cs.Targets {
			s.waits[m.Name] = true
		}
	} else {
		s.quota.Admission.Pass(a, members)
		s.sets = append(s.sets, cs)
	}
	s.w.CarryOut(cs)
	for _, move := range cs.Moves {
		s.promise(move.Node)
	}
}

// remember records the reason against a set for its nodes. The reason for a node alone takes
// precedence.
func (s *search) remember(cs *simulation.CandidateSet) {
	for _, m := range cs.Targets {
		if _, known := s.reasons[m.Name]; !known || len(cs.Targets) == 1 {
			v := cs.Outcome
			if v.Rule == rule.NotCheaper {
				v.Object = cs.Needy(m)
			}
			s.reasons[m.Name] = v
		}
	}
}

// singles simulates each node alone if nothing else was found that may begin. Pins and estimates
// exclude some valid moves: kube-scheduler does not check the constraints of pods that stay, so a
// constraint may be violated before and after.
func (s *search) singles(ctx context.Context) error {
	if len(s.sets) > 0 || len(s.cluster.Nodes) > MostSingles {
		return nil
	}
	list := s.bySaving(s.open())
	at := func(i int, allowed func([]*state.StateNode) bool) []*state.StateNode {
		if set := list[i : i+1 : i+1]; s.mayGo(list[i]) && allowed(set) && !s.answered(list[i]) {
			return set
		}
		return nil
	}
	for i, m := range list {
		if len(at(i, s.allowed)) == 0 {
			continue
		}
		if s.w.Refused != nil || s.spent() {
			return nil
		}
		s.expect(ctx, true, s.w.Width, i, len(list), at)
		cs, err := s.w.Alone(ctx, m)
		if err != nil || cs == nil {
			return err
		}
		s.judge([]*simulation.CandidateSet{cs})
		if cs.Outcome.Bad() {
			s.remember(cs)
			continue
		}
		if s.accept(cs); !cs.Outcome.Bad() {
			s.quota.Take(m)
		}
	}
	return nil
}

// MostSingles is the largest number of nodes for which each is simulated alone.
const MostSingles = 300

// bySaving returns the nodes that cost more than the required saving, those with the largest
// difference first.
func (s *search) bySaving(nodes []*state.StateNode) []*state.StateNode {
	most := make(map[*state.StateNode]float64, len(nodes))
	var out []*state.StateNode
	for _, m := range nodes {
		price, _ := m.Price()
		if most[m] = price - s.rules.Required([]*state.StateNode{m}); most[m] > simulation.PriceSlack {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *state.StateNode) int {
		return cmp.Or(cmp.Compare(most[b], most[a]), strings.Compare(a.Name, b.Name))
	})
	return out
}

// answered reports whether the engine has already simulated the removal of this node alone with
// none of its pods pinned. The answer would be the same again.
func (s *search) answered(m *state.StateNode) bool {
	return s.tried[setKey([]*state.StateNode{m})] && !slices.ContainsFunc(s.w.Displaced[m.Name], s.w.Pinned)
}

// setApart rejects the sets whose pods could not be bound in their turn, or that exceed limits. The
// best sets are considered first.
func (s *search) setApart(sets []*simulation.CandidateSet) {
	meter, l := simulation.NewLimitsMeter(s.w), s.w.BindOrder
	var left []*simulation.CandidateSet
	for _, cs := range bestFirst(sets) {
		if cs.Outcome.Bad() {
			continue
		}
		if full := meter.Takes(cs); full != nil {
			cs.Limited(full)
			continue
		}
		left = append(left, cs)
	}
	start := l.Mark()
	for _, cs := range left {
		if ok, tie := l.Takes(cs); !ok {
			cs.TurnDown(l, tie)
		}
	}
	l.Rewind(start)
}

// bestFirst returns the sets sorted by CandidateSet.Worth, largest first.
func bestFirst(sets []*simulation.CandidateSet) []*simulation.CandidateSet {
	out := slices.Clone(sets)
	slices.SortStableFunc(out, func(a, b *simulation.CandidateSet) int {
		return cmp.Compare(b.Worth(), a.Worth())
	})
	return out
}
