package disruption

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// simulate finds out what actions have to launch that replace nodes of dynamic
// pools: those of Drift and Repair, and of Interruption for a recommendation. It
// returns all actions in the same order, these with Simulated, Replacements,
// Moves, Savings, DisruptionCost and a Detail that sums them up, and less those
// whose pods would find no place, which are Blocked by ruleUnplaced. Capacity for pods that nothing can
// evict is launched as well, as they will need it when the drain is ended by
// force.
//
// All are thought of as done together, on a cluster where the other actions are
// under way. Each has replacements of its own, and its pods may go where Moves say in
// the state that those before it leave; Action.After names those that it needs. Pods
// with a topology spread, affinity or anti-affinity over zones that must hold, and pods
// that such affinity selects, stay in their zones where they can, so that most actions
// need none. What holds in no such order is Blocked by ruleNotSearched: ask again once the
// others are done. If none of them could begin so, one does that can by itself. Neither prices nor consolidation policies play a part, but
// Options.Consolidation.NoReplacements does not hold.
//
// Where the pods of a node would find no place, but would if the node gave its
// place in a reservation back, it is terminated first (StepCause
// NoReservedCapacity) if Options.Drift.TerminateFirst or Options.Repair.TerminateFirst let
// that be. It is looked at by itself, and is not Simulated: where its pods go is
// for the next plan.
//
// The error is that of ctx, once that is done.
//
// Of nodes that are tied no pod goes to those that are about to go.
func (f *Cluster) simulate(ctx context.Context, actions []Action, tied []Blocked) (Result, error) {
	var others, wanted []Action
	for _, a := range actions {
		if f.simulatable(a) {
			wanted = append(wanted, a)
		} else {
			others = append(others, a)
		}
	}
	if len(wanted) == 0 {
		return Result{Actions: actions}, ctx.Err()
	}
	w, err := newSimulation(ctx, f.withReplacements().pinnedAt(wanted), others)
	if err != nil {
		return Result{}, err
	}
	found, verdicts, err := w.replace(ctx, wanted, tied)
	if err != nil {
		return Result{}, err
	}
	var r Result
	for _, a := range actions {
		t := Target{}
		if f.simulatable(a) {
			t = a.Targets[0]
		}
		if v := verdicts[t]; v.bad() {
			if v.rule != ruleNotSearched { // else it waits for others
				first, ok, err := f.terminateReserved(ctx, a)
				if err != nil {
					return Result{}, err
				}
				if ok {
					r.Actions = append(r.Actions, first)
					continue
				}
			}
			r.Blocked = append(r.Blocked, Blocked{Target: t, Method: methodOf(a.Reason), Code: v.rule.code(), rule: v.rule, Object: v.object, Detail: v.detail})
			continue
		}
		if pt := found[t]; pt != nil {
			a = pt.completes(a)
		}
		r.Actions = append(r.Actions, a)
	}
	r.Actions = inOrder(r.Actions)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	return r, nil
}

