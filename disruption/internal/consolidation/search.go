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

// Input is what a search looks at.
type Input struct {
	// Cluster is the cluster as it was observed.
	Cluster *state.Cluster
	// Candidates are the nodes that may go, by name.
	Candidates []*state.StateNode
	// Rules say what an action must save.
	Rules *Rules
	// Quota says how many nodes budgets let go.
	Quota *admission.Quota
	// Simulation is asked; nothing has been found in it yet.
	Simulation *simulation.Simulation
}

// Found is the answer of a search.
type Found struct {
	// Sets are those that may be removed together, in the order in which they were found.
	Sets []*simulation.CandidateSet
	// Waiting are worth doing, and may not begin beside those.
	Waiting []Waiting
	// Left are the other candidates, by name.
	Left []Left
	// Truncated says that MaxSteps ended the search.
	Truncated bool
	// Stats is the work of the simulation so far, without what the reasons of Left took.
	Stats simulation.Stats
}

// Waiting is worth doing and may not begin.
type Waiting struct {
	*simulation.CandidateSet
	For *admission.Refusal
}

// Left is a candidate that stays, and why.
type Left struct {
	Node   *state.StateNode
	Reason rule.Outcome
}

// Find searches. The error is that of ctx.
func Find(ctx context.Context, in Input) (*Found, error) {
	s := newSearch(in)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	s.report(ctx)
	done := s.w.Stats // what reasons take is not search
	if err := s.withoutBudgets(ctx); err != nil {
		return nil, err
	}
	return &Found{Sets: s.sets, Waiting: s.waiting, Left: s.leftAlone(), Truncated: s.truncated, Stats: done}, nil
}

func newSearch(in Input) *search {
	return &search{cluster: in.Cluster, rules: in.Rules, w: in.Simulation, quota: in.Quota, candidates: in.Candidates,
		reasons: map[string]rule.Outcome{}, refused: map[string][]*state.StateNode{}, waits: map[string]bool{}, tried: map[string]bool{}}
}

// search is one run.
type search struct {
	cluster    *state.Cluster
	rules      *Rules
	w          *simulation.Simulation
	first, e   *estimate.Estimate // as things were, and when this pass began
	quota      *admission.Quota
	candidates []*state.StateNode         // by name
	sets       []*simulation.CandidateSet // accepted
	waiting    []Waiting
	waits      map[string]bool // nodes of waiting
	reasons    map[string]rule.Outcome
	refused    map[string][]*state.StateNode // sets that budgets do not let go together, by setKey
	truncated  bool
	before     int             // actions that were found before this pass
	tried      map[string]bool // sets that were tried in vain, by setKey
}

