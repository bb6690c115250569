package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// keyView is a way to look at nodes for their topology domain of one key:
// only those count that have all of keys, that the selection accepts and whose
// taints are tolerated, where those are given.
type keyView struct {
	key         string
	keys        []string           // key among them
	selection   *nodefit.Selection // nil means that every node counts
	taints      bool
	tolerations nodefit.Tolerations
	mentions    nodefit.Mentions
	lenses      map[*poolInfo]*labelFilter
}

// nodeView is what a glance at a site shows.
type nodeView struct {
	// values are the domains that the site may be in where it counts, sorted.
	values []string
	// sure says that it counts whatever it becomes, and always in the one domain.
	sure bool
	// lacks says that it may come up without one of the keys.
	lacks bool
	// open says that it may be in any other domain as well.
	open bool
}

func (r *referee) newGlance(key string, keys []string, selection *nodefit.Selection) *keyView {
	g := &keyView{key: key, keys: keys, selection: selection, mentions: nodefit.Mentions{}, lenses: map[*poolInfo]*labelFilter{}}
	if selection != nil {
		for name, values := range selection.Mentions {
			g.mentions[name] = values
		}
	}
	for _, k := range keys {
		if g.mentions[k] == nil {
			g.mentions[k] = []string{}
		}
	}
	return g
}

// view looks at a site.
func (r *referee) view(g *keyView, s *targetNode) nodeView {
	if s.node != nil {
		return r.viewOf(g, s, []*corev1.Node{s.node.Node})
	}
	lens := g.lenses[s.family.pool]
	if lens == nil {
		lens = r.lens(s.family.pool, g.mentions)
		g.lenses[s.family.pool] = lens
	}
	lot := r.lot(s.family, lens)
	// The host name is the one label in which nodes of a family differ.
	if g.key == corev1.LabelHostname {
		return r.viewOf(g, s, lot.nodes)
	}
	if known := lot.views[g]; known != nil {
		return *known
	}
	v := r.viewOf(g, s, lot.nodes)
	lot.views[g] = &v
	return v
}

func (r *referee) viewOf(g *keyView, s *targetNode, nodes []*corev1.Node) nodeView {
	v := nodeView{sure: len(nodes) > 0}
	if g.taints {
		if _, refused := g.tolerations.Refused(s.taints()); refused {
			return nodeView{}
		}
	}
	for _, node := range nodes {
		lacks := slices.ContainsFunc(g.keys, func(key string) bool {
			_, present := node.Labels[key]
			return !present
		})
		switch {
		case lacks:
			v.lacks, v.sure = true, false
			continue
		case g.selection != nil && !g.selection.Accepts(node):
			v.sure = false
			continue
		}
		value := r.domainOf(s, node, g.key)
		v.open = v.open || value == nodefit.OtherValue
		if len(v.values) == 0 || v.values[len(v.values)-1] != value {
			v.values = append(v.values, value)
		}
	}
	if len(v.values) > 1 {
		slices.Sort(v.values)
		v.values = slices.Compact(v.values)
	}
	v.sure = v.sure && len(v.values) == 1 && !v.open
	return v
}

// domainOf is the topology domain of a node that has the key.
func (r *referee) domainOf(s *targetNode, node *corev1.Node, key string) string {
	if key == corev1.LabelHostname && (s.node == nil || node.Labels[key] == nodefit.NewNodeName) {
		return s.host()
	}
	return r.vocabulary.NormalizeValue(r.vocabulary.NormalizeKey(key), node.Labels[key])
}
