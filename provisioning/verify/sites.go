package verify

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodestate"
)

// site is a node to which pods are bound one by one: an existing node or a new node of the plan.
type site struct {
	number int // index in referee.sites; -1 for a node that is not in the plan
	name   string
	family *family
	fresh  *newNode   // nil for an existing node, or one that is not in the plan
	placed []*podInfo // by the plan

	node    *nodestate.State // nil for a new node
	bound   []*podInfo       // running pods that take room on an existing node
	missing resources.List   // requests of its DaemonSets in excess of those of their pods there
}

// family is shared by new nodes that may be launched with the same labels, apart from their
// hostnames. An existing node has a family of its own.
type family struct {
	node   *corev1.Node   // an existing node; nil for new nodes
	taints []corev1.Taint // of a node once it is ready
	// always are the DaemonSets of which a pod is certain to come to the node, and perhaps those of
	// which one may come: it runs on some option only, or is missing on a node that is ready.
	always, perhaps []*podInfo

	// Of new nodes:
	pool    *poolInfo
	asked   requirements.Set
	labels  map[string]string // labels that the plan gives the node
	options []int32           // numbers in the stock of the pool

	domains map[*topology]domains
}

// newFamily returns the family of new nodes of a pool.
func newFamily(pool *poolInfo, asked requirements.Set, options []int32) *family {
	return &family{
		taints: pool.Spec.Template.Spec.Taints, pool: pool, asked: asked, options: options, domains: map[*topology]domains{},
	}
}

// topology divides nodes into domains by a label. Only nodes count that have all of keys, that the
// selection admits and whose taints are tolerated, where these are set.
type topology struct {
	key         string
	keys        []string           // keys that a counted node must have, key included
	selection   *nodefit.Selection // nil means that every node counts
	taints      bool
	tolerations nodefit.Tolerations
	mentions    nodefit.Mentions
}

// domains are the topology domains in which a site may be.
type domains struct {
	values []string // domains in which it counts, sorted
	sure   bool     // it is in the only domain, whichever option is launched
	lacks  bool     // it may lack one of the keys
}

func (r *referee) newTopology(key string, keys []string, selection *nodefit.Selection) *topology {
	t := &topology{key: key, keys: keys, selection: selection, mentions: nodefit.Mentions{}}
	for _, k := range keys {
		t.mentions[k] = nil
	}
	if selection != nil {
		t.mentions = nodefit.Join(t.mentions, selection.Mentions)
	}
	return t
}

// topologyOf returns the topology of all nodes that have a label.
func (r *referee) topologyOf(key string) *topology {
	if r.topologies[key] == nil {
		r.topologies[key] = r.newTopology(key, []string{key}, nil)
	}
	return r.topologies[key]
}

// addFresh adds the new nodes of the plan to the sites.
func (r *referee) addFresh() {
	families := map[string]*family{}
	for _, f := range r.fresh {
		if f == nil || f.survey == nil {
			continue // it has no option to launch, which is reported
		}
		id := idOf(f.Options)
		key := fmt.Sprintf("%s\n%p %d\n%s\n%q", f.pool.Name, id.first, id.length, f.Requirements, f.Labels)
		if families[key] == nil {
			family := newFamily(f.pool, f.Requirements, r.located(f.pool, f.Options))
			family.labels, family.always, family.perhaps = f.Labels, f.survey.always, f.survey.perhaps
			families[key] = family
		}
		f.site = &site{number: len(r.sites), name: f.Name, fresh: f, family: families[key], placed: f.pods}
		r.sites = append(r.sites, f.site)
	}
}

// outcomes lists the nodes that a site may turn out to be, with the labels that mentions names.
func (r *referee) outcomes(s *site, mentions nodefit.Mentions) (nodes []*corev1.Node) {
	f := s.family
	if f.node != nil {
		return []*corev1.Node{f.node}
	}
	q := r.ask(f.pool, f.asked, f.labels, mentions)
	seen := map[*answer]bool{nil: true}
	for _, i := range f.options {
		if a := r.answer(q, i); !seen[a] {
			seen[a] = true
			for _, o := range a.nodes {
				nodes = append(nodes, o.Node)
			}
		}
	}
	return nodes
}

// domainsOf returns the domains in which a site may be.
func (r *referee) domainsOf(t *topology, s *site) domains {
	d, known := s.family.domains[t]
	if !known {
		d = r.findDomains(t, s)
		s.family.domains[t] = d
	}
	if t.key == corev1.LabelHostname && s.family.node == nil && len(d.values) > 0 {
		d.values = []string{s.host()} // the only label in which nodes of a family differ
	}
	return d
}

func (r *referee) findDomains(t *topology, s *site) (d domains) {
	if _, refused := t.tolerations.Refused(s.family.taints); t.taints && refused {
		return d
	}
	counted, key := true, r.vocabulary.NormalizeKey(t.key)
	for _, node := range r.outcomes(s, t.mentions) {
		lacks := t.lacking(node)
		d.lacks = d.lacks || lacks
		if lacks || t.selection != nil && !t.selection.Accepts(node) {
			counted = false
			continue
		}
		value := r.vocabulary.NormalizeValue(key, node.Labels[t.key])
		if value == nodefit.NewNodeName {
			value = s.host()
		}
		d.values = append(d.values, value)
	}
	slices.Sort(d.values)
	d.values = slices.Compact(d.values)
	d.sure = counted && len(d.values) == 1 && d.values[0] != nodefit.OtherValue
	return d
}

// lacking says whether a node lacks one of the keys.
func (t *topology) lacking(node *corev1.Node) bool {
	return slices.ContainsFunc(t.keys, func(key string) bool {
		_, present := node.Labels[key]
		return !present
	})
}

// host returns a placeholder for the hostname of a site: no pod knows the hostname of a new node,
// and no two nodes share one.
func (s *site) host() string { return nodefit.NewNodeName + " " + strconv.Itoa(s.number) }

// present lists the pods of a site before the plan binds any: running pods, and DaemonSet pods that
// may come.
func (s *site) present() []*podInfo {
	return slices.Concat(s.bound, s.family.always, s.family.perhaps)
}

// sameZone says whether two sites are certain to be in one zone.
func (r *referee) sameZone(a, b *site) bool {
	zone := r.topologyOf(corev1.LabelTopologyZone)
	x, y := r.domainsOf(zone, a), r.domainsOf(zone, b)
	return x.sure && y.sure && x.values[0] == y.values[0]
}