// replace finds what becomes of the pods of actions, and what speaks against each.
func (w *simulation) replace(ctx context.Context, wanted []Action, tied []Blocked) (map[Target]*candidateSet, map[Target]outcome, error) {
	found, verdicts := map[Target]*candidateSet{}, map[Target]outcome{}
	if w.refused == nil {
		r := replacements{w: w, found: found}
		for _, b := range tied {
			r.close(b.Node)
		}
		if err := r.find(ctx, wanted); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range wanted {
		t := a.Targets[0]
		switch pt := found[t]; {
		case pt == nil:
			verdicts[t] = forbid(ruleNotSimulated, "the cluster cannot be planned for: %v", w.refusal())
		case pt.outcome.bad():
			verdicts[t] = pt.outcome
		}
	}
	return found, verdicts, nil
}

// completes adds to an action what was found for it.
func (pt *candidateSet) completes(a Action) Action {
	done := pt.action(a.Reason)
	a.Simulated, a.Replacements, a.Moves, a.Savings, a.DisruptionCost = true, done.Replacements, done.Moves, done.Savings, done.DisruptionCost
	a.After = done.After
	if text := pt.destinations().String(); text != "" {
		a.Detail += "; " + text
	}
	return a
}

// withReplacements is the cluster with an engine that may launch nodes.
func (f *Cluster) withReplacements() *Cluster {
	if !f.opts.Consolidation.NoReplacements {
		return f
	}
	free := *f
	free.opts.Consolidation.NoReplacements = false
	return &free
}

func (w *simulation) refusal() string {
	if w.refused == nil {
		return "it has not such a node"
	}
	return firstLine(w.refused)
}

// simulatable reports whether an action of a rule replaces one node of a dynamic
// pool.
func (f *Cluster) simulatable(a Action) bool {
	if a.Step != Replace || a.Simulated || len(a.Targets) != 1 {
		return false
	}
	m := f.byName[a.Targets[0].Node]
	return m != nil && m.pool != nil && !m.pool.static() && !m.marked()
}

// takeApart gives each node of some parts replacements of its own: the pods that
// have a place on nodes that stay keep it, and the others are simulated node by
// node.
func (w *simulation) takeApart(ctx context.Context, shared []*candidateSet, found map[Target]*candidateSet) error {
	if len(shared) == 0 {
		return nil
	}
	kept := map[string][]Move{} // by node that goes
	alone := *w
	alone.in.Nodes = slices.Clone(w.in.Nodes)
	alone.displaced, alone.promised = map[string][]*corev1.Pod{}, map[string]string{}
	for i, n := range alone.in.Nodes {
		alone.in.Nodes[i] = closedNode(n)
	}
	var targets []*stateNode
	for _, pt := range shared {
		placed := map[string]bool{}
		for _, move := range pt.moves {
			if move.Node != "" {
				kept[move.From] = append(kept[move.From], move)
				placed[podObject(move.Pod)] = true
				alone.bind(move.Node, move.Pod)
			}
		}
		for _, m := range pt.targets {
			targets = append(targets, m)
			has := func(p *corev1.Pod) bool { return p != nil && placed[podObject(p)] }
			entry := &alone.in.Nodes[alone.at[m.name]]
			entry.Pods = slices.DeleteFunc(slices.Clone(entry.Pods), has)
			alone.displaced[m.name] = slices.DeleteFunc(slices.Clone(w.displaced[m.name]), has)
		}
	}
	for _, m := range targets {
		if alone.refused != nil {
			break
		}
		parts, err := alone.try(ctx, []*stateNode{m})
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			continue
		}
		pt := parts[0]
		if !pt.outcome.bad() {
			alone.reserve(m.name, pt.nodes)
		}
		pt.moves = append(pt.moves, kept[m.name]...)
		slices.SortFunc(pt.moves, func(a, b Move) int { return comparePods(a.Pod, b.Pod) })
		found[m.target()] = pt
	}
	w.stats, w.refused = alone.stats, alone.refused
	return nil
}

// admitSimulated says which actions begin, with what they have to launch. Where
// one is blocked others may begin in its stead.
func (f *Cluster) admitSimulated(ctx context.Context, actions []Action) (admitted, []Blocked, error) {
	wanted := actions
	var blocked, tied []Blocked
	for round := 0; ; round++ {
		pacing := f.admit(actions)
		r, err := f.simulate(ctx, pacing.Go, tied)
		if err != nil {
			return admitted{}, nil, err
		}
		blocked = append(blocked, r.Blocked...)
		waits := waitingForOthers(r.Blocked)
		tied = append(tied, waits...)
		if len(r.Blocked) == 0 || round == mostRepaced || len(pacing.Wait) == 0 && len(waits) == len(r.Blocked) {
			pacing.Go = r.Actions
			if len(blocked) > 1 && !slices.ContainsFunc(r.Actions, isReplacement) {
				return f.oneOf(ctx, wanted, pacing, blocked)
			}
			return pacing, blocked, nil
		}
		failed := map[string]bool{}
		for _, b := range r.Blocked {
			failed[fmt.Sprint(b.Method, b.Target)] = true
		}
		actions = slices.DeleteFunc(slices.Clone(actions), func(a Action) bool {
			return len(a.Targets) == 1 && failed[fmt.Sprint(methodOf(a.Reason), a.Targets[0])]
		})
	}
}

