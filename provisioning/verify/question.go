package verify

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// question asks which labels the nodes may have that a NodePool launches with some Requirements,
// restricted to some labels.
type question struct {
	pool       *poolInfo
	asked      requirements.Set  // Requirements of the nodes
	given      map[string]string // labels that the plan gives the nodes
	labels     *nodefit.Labels
	selections []*nodefit.Selection // distinct selections of pods that all go to each of the nodes

	columns []*labelColumn     // by key of labels
	states  [][]labelState     // by key: the states of its column, narrowed by asked and given
	answers map[string]*answer // by the states of the keys
	buffer  []byte

	impossible []bool // by option: whether its labels contradict those of the pool or of asked
	surveys    map[listID]*survey
}

// answer lists the nodes as which an option may be launched. Options with the same states of all
// keys share an answer.
type answer struct {
	nodes   []*outcome
	refuses bool // a selection of the question excludes one of the nodes
	// least and most are bounds on the requests of the DaemonSets of one of the nodes; most is by
	// referee.asks. all is the total of all DaemonSets that run on any of the nodes.
	least, all resources.List
	most       []int64
}

// outcome is a node as which an option may be launched, with the labels that the question mentions.
type outcome struct {
	*corev1.Node
	daemons  []*podInfo
	requests resources.List // of the daemons
	verdicts map[*nodefit.Selection]bool
}

func (o *outcome) admits(s *nodefit.Selection) bool {
	verdict, known := o.verdicts[s]
	if !known {
		verdict = s.Accepts(o.Node)
		o.verdicts[s] = verdict
	}
	return verdict
}

func (o *outcome) admitsAll(selections []*nodefit.Selection) bool {
	return !slices.ContainsFunc(selections, func(s *nodefit.Selection) bool { return !o.admits(s) })
}

// ask returns the question about the labels that mentions names.
func (r *referee) ask(pool *poolInfo, asked requirements.Set, given map[string]string, mentions nodefit.Mentions) *question {
	q := &question{pool: pool, asked: asked, given: given, labels: mentions.Labels(r.vocabulary), answers: map[string]*answer{}}
	for _, key := range q.labels.Keys {
		column := r.column(pool, key)
		q.columns, q.states = append(q.columns, column), append(q.states, r.narrow(q, column, key))
	}
	return q
}

// askForPods returns the question about the labels by which pods and the pool's DaemonSets select
// nodes.
func (r *referee) askForPods(pool *poolInfo, asked requirements.Set, selections []*nodefit.Selection) *question {
	mentions := []nodefit.Mentions{pool.mentions}
	for _, s := range selections {
		mentions = append(mentions, s.Mentions)
	}
	q := r.ask(pool, asked, nil, nodefit.Join(mentions...))
	q.selections, q.surveys = selections, map[listID]*survey{}
	q.impossible = slices.Clone(r.stockOf(pool).odd)
	for want := range asked.All() {
		column := r.column(pool, want.Key())
		states := r.narrow(q, column, want.Key())
		for i, state := range column.state {
			q.impossible[i] = q.impossible[i] || states[state].Impossible()
		}
	}
	return q
}

// narrow returns the states of a label narrowed by the question.
func (r *referee) narrow(q *question, column *labelColumn, key string) []labelState {
	states := slices.Clone(column.states)
	for i := range states {
		states[i] = r.narrowed(states[i], q.asked, key)
		// The plan decides the labels that no instance type has.
		value, ok := q.given[key]
		if s := &states[i]; ok && s.named && !s.own && key != corev1.LabelHostname && s.Has(value) {
			s.Requirement = requirements.In(key, value)
		}
	}
	return states
}

// narrowed returns a label of nodes with some Requirements. A label that is not well-known and that
// neither pool nor option names is absent, whatever the Requirements say.
func (r *referee) narrowed(state labelState, asked requirements.Set, key string) labelState {
	want, listed := asked.Get(key)
	if !listed || key == corev1.LabelHostname {
		return state
	}
	if !state.named && !r.vocabulary.WellKnown(key) {
		state.Requirement = requirements.DoesNotExist(key)
	}
	state.Requirement, state.named = state.Intersect(want), true
	return state
}

// answer returns the answer of a question for an option, nil if the labels of the option contradict
// each other.
func (r *referee) answer(q *question, option int32) *answer {
	if q.impossible != nil && q.impossible[option] {
		return nil
	}
	q.buffer = q.buffer[:0]
	for _, c := range q.columns {
		q.buffer = binary.AppendUvarint(q.buffer, uint64(c.state[option]))
	}
	if known, ok := q.answers[string(q.buffer)]; ok {
		return known
	}
	var domain []requirements.Requirement
	for i, c := range q.columns {
		state := q.states[i][c.state[option]]
		if state.Impossible() {
			q.answers[string(q.buffer)] = nil
			return nil
		}
		if state.named {
			domain = append(domain, state.Requirement)
		}
	}
	a := &answer{most: make([]int64, len(r.asks))}
	q.answers[string(q.buffer)] = a
	var all []*podInfo
	for i, node := range q.labels.Outcomes(requirements.NewSet(domain...)) {
		o := &outcome{Node: node, verdicts: map[*nodefit.Selection]bool{}}
		a.nodes = append(a.nodes, o)
		if q.impossible == nil {
			continue // the labels by which DaemonSets select are not known
		}
		for _, d := range q.pool.daemons {
			if o.admits(d.selection) {
				o.daemons = append(o.daemons, d)
				if !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
		}
		o.requests = sumOf(o.daemons)
		if i == 0 {
			a.least = o.requests
		}
		a.least = a.least.Min(o.requests)
		for k, name := range r.asks {
			a.most[k] = max(a.most[k], o.requests.Get(name))
		}
		a.refuses = a.refuses || !o.admitsAll(q.selections)
	}
	a.all = sumOf(all)
	return a
}

// openAnswer returns the answer for a node of a pool without further requirements. It may have more
// DaemonSets than can run on the option at once.
func (r *referee) openAnswer(pool *poolInfo, option int32) *answer {
	stock := r.stockOf(pool)
	if stock.open == nil {
		stock.open = r.askForPods(pool, requirements.Set{}, nil)
	}
	return r.answer(stock.open, option)
}

// sumOf returns the total requests of pods, without those that cannot be read or added.
func sumOf(pods []*podInfo) resources.List {
	var sum resources.List
	for _, p := range pods {
		if next, err := sum.Add(p.requests); err == nil && p.requestsErr == nil {
			sum = next
		}
	}
	return sum
}

// located returns the numbers of the options of a list that are in the catalog and can be
// evaluated.
func (r *referee) located(pool *poolInfo, list []cloudprovider.LaunchOption) []int32 {
	found := make([]int32, 0, len(list))
	for _, option := range list {
		if option.InstanceType == nil || option.Offering == nil {
			continue
		}
		if i, fault := r.locate(pool, option); fault == "" && pool.stock.options[i].err == nil {
			found = append(found, i)
		}
	}
	return found
}
