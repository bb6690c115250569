package disruption

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// ownSpread is a topology spread of a pod that must hold, other than by node.
type ownSpread struct {
	*corev1.TopologySpreadConstraint
	text   string       // see spreadKey
	pods   podterm.Pods // that it counts
	keys   []string     // labels that a node must have to be looked at, sorted
	counts map[string]int
}

// spreadsOf reads the topology spreads of a pod that must hold, and those of them that
// are over the name of the node apart. What cannot be read counts nobody:
// the engine refuses such a pod.
func (c *spreadCensus) spreadsOf(p *corev1.Pod) (out, hosts []ownSpread) {
	list, _ := c.defaults.Of(p)
	var keys []string
	for i := range list {
		t := &list[i]
		if t.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		keys = append(keys, t.TopologyKey)
		own := ownSpread{TopologySpreadConstraint: t}
		var err error
		if own.pods, err = podterm.Spread(p, t); err != nil {
			own.pods = podterm.Pods{Selector: labels.Nothing(), Namespaces: []string{}}
		}
		if t.TopologyKey == corev1.LabelHostname {
			hosts = append(hosts, own)
		} else {
			out = append(out, own)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, list := range [][]ownSpread{out, hosts} {
		for i := range list {
			list[i].keys = keys
			list[i].text = list[i].key(p)
		}
	}
	return out, hosts
}

// spreadView says which nodes a constraint of a pod looks at.
type spreadView struct {
	pod      *corev1.Pod
	keys     []string // labels that they must have
	affinity bool     // those that the pod asks for
	selected nodeaffinity.RequiredNodeAffinity
	taints   bool // those whose taints it tolerates
	known    map[*corev1.Node]bool
}

func (t *ownSpread) view(p *corev1.Pod) *spreadView {
	v := &spreadView{pod: p, keys: t.keys, affinity: t.honorsAffinity() && asksOfNodes(p), taints: t.honorsTaints()}
	if v.affinity {
		v.selected = nodeaffinity.GetRequiredNodeAffinity(p)
	}
	if v.affinity || v.taints {
		v.known = map[*corev1.Node]bool{}
	}
	return v
}

// asksOfNodes reports whether a pod asks for nodes by their labels or names.
func asksOfNodes(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return len(p.Spec.NodeSelector) > 0 || a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

func (v *spreadView) at(n *corev1.Node) bool {
	for _, key := range v.keys {
		if _, found := n.Labels[key]; !found && key != corev1.LabelHostname {
			return false
		}
	}
	if v.known == nil {
		return true
	}
	ok, known := v.known[n]
	if !known {
		ok = !v.taints || tolerates(v.pod, n.Spec.Taints)
		if ok && v.affinity {
			matches, err := v.selected.Match(n)
			ok = matches && err == nil
		}
		v.known[n] = ok
	}
	return ok
}

func (t *ownSpread) honorsAffinity() bool {
	return t.NodeAffinityPolicy == nil || honors(t.NodeAffinityPolicy)
}

func (t *ownSpread) honorsTaints() bool { return honors(t.NodeTaintsPolicy) }

// least is the count of the domain with the fewest pods; none where there are fewer
// domains than the constraint asks for.
func (t *ownSpread) least(counts map[string]int) int {
	return least(counts, t.fewest())
}

// fewest is how many domains a constraint asks for.
func (t *ownSpread) fewest() int {
	if t.MinDomains == nil {
		return 1
	}
	return int(*t.MinDomains)
}

// key is the same for constraints that count the same pods in the same domains.
func (t *ownSpread) key(p *corev1.Pod) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%s|%q|%d|%s", t.TopologyKey, t.keys, t.fewest(), t.pods.Text())
	if t.honorsAffinity() {
		writeNodeDemand(&key, p)
	}
	if t.honorsTaints() {
		fmt.Fprintf(&key, "|%+v", p.Spec.Tolerations)
	}
	return key.String()
}
