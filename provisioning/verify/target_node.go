package verify

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// targetNode is a node that pods are put on one by one: one that exists, or one
// that the plan launches.
type targetNode struct {
	number int
	name   string
	node   *nodeInfo // nil for a new node
	fresh  *newNode  // nil for a node that exists
	family *nodeGroup
	placed []*podInfo // by the plan
}

// nodeGroup is what new nodes have in common that may come up with the same
// labels, but for their names.
type nodeGroup struct {
	pool    *poolInfo
	asked   requirements.Set
	labels  map[string]string // that the plan gives the node
	options []int32           // numbers in the stock of the pool
	// always are the DaemonSets that run on the node whatever it becomes,
	// perhaps those that may.
	always, perhaps []*podInfo

	lots map[*labelFilter]*nodeVariants
}

// labelFilter is a number of label keys that somebody looks at, on the nodes of
// one pool.
type labelFilter struct {
	keys     []string         // in canonical form, sorted
	mentions nodefit.Mentions // by key as written
	group    []int32          // of each option of the pool: those alike in keys
	count    int
}

// nodeVariants are the nodes that those of a family may turn out to be, as far as
// a lens shows.
type nodeVariants struct {
	nodes []*corev1.Node
	views map[*keyView]*nodeView
}

// makeSites lists the nodes of a judged plan: those that exist first.
func (r *referee) makeSites() {
	r.families, r.lenses = map[string]*nodeGroup{}, map[string]*labelFilter{}
	r.siteOf = map[*nodeInfo]*targetNode{}
	for _, n := range r.nodes {
		s := &targetNode{number: len(r.sites), name: n.Name, node: n}
		r.sites, r.siteOf[n] = append(r.sites, s), s
	}
	for _, b := range r.plan.Bind {
		if n := r.nodesNamed[b.Node]; n != nil {
			s := r.siteOf[n]
			s.placed = append(s.placed, r.knownPods(b.Pods)...)
		}
	}
	for _, f := range r.fresh {
		if f == nil || f.survey == nil {
			continue // it comes up as nothing, and is reported
		}
		family := r.familyOf(f)
		r.sites = append(r.sites, &targetNode{
			number: len(r.sites), name: f.Name, fresh: f, family: family, placed: f.pods,
		})
	}
}

func (r *referee) familyOf(f *newNode) *nodeGroup {
	id := r.idOf(f.Options)
	key := fmt.Sprintf("%s\n%p %d\n%s\n%q", f.pool.Name, id.first, id.length, f.Requirements, f.Labels)
	if known := r.families[key]; known != nil {
		return known
	}
	family := &nodeGroup{
		pool: f.pool, asked: f.Requirements, labels: f.Labels,
		options: slices.Clone(r.located(f.pool, f.Options)),
		always:  f.survey.always, perhaps: f.survey.perhaps,
		lots: map[*labelFilter]*nodeVariants{},
	}
	r.families[key] = family
	return family
}

// lens returns the lens for the keys that mentions name.
func (r *referee) lens(pool *poolInfo, mentions nodefit.Mentions) *labelFilter {
	key := fmt.Sprintf("%s\n%q", pool.Name, mentions) // maps print sorted
	if known := r.lenses[key]; known != nil {
		return known
	}
	l := &labelFilter{mentions: mentions, keys: mentions.Keys(r.vocabulary)}
	l.group, l.count = r.grouping(pool, l.keys)
	r.lenses[key] = l
	return l
}

// lot writes out what the nodes of a family may be.
func (r *referee) lot(f *nodeGroup, l *labelFilter) *nodeVariants {
	if known := f.lots[l]; known != nil {
		return known
	}
	lot := &nodeVariants{views: map[*keyView]*nodeView{}}
	f.lots[l] = lot
	seen := make([]bool, l.count)
	for _, i := range f.options {
		if seen[l.group[i]] {
			continue
		}
		seen[l.group[i]] = true
		if domain, ok := r.settled(f, l, i); ok {
			lot.nodes = append(lot.nodes, nodefit.Outcomes(r.vocabulary, domain, l.mentions)...)
		}
	}
	return lot
}

// settled are the labels that an option leaves under a lens. It is false where
// they contradict each other, which is reported with the option.
func (r *referee) settled(f *nodeGroup, l *labelFilter, option int32) (requirements.Set, bool) {
	var domain []requirements.Requirement
	for _, key := range l.keys {
		column := r.column(f.pool, key)
		state := column.states[column.state[option]]
		state = r.given(f, r.narrowed(state, f.asked, key), key)
		if state.Impossible() {
			return requirements.Set{}, false
		}
		if state.named {
			domain = append(domain, state.Requirement)
		}
	}
	return requirements.NewSet(domain...), true
}

// given is a state after the plan gives the node a label that no instance type
// brings along.
func (r *referee) given(f *nodeGroup, state labelState, key string) labelState {
	value, ok := f.labels[key]
	if ok && state.named && !state.own && key != corev1.LabelHostname && state.Has(value) {
		state.Requirement = requirements.In(key, value)
	}
	return state
}

// host is what stands for the host name of a site: no pod knows that of a new
// node, and no two nodes share one.
func (s *targetNode) host() string {
	return nodefit.NewNodeName + " " + strconv.Itoa(s.number)
}

// taints are those that the node will bear once it is ready.
func (s *targetNode) taints() []corev1.Taint {
	if s.node != nil {
		return s.node.Taints
	}
	return s.family.pool.Spec.Template.Spec.Taints
}

// present are the pods of a site before the plan sends any: those that run there and the
// DaemonSets that may come.
func (r *referee) present(s *targetNode) []*podInfo {
	if s.node != nil {
		return slices.Concat(s.node.bound, r.comingDaemons(s.node))
	}
	return slices.Concat(s.family.always, s.family.perhaps)
}

// outcomes are the nodes that a site may turn out to be, as far as mentions show.
func (r *referee) outcomes(s *targetNode, mentions nodefit.Mentions) []*corev1.Node {
	if s.node != nil {
		return []*corev1.Node{s.node.Node}
	}
	return r.lot(s.family, r.lens(s.family.pool, mentions)).nodes
}