// isReplacement reports whether an action has been simulated, or could not be as the
// node is terminated first.
func isReplacement(a Action) bool { return a.Simulated || a.Step == TerminateFirst }

// oneOf lets one action begin where several were in each other's way, so that none
// could: the first whose pods find places while the nodes of the others stay open.
func (f *Cluster) oneOf(ctx context.Context, wanted []Action, pacing admitted, blocked []Blocked) (admitted, []Blocked, error) {
	tries := max(4, askedAlone/len(f.nodes))
	for _, a := range wanted {
		if !f.simulatable(a) {
			continue
		}
		paced := f.admit(slices.DeleteFunc(slices.Clone(wanted), func(b Action) bool {
			return f.simulatable(b) && b.Targets[0] != a.Targets[0]
		}))
		if !slices.ContainsFunc(paced.Go, f.simulatable) {
			continue
		}
		if tries == 0 {
			break
		}
		tries--
		r, err := f.simulate(ctx, paced.Go, nil)
		if err != nil {
			return admitted{}, nil, err
		}
		if len(r.Blocked) == 0 {
			pacing.Go = r.Actions
			pacing.Wait = slices.DeleteFunc(pacing.Wait, func(w Waiting) bool { return w.Targets[0] == a.Targets[0] })
			blocked = slices.DeleteFunc(blocked, func(b Blocked) bool { return b.Target == a.Targets[0] && b.Method == methodOf(a.Reason) })
			break
		}
	}
	return pacing, blocked, nil
}

// waitingForOthers are those that are blocked only as others go first: their nodes are
// about to go.
func waitingForOthers(blocked []Blocked) []Blocked {
	return slices.DeleteFunc(slices.Clone(blocked), func(b Blocked) bool { return b.rule != ruleNotSearched })
}

// mostRepaced bounds how often actions are let begin in the stead of others.
const mostRepaced = 4

// keepPromised leaves empty nodes alone that pods without a node are about to come
// to: those that are pending, and those of nodes that the other actions remove. To
// know where they go, the engine is asked, if there is any such node and pod.
func (f *Cluster) keepPromised(ctx context.Context, r Result) (Result, error) {
	empty := func(a Action) bool { return a.Reason == Empty && a.Step == Delete }
	if len(f.in.Pods) == 0 || !slices.ContainsFunc(r.Actions, empty) {
		return r, nil
	}
	w, err := newSettled(ctx, f, slices.DeleteFunc(slices.Clone(r.Actions), empty))
	if err != nil {
		return Result{}, err
	}
	promised := func(a Action) bool {
		return empty(a) && slices.ContainsFunc(a.Targets, func(t Target) bool { return w.promised[t.Node] != "" })
	}
	r.Blocked = slices.Clone(r.Blocked)
	for _, a := range r.Actions {
		if promised(a) {
			t := a.Targets[0]
			r.Blocked = append(r.Blocked, Blocked{Target: t, Method: MethodEmptiness, Code: rulePromised.code(), rule: rulePromised,
				Object: w.promised[t.Node], Detail: w.promised[t.Node] + " is about to come here"})
		}
	}
	r.Actions = slices.DeleteFunc(slices.Clone(r.Actions), promised)
	slices.SortFunc(r.Blocked, Blocked.Compare)
	return r, nil
}

