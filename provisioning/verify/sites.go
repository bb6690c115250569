package verify

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// site is a node to which pods are bound one by one: an existing node or a new node of the plan.
type site struct {
	number int // index in referee.sites; -1 for a node that is not in the plan
	name   string
	node   *nodeInfo  // nil for a new node
	fresh  *newNode   // nil for an existing node, or one that is not in the plan
	family *family    // nil for an existing node
	placed []*podInfo // by the plan
}

// family is shared by new nodes that may be launched with the same labels, apart from their
// hostnames.
type family struct {
	pool    *poolInfo
	asked   requirements.Set
	labels  map[string]string // labels that the plan gives the node
	options []int32           // numbers in the stock of the pool
	// always are the DaemonSets that run on the node whichever option is launched, and perhaps
	// those that run on some option.
	always, perhaps []*podInfo

	domains map[*topology]domains
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
		t.mentions[k] = []string{}
	}
	if selection != nil {
		for name, values := range selection.Mentions {
			t.mentions[name] = values
		}
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

// makeSites lists the nodes of the plan as sites, existing nodes first.
func (r *referee) makeSites() {
	families := map[string]*family{}
	r.siteOf = map[*nodeInfo]*site{}
	for _, n := range r.nodes {
		s := &site{number: len(r.sites), name: n.Name, node: n}
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
			continue // it has no option to launch, which is reported
		}
		id := idOf(f.Options)
		key := fmt.Sprintf("%s\n%p %d\n%s\n%q", f.pool.Name, id.first, id.length, f.Requirements, f.Labels)
		if families[key] == nil {
			families[key] = &family{
				pool: f.pool, asked: f.Requirements, labels: f.Labels, options: r.located(f.pool, f.Options),
				always: f.survey.always, perhaps: f.survey.perhaps, domains: map[*topology]domains{},
			}
		}
		r.sites = append(r.sites, &site{number: len(r.sites), name: f.Name, fresh: f, family: families[key], placed: f.pods})
	}
}

// outcomes lists the nodes that a site may turn out to be, with the labels that mentions names.
func (r *referee) outcomes(s *site, mentions nodefit.Mentions) (nodes []*corev1.Node) {
	if s.node != nil {
		return []*corev1.Node{s.node.Node}
	}
	q := r.ask(s.family.pool, s.family.asked, s.family.labels, mentions)
	seen := map[*answer]bool{nil: true}
	for _, i := range s.family.options {
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
	if s.node != nil {
		return r.findDomains(t, s)
	}
	d, known := s.family.domains[t]
	if !known {
		d = r.findDomains(t, s)
		s.family.domains[t] = d
	}
	if t.key == corev1.LabelHostname && len(d.values) > 0 {
		d.values = []string{s.host()} // the only label in which nodes of a family differ
	}
	return d
}

func (r *referee) findDomains(t *topology, s *site) (d domains) {
	if _, refused := t.tolerations.Refused(s.taints()); t.taints && refused {
		return d
	}
	counted, key := true, r.vocabulary.NormalizeKey(t.key)
	for _, node := range r.outcomes(s, t.mentions) {
		lacks := slices.ContainsFunc(t.keys, func(key string) bool {
			_, present := node.Labels[key]
			return !present
		})
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

// host returns a placeholder for the hostname of a site: no pod knows the hostname of a new node,
// and no two nodes share one.
func (s *site) host() string { return nodefit.NewNodeName + " " + strconv.Itoa(s.number) }

// taints returns the taints of the node once it is ready.
func (s *site) taints() []corev1.Taint {
	if s.node != nil {
		return s.node.Taints
	}
	return s.family.pool.Spec.Template.Spec.Taints
}

// present lists the pods of a site before the plan binds any: running pods, and DaemonSet pods that
// may come.
func (r *referee) present(s *site) []*podInfo {
	if s.node != nil {
		return slices.Concat(s.node.bound, r.comingDaemons(s.node))
	}
	return slices.Concat(s.family.always, s.family.perhaps)
}

// sameZone says whether two sites are certain to be in one zone.
func (r *referee) sameZone(a, b *site) bool {
	zone := r.topologyOf(corev1.LabelTopologyZone)
	x, y := r.domainsOf(zone, a), r.domainsOf(zone, b)
	return x.sure && y.sure && x.values[0] == y.values[0]
}
