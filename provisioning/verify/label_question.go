package verify

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// labelQuestion is what decides which labels a new node may come up with: its
// pool, its Requirements, and the labels that anybody looks at. A plan has far
// fewer briefs than nodes.
type labelQuestion struct {
	pool       *poolInfo
	stock      *poolCatalog
	asked      requirements.Set
	selections []*nodefit.Selection // of its pods, each once
	mentions   nodefit.Mentions     // of its pods and of the pool's DaemonSets
	keys       []string             // of mentions in canonical form, sorted

	// impossible says of each option that its labels contradict each other.
	impossible []bool
	// group tells apart the options that may differ in a label of keys, and
	// grounds are those of each group, written out when first asked for.
	group   []int32
	grounds []*labelSet

	narrow  map[string][]labelState // states of a column, narrowed by asked
	surveys map[listID]*optionSummary
}

// brief returns the brief for nodes of a pool that ask for the given labels and
// are for pods with the given selections.
func (r *referee) brief(pool *poolInfo, asked requirements.Set, selections []*nodefit.Selection) *labelQuestion {
	b := &labelQuestion{
		pool: pool, stock: r.stockOf(pool), asked: asked, selections: selections,
		mentions: nodefit.Join(append(pool.daemonSelections(), selections...)...),
		narrow:   map[string][]labelState{},
		surveys:  map[listID]*optionSummary{},
	}
	b.keys = b.mentions.Keys(r.vocabulary)
	b.impossible = slices.Clone(b.stock.odd)
	for want := range asked.All() {
		column, states := r.column(pool, want.Key()), r.states(b, want.Key())
		for i, state := range column.state {
			b.impossible[i] = b.impossible[i] || states[state].Impossible()
		}
	}
	r.group(b)
	return b
}

// states are those of a column as far as the brief leaves them.
func (r *referee) states(b *labelQuestion, key string) []labelState {
	if known, ok := b.narrow[key]; ok {
		return known
	}
	states := slices.Clone(r.column(b.pool, key).states)
	for i, state := range states {
		states[i] = r.narrowed(state, b.asked, key)
	}
	b.narrow[key] = states
	return states
}

// group numbers the combinations of states that the mentioned labels are in.
func (r *referee) group(b *labelQuestion) {
	group, count := r.grouping(b.pool, b.keys)
	b.group, b.grounds = group, make([]*labelSet, count)
}

// grouping numbers the combinations of states that labels of a pool are in, by
// option.
func (r *referee) grouping(pool *poolInfo, keys []string) (group []int32, count int) {
	group, count = make([]int32, len(r.stockOf(pool).options)), 1
	for _, key := range keys {
		column := r.column(pool, key)
		if len(column.states) < 2 {
			continue
		}
		type split struct{ group, state int32 }
		numbers := map[split]int32{}
		for i, state := range column.state {
			at := split{group[i], state}
			number, seen := numbers[at]
			if !seen {
				number = int32(len(numbers))
				numbers[at] = number
			}
			group[i] = number
		}
		count = len(numbers)
	}
	return group, count
}

// groundOf is what comes of an option under a brief; nil where its labels
// contradict each other.
func (r *referee) groundOf(b *labelQuestion, option int32) *labelSet {
	if b.impossible[option] {
		return nil
	}
	g := &b.grounds[b.group[option]]
	if *g == nil {
		var domain []requirements.Requirement
		for _, key := range b.keys {
			if state := r.states(b, key)[r.column(b.pool, key).state[option]]; state.named {
				domain = append(domain, state.Requirement)
			}
		}
		*g = r.ground(b, requirements.NewSet(domain...))
	}
	return *g
}

// openGround is what comes of an option if nothing is asked of its labels.
func (r *referee) openGround(pool *poolInfo, option int32) *labelSet {
	stock := r.stockOf(pool)
	if stock.open == nil {
		stock.open = r.brief(pool, requirements.Set{}, nil)
	}
	return r.groundOf(stock.open, option)
}

// distinct are the states of a label under a brief over options, each once.
func (r *referee) distinct(b *labelQuestion, options []int32, key string, admit func(*optionInfo, labelState) bool) []requirements.Requirement {
	column, states := r.column(b.pool, key), r.states(b, key)
	seen := make([]bool, len(states))
	var found []requirements.Requirement
	for _, i := range options {
		at := column.state[i]
		if !seen[at] && admit(b.stock.options[i], states[at]) {
			seen[at] = true
			found = append(found, states[at].Requirement)
		}
	}
	return found
}

// located are the options of a list that are in the catalog and can be computed
// with. The result is overwritten by the next call.
func (r *referee) located(pool *poolInfo, list []cloudprovider.LaunchOption) []int32 {
	r.scratch = r.scratch[:0]
	for _, option := range list {
		if i, ok := r.locate(pool, option); ok && pool.stock.options[i].err == nil {
			r.scratch = append(r.scratch, i)
		}
	}
	return r.scratch
}