// terminateReserved makes an action that wants to replace a node of a dynamic
// pool, and found no place for its pods, one that terminates it first: if the
// options allow that for the reason, the node holds a place in a reservation that
// is still offered, and all pods that need a place would have one if that place
// were free. It reports false otherwise.
//
// Nothing but reserved capacity is named beside a reservation in that
// simulation: a launch that could end up elsewhere would have found a place
// without ending the node.
func (f *Cluster) terminateReserved(ctx context.Context, a Action) (Action, bool, error) {
	if !f.mayTerminateFirst(a.Reason) || a.Step != Replace || len(a.Targets) != 1 {
		return a, false, nil
	}
	m := f.byName[a.Targets[0].Node]
	if m == nil || m.pool == nil || m.pool.static() || !m.pool.ready() || !m.holdsReservation() {
		return a, false, nil
	}
	var opts provisioning.Options
	if f.opts.Provisioning != nil {
		opts = *f.opts.Provisioning
	}
	opts.Reserved = provisioning.ReservedStrict
	in := f.in.Input
	in.InstanceTypes = credited(in.InstanceTypes, m.reservation())
	problem, err := provisioning.Prepare(in, &opts)
	if err == nil {
		problem, err = problem.Without(m.name)
	}
	if err != nil {
		return a, false, nil // faults of the input are reported elsewhere
	}
	plan, err := problem.Solve(progress.With(ctx, nil))
	if err != nil {
		return a, false, err
	}
	for _, u := range plan.Unplaced {
		if m.needsPlace(u.Pod) {
			return a, false, nil
		}
	}
	a.Step, a.StepCause = TerminateFirst, NoReservedCapacity
	pods := map[string]bool{}
	m.nameMovable(pods)
	a.Detail += fmt.Sprintf("; it goes first, as its pods find a place only once its own in reservation %s is free: %s",
		m.reservation(), destinationsIn(plan, pods))
	if bound := f.opts.TerminateFirstDrain; a.DrainBound == nil && m.claimBound() == nil && bound >= 0 {
		a.DrainBound = &bound
	}
	return a, true, nil
}

// mayTerminateFirst reports whether nodes may be terminated first for a reason.
func (f *Cluster) mayTerminateFirst(r Reason) bool {
	switch r {
	case Drifted:
		return f.opts.Drift.TerminateFirst
	case Unhealthy:
		return f.opts.Repair.TerminateFirst
	}
	return false
}

// holdsReservation reports whether the node has a place in a reservation that is
// still offered.
func (m *stateNode) holdsReservation() bool {
	return m.labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeReserved && m.reservation() != "" && m.offering.Available
}

// needsPlace reports whether a pod runs on the node and needs another place when
// that goes. Those that nothing can evict need none before the drain is ended by
// force.
func (m *stateNode) needsPlace(pod *corev1.Pod) bool {
	i := slices.IndexFunc(m.pods, func(p *podView) bool { return p.Namespace == pod.Namespace && p.Name == pod.Name })
	return i >= 0 && m.pods[i].reschedulable && !m.pods[i].stuck()
}

// credited is a catalog in which a reservation has one more place.
func credited(types map[string][]*cloudprovider.InstanceType, reservation string) map[string][]*cloudprovider.InstanceType {
	a := aftermath{in: Input{Input: provisioning.Input{InstanceTypes: types}}, reserved: map[string]int{reservation: 1}}
	return a.catalogs()
}

// destinations are where the pods of an action find a place.
type destinations struct {
	fresh, other, none int             // pods: on new nodes, on others, on none
	nodes              map[string]bool // the other nodes
	launched           []*provisioning.NewNode
	shared             bool // other pods share the new nodes
}

// destinations of the pods that a part moves.
func (pt *candidateSet) destinations() *destinations {
	d := &destinations{nodes: map[string]bool{}}
	for _, m := range pt.moves {
		if m.Node == "" {
			d.fresh++
		} else {
			d.other++
			d.nodes[m.Node] = true
		}
	}
	for i := range pt.nodes {
		d.launched = append(d.launched, &pt.nodes[i])
	}
	return d
}

// price is what the new nodes cost, in USD per hour.
func (d *destinations) price() (sum float64) {
	for _, n := range d.launched {
		sum += n.Price()
	}
	return sum
}

// launches says which new nodes there are for how many pods, and of a single one what
// it is.
func (d *destinations) launches() string {
	text := plural(len(d.launched), "new node") + " for " + plural(d.fresh, "pod")
	if len(d.launched) == 1 {
		text += ", " + d.launched[0].Options[0].Key().String()
	}
	return text
}