// run searches.
func (s *search) run(ctx context.Context) error {
	if s.w.Refused != nil {
		return nil
	}
	s.promises()
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

// mostPasses bounds how often the search begins anew where it found something:
// the nodes that pods are about to come to stay, so that later passes find less.
const mostPasses = 2

// repolished is up to how many nodes later passes polish as well.
const repolished = 200

// found is how many actions were found, and news whether this pass found one.
func (s *search) found() int { return len(s.sets) + len(s.waiting) }
func (s *search) news() bool { return s.found() > s.before }

// promises leaves nodes alone that pods elsewhere need.
func (s *search) promises() {
	for _, m := range s.candidates {
		s.promise(m.Name)
	}
}

func (s *search) promise(node string) {
	if pod := s.w.Promised[node]; pod != "" && s.reasons[node].Rule == "" {
		s.reasons[node] = rule.Outcome{Rule: rule.Promised, Object: pod, Detail: pod + " is about to come here"}
	}
}

// open lists the candidates that may still go.
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

// try asks about some nodes and accepts the sets that are worth doing. It
// returns those that are not.
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

// report says how far the search has come.
func (s *search) report(ctx context.Context) {
	if report := progress.From(ctx); report != nil {
		report(progress.Event{Work: simulation.Work, Stage: "search", Done: s.w.Stats.Steps, Total: s.rules.opts.MaxSteps, Unit: "steps",
			Detail: fmt.Sprintf("%d actions that save money", s.found())})
	}
}

// ask judges the sets that some nodes make that are removed together. A set with a pod that
// does not hold where the engine is to try it first is turned down: it is not what was looked
// for.
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

// judge judges sets, also by how many nodes one action may remove, and whether they
// hold one after the other, beside what was accepted before.
func (s *search) judge(sets []*simulation.CandidateSet) {
	for _, cs := range sets {
		s.rules.judge(cs)
		if !cs.Outcome.Bad() && len(cs.Targets) > s.rules.opts.MaxNodes {
			cs.Outcome = rule.Forbid(rule.NotCheaper, "%d nodes would have to go together, and one action removes %d at most", len(cs.Targets), s.rules.opts.MaxNodes)
		}
	}
	s.setApart(sets)
}

// accept takes a set that is worth doing, if its pods can land in the state that what
// begins before it leaves. One that has to wait is counted on all the same, but for what
// its pods do to constraints: it begins as soon as it may.
func (s *search) accept(cs *simulation.CandidateSet) {
	before := len(s.w.Landing.Undo)
	if ok, tie := s.w.Landing.Takes(cs); !ok {
		cs.TurnDown(s.w.Landing, tie)
		s.remember(cs)
		return
	}
	cs.After = s.w.Landing.After()
	for _, m := range cs.Targets {
		delete(s.reasons, m.Name)
	}
	a := admission.Request{Reason: budgets.Underutilized, Nodes: names(cs.Targets), Replaces: true}
	no, members := s.quota.Admission.Judge(a)
	if no != nil {
		s.w.Landing.Rewind(before)
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

// remember keeps the reason against a set for its nodes. What was found of a
// node alone says most.
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

// singles asks about each node alone once nothing else was found that may begin. Pins and estimates
// leave out ways that there are: kube-scheduler asks nothing of pods that stay, so that
// a constraint may be broken before and after.
func (s *search) singles(ctx context.Context) error {
	if len(s.sets) > 0 || len(s.cluster.Nodes) > mostSingles {
		return nil
	}
	for _, m := range s.bySaving(s.open()) {
		if !s.mayGo(m) || !s.allowed([]*state.StateNode{m}) || s.answered(m) {
			continue
		}
		if s.w.Refused != nil || s.spent() {
			return nil
		}
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

// AsksSingles reports whether each node of so many is asked about alone, if nothing else is
// found.
func AsksSingles(nodes int) bool { return nodes <= mostSingles }

// mostSingles is up to how many nodes each is asked about alone.
const mostSingles = 300

// bySaving sorts nodes by what they cost above what is asked for, the dearest first,
// without those that cannot save as much as that.
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

// answered reports whether the engine was asked about a node by itself, and none of its
// pods was pinned: it would say the same again.
func (s *search) answered(m *state.StateNode) bool {
	if !s.tried[setKey([]*state.StateNode{m})] {
		return false
	}
	for _, p := range s.w.Displaced[m.Name] {
		if !slices.ContainsFunc(m.PodViews, func(v *state.PodView) bool { return v.Pod == p }) {
			return false
		}
	}
	return true
}

// setApart turns down the sets whose pods could not land in their turn, or that limits
// leave no room for, the best of them being served first.
func (s *search) setApart(sets []*simulation.CandidateSet) {
	meter, l := simulation.NewLimitsMeter(s.w), s.w.Landing
	var left []*simulation.CandidateSet
	for _, cs := range bestFirst(sets) {
		if cs.Outcome.Bad() {
			continue
		}
		if full := meter.Takes(cs); full != nil {
			cs.Limited(full)
			continue
		}
		l.Read(cs)
		left = append(left, cs)
	}
	start := len(l.Undo)
	for _, cs := range left {
		if ok, tie := l.Takes(cs); !ok {
			cs.TurnDown(l, tie)
		}
	}
	l.Rewind(start)
}

// bestFirst sorts sets by what they are worth.
func bestFirst(sets []*simulation.CandidateSet) []*simulation.CandidateSet {
	out := slices.Clone(sets)
	slices.SortStableFunc(out, func(a, b *simulation.CandidateSet) int {
		return cmp.Compare(b.Worth(), a.Worth())
	})
	return out
}