// room says how many pods go to other nodes.
func (d *destinations) room() string {
	return fmt.Sprintf("there is room for %s on %s", plural(d.other, "pod"), plural(len(d.nodes), "other node"))
}

// String says all of it in one line, nothing if there is no pod.
func (d *destinations) String() string {
	var parts []string
	if len(d.launched) > 0 {
		text := d.launches() + " at " + usd(d.price())
		if d.shared {
			text += ", shared with other pods"
		}
		parts = append(parts, text)
	}
	if d.other > 0 {
		parts = append(parts, d.room())
	}
	if d.none > 0 {
		parts = append(parts, "no place for "+plural(d.none, "pod"))
	}
	return strings.Join(parts, "; ")
}

// foretell adds to the Detail of actions that end nodes without looking for places
// where the pods of those nodes will go, as the next plan will have it. settled is a
// simulation in which they have found places, nil if there is none.
func (f *Cluster) foretell(ctx context.Context, actions []Action, settled *simulation) ([]Action, error) {
	if !slices.ContainsFunc(actions, func(a Action) bool { return len(f.homeless(a)) > 0 }) {
		return actions, nil
	}
	if settled == nil || f.opts.Consolidation.NoReplacements { // that is about saving money: the next plan launches
		var err error
		if settled, err = newSettled(ctx, f.withReplacements(), actions); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(actions)
	for i := range out {
		pods := f.homeless(out[i])
		if len(pods) == 0 {
			continue
		}
		text := fmt.Sprintf("its %s for the next plan", arePlural(len(pods), "pod"))
		if d := destinationsIn(settled.settled, pods).String(); d != "" {
			text += ": " + d
		}
		out[i].Detail += "; " + text
	}
	return out, nil
}

func arePlural(n int, thing string) string {
	if n == 1 {
		return thing + " is"
	}
	return plural(n, thing) + " are"
}

// homeless names the pods that need a place when an action has ended their nodes, and
// for which it has none.
func (f *Cluster) homeless(a Action) map[string]bool {
	if a.Simulated || a.Step != Delete {
		return nil
	}
	out := map[string]bool{}
	for _, t := range a.Targets {
		if m := f.byName[t.Node]; m != nil {
			m.nameMovable(out)
		}
	}
	return out
}

// nameMovable adds the names of the pods that need another place when the node goes.
func (m *stateNode) nameMovable(to map[string]bool) {
	for _, p := range m.movable() {
		to[podObject(p)] = true
	}
}

// destinationsIn are those that a plan has for some pods; without a plan none are
// known.
func destinationsIn(plan *provisioning.Plan, pods map[string]bool) *destinations {
	d := &destinations{nodes: map[string]bool{}}
	if plan == nil {
		return d
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if pods[podObject(p)] {
				d.other++
				d.nodes[b.Node] = true
			}
		}
	}
	for i := range plan.Create {
		n, here := &plan.Create[i], 0
		for _, p := range n.Pods {
			if pods[podObject(p)] {
				here++
			}
		}
		if here > 0 {
			d.fresh += here
			d.launched = append(d.launched, n)
			d.shared = d.shared || here < len(n.Pods)
		}
	}
	d.none = len(pods) - d.fresh - d.other
	return d
}

// replacements finds what becomes of the pods of actions that launch nodes first, such
// that each holds once those before it are done.
type replacements struct {
	w     *simulation // in which pods stay in their domains
	found map[Target]*candidateSet
}

// find asks about all actions together, with pods kept in their domains. What has no
// place then, or leans on others, is asked about again, beside those that were found:
// first all that have no place, with their pods free, and then each by itself.
func (r *replacements) find(ctx context.Context, actions []Action) error {
	rest := make([]*stateNode, 0, len(actions))
	for _, a := range actions {
		m := r.w.cluster.byName[a.Targets[0].Node]
		rest = append(rest, m)
		r.close(m.name)
	}
	rest, err := r.together(ctx, r.w, rest)
	if err != nil {
		return err
	}
	homeless := slices.DeleteFunc(slices.Clone(rest), r.isTied)
	if len(homeless) > 0 && r.w.refused == nil {
		left, err := r.together(ctx, r.w.freed(homeless), homeless)
		if err != nil {
			return err
		}
		rest = slices.DeleteFunc(rest, func(m *stateNode) bool { return slices.Contains(homeless, m) && !slices.Contains(left, m) })
	}
	most := max(4, askedAlone/len(r.w.cluster.nodes))
	for i, m := range rest {
		if i == most || r.w.refused != nil {
			break
		}
		if err := r.byItself(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// byItself asks about one node, with its pods in their domains if it was tied to others,
// and then with its pods free.
func (r *replacements) byItself(ctx context.Context, m *stateNode) error {
	if r.isTied(m) {
		if left, err := r.together(ctx, r.w, []*stateNode{m}); err != nil || len(left) == 0 || r.w.refused != nil {
			return err
		}
	}
	pt, err := r.w.alone(ctx, m)
	if err != nil || pt == nil {
		return err
	}
	r.found[m.target()] = pt
	r.takes(pt)
	return nil
}

// close keeps pods from a node that is about to go, now or next time.
func (r *replacements) close(node string) {
	if i, found := r.w.at[node]; found {
		r.w.in.Nodes[i] = closedNode(r.w.in.Nodes[i])
	}
}

// askedAlone bounds how many actions are asked about one by one, over the number of
// nodes: each question reads all of them.
const askedAlone = 20_000

// isTied reports whether what was found for a node leans on others.
func (r *replacements) isTied(m *stateNode) bool {
	pt := r.found[m.target()]
	return pt != nil && pt.tied
}

// together asks about some nodes in a simulation, accepts what holds in the order given, and
// returns the others.
func (r *replacements) together(ctx context.Context, in *simulation, targets []*stateNode) ([]*stateNode, error) {
	parts, err := in.try(ctx, targets)
	if err != nil {
		return nil, err
	}
	var shared []*candidateSet
	for _, pt := range parts {
		if len(pt.targets) == 1 {
			r.found[pt.targets[0].target()] = pt
		} else {
			shared = append(shared, pt)
		}
	}
	err = in.takeApart(ctx, shared, r.found)
	r.w.stats, r.w.refused = in.stats, in.refused
	if err != nil {
		return nil, err
	}
	var left []*stateNode
	for _, m := range targets {
		pt := r.found[m.target()]
		if pt == nil || pt.outcome.bad() || !r.takes(pt) {
			left = append(left, m)
		}
	}
	return left, nil
}

// takes accepts a part if it holds beside those before it.
func (r *replacements) takes(pt *candidateSet) bool {
	if pt.outcome.bad() {
		return false
	}
	if full := newLimitsMeter(r.w).takes(pt); full != nil {
		pt.limited(full)
		pt.tied = true // to those that stay
		return false
	}
	if ok, tie := r.w.landing.takes(pt); !ok {
		pt.turnDown(r.w.landing, tie)
		return false
	}
	pt.after = r.w.landing.after()
	r.w.carryOut(pt)
	return true
}

// freed is the simulation with the pods of some nodes as they are, free to change their
// domains.
func (w *simulation) freed(targets []*stateNode) *simulation {
	out := *w
	out.in.Nodes = slices.Clone(w.in.Nodes)
	out.displaced = map[string][]*corev1.Pod{}
	for name, pods := range w.displaced { // by node: the order does not matter
		out.displaced[name] = pods
	}
	out.movable = nil
	for _, m := range targets {
		n := &out.in.Nodes[out.at[m.name]]
		pinned := n.Pods
		n.Pods = slices.Clone(n.Pods)
		for i, p := range n.Pods {
			if at := slices.IndexFunc(m.pods, func(v *podView) bool { return p != nil && podObject(v.Pod) == podObject(p) }); at >= 0 {
				n.Pods[i] = m.pods[at].Pod
			}
		}
		out.displaced[m.name] = instead(w.displaced[m.name], pinned, n.Pods)
	}
	return &out
}
