package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/selectors"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// pinSpread pins each pod to its domain of a required topology spread over a label other than the
// name of the node. What is found for many nodes is carried out set by set, and each set must be
// valid in its turn. If pods of a workload changed places between zones, one set would depend on
// another. In its own domain a pod is always admitted, wherever the others go.
//
// The same applies to required affinity and anti-affinity over such a label.
//
// Pods are pinned only where the skew is within its limit now. A pod in a domain that has too many
// is not pinned, or it could not be moved at all. Nor is a pod that is counted by a spread which it
// does not have: BindOrder checks it.
//
// One pod of each spread may leave its domain, because all others stay: see movablePod.
func (w *Simulation) pinSpread() {
	c := newSpreadCensus(w)
	w.movable, w.BindOrder = map[*corev1.Pod]*movablePod{}, newBindOrder(w, c)
	for i := range w.In.Nodes {
		n := &w.In.Nodes[i]
		if n.Node == nil || w.Leaving[n.Name()] {
			continue
		}
		var pods []*corev1.Pod
		for k, p := range n.Pods {
			if p == nil {
				continue
			}
			kind := c.kinds.Of(p)
			held := c.pins(kind, n.Node)
			if held == nil {
				continue
			}
			if pods == nil {
				pods = slices.Clone(n.Pods)
			}
			pods[k] = withNodeSelector(p, held)
			c.kinds.Pin(pods[k], kind, held)
			if r := c.movable(kind, p, n.Node); r != nil {
				r.pinned = pods[k]
				w.movable[p], w.movable[pods[k]] = r, r
			}
		}
		if pods != nil {
			w.Displaced[n.Name()] = instead(w.Displaced[n.Name()], n.Pods, pods)
			n.Pods = pods
		}
	}
}

// instead returns a copy of a list in which the changed pods replace the originals.
func instead(list, before, changed []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(list)
	for i, p := range out {
		if k := slices.Index(before, p); k >= 0 {
			out[i] = changed[k]
		}
	}
	return out
}

// withNodeSelector returns a copy of a pod with more node selector labels.
func withNodeSelector(p *corev1.Pod, more map[string]string) *corev1.Pod {
	out := *p
	out.Spec.NodeSelector = make(map[string]string, len(p.Spec.NodeSelector)+len(more))
	maps.Copy(out.Spec.NodeSelector, p.Spec.NodeSelector)
	maps.Copy(out.Spec.NodeSelector, more)
	return &out
}

// topologyCounts counts pods by domain.
type topologyCounts struct {
	kinds      *podclass.Classes
	read       []*classFacts // by number of the class; nil until they are needed
	terms      map[*podclass.Class][]affinityTerm
	nodes      []*corev1.Node
	domains    map[string]map[string][]*corev1.Node // by label key and value
	counted    []countedPod
	present    []*podclass.Class                // classes of the counted pods, and of pods that lose their place or come back
	inSpace    map[string][]countedPod          // by namespace
	byLabel    map[selectors.Label][]countedPod // by label; nil until it is needed
	known      map[string]map[string]int
	spaces     *podterm.Namespaces
	kubernetes minors.Range
	affinities affinityTerms
	spreads    spreads
	hosts      spreads // spreads over the name of the node

	defaults *podterm.Defaults // default topology spreads of pods without any
}

type countedPod struct {
	pod  *corev1.Pod
	kind *podclass.Class
	node *corev1.Node
}

// classFacts are the constraints that concern the pods of a class.
type classFacts struct {
	selecting []int // indexes of the affinity terms that select them
	spreads   []ownSpread
	hosts     []ownSpread // spreads over the name of the node
}

// facts returns the constraints of a class. All affinity terms must have been read.
func (c *topologyCounts) facts(kind *podclass.Class) *classFacts {
	for len(c.read) <= kind.Number {
		c.read = append(c.read, nil)
	}
	if c.read[kind.Number] == nil {
		f := &classFacts{selecting: c.affinities.selecting(kind.Pod)}
		f.spreads, f.hosts = c.spreadsOf(kind.Pod)
		c.read[kind.Number] = f
	}
	return c.read[kind.Number]
}

func newSpreadCensus(w *Simulation) *topologyCounts {
	c := &topologyCounts{kinds: w.Kinds, terms: map[*podclass.Class][]affinityTerm{}, inSpace: map[string][]countedPod{}, domains: map[string]map[string][]*corev1.Node{}, known: map[string]map[string]int{}, spaces: w.namespaces(), kubernetes: w.kubernetes(), defaults: w.Defaults}
	elsewhere := w.leavingPods()
	for _, n := range w.In.Nodes {
		if n.Node == nil {
			continue
		}
		c.nodes = append(c.nodes, n.Node) // also if it leaves: its domain exists until it is gone
		for _, p := range n.Pods {
			switch {
			case p == nil:
			case podlife.ComesBack(p):
				elsewhere = append(elsewhere, p)
			case p.DeletionTimestamp.IsZero() && !podlife.Finished(p):
				one := countedPod{p, c.kinds.Of(p), n.Node}
				c.counted = append(c.counted, one)
				c.inSpace[p.Namespace] = append(c.inSpace[p.Namespace], one)
			}
		}
	}
	c.findKinds(elsewhere)
	c.readAffinities()
	c.readSpreads(w.waitingPods())
	return c
}

// findKinds lists the classes of the counted pods, and of pods that lose their place: these may be
// bound to nodes that do not exist yet, or come back to one.
func (c *topologyCounts) findKinds(others []*corev1.Pod) {
	seen := map[*podclass.Class]bool{}
	add := func(kind *podclass.Class) {
		if !seen[kind] {
			seen[kind] = true
			c.present = append(c.present, kind)
		}
	}
	for _, p := range c.counted {
		add(p.kind)
	}
	for _, p := range others {
		add(c.kinds.Of(p))
	}
}

// pins returns the labels of its node that a pod of a kind must keep; nil if there are none. A
// label is left out if the pod's node selector now requires another value.
func (c *topologyCounts) pins(kind *podclass.Class, node *corev1.Node) map[string]string {
	out := c.pinnedByAffinity(kind, node)
	spreads := c.facts(kind).spreads
	for i := range spreads {
		t := &spreads[i]
		domain, found := node.Labels[t.TopologyKey]
		if !found {
			continue
		}
		counts := c.counts(kind, t)
		if counts[domain]-t.least(counts) > int(t.MaxSkew) {
			return nil
		}
		if out == nil {
			out = map[string]string{}
		}
		out[t.TopologyKey] = domain
	}
	for key, value := range kind.Pod.Spec.NodeSelector { // the order does not matter
		if out[key] != value {
			delete(out, key)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// counts returns the number of pods that a spread of pods of a kind counts, by domain. It is
// computed once for all pods of a workload.
func (c *topologyCounts) counts(kind *podclass.Class, t *ownSpread) map[string]int {
	counts, found := c.known[t.text]
	if !found {
		counts = c.count(kind.Pod, t)
		c.known[t.text] = counts
	}
	return counts
}

// count computes counts. As in kube-scheduler, only pods on nodes that the spread counts are
// counted.
func (c *topologyCounts) count(p *corev1.Pod, t *ownSpread) map[string]int {
	counts := map[string]int{}
	looks := t.view(p)
	for domain, nodes := range c.domainsOver(t.TopologyKey) { // the order does not matter
		if slices.ContainsFunc(nodes, looks.at) {
			counts[domain] = 0
		}
	}
	for _, other := range c.among(&t.pods) {
		domain, found := other.node.Labels[t.TopologyKey]
		if _, eligible := counts[domain]; found && eligible && t.pods.Select(other.pod.Namespace, other.pod.Labels) && looks.at(other.node) {
			counts[domain]++
		}
	}
	return counts
}

// domainsOver returns the nodes by their values of a label.
func (c *topologyCounts) domainsOver(key string) map[string][]*corev1.Node {
	if known, found := c.domains[key]; found {
		return known
	}
	out := map[string][]*corev1.Node{}
	for _, n := range c.nodes {
		if value, found := n.Labels[key]; found {
			out[value] = append(out[value], n)
		}
	}
	c.domains[key] = out
	return out
}

// among returns a superset of the counted pods that are in pods.
func (c *topologyCounts) among(pods *podterm.Pods) []countedPod {
	if len(pods.Namespaces) != 1 {
		return c.counted
	}
	namespace := pods.Namespaces[0]
	key, value, single := selectors.SingleValue(pods.Selector)
	if !single {
		return c.inSpace[namespace]
	}
	if c.byLabel == nil {
		c.byLabel = map[selectors.Label][]countedPod{}
		for _, p := range c.counted {
			for key, value := range p.pod.Labels { // every label has a list of its own
				at := selectors.Label{Namespace: p.pod.Namespace, Key: key, Value: value}
				c.byLabel[at] = append(c.byLabel[at], p)
			}
		}
	}
	return c.byLabel[selectors.Label{Namespace: namespace, Key: key, Value: value}]
}

// ownSpread is a required topology spread of a pod.
type ownSpread struct {
	*corev1.TopologySpreadConstraint
	text string       // result of key
	pods podterm.Pods // the pods that it counts
	keys []string     // labels that a node must have to be counted, sorted
}

// spreadsOf returns the required topology spreads of a pod: those over the name of the node in
// hosts, and the others in out. A selector that cannot be read counts no pods, and the engine
// refuses such a pod.
func (c *topologyCounts) spreadsOf(p *corev1.Pod) (out, hosts []ownSpread) {
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
		if own.pods, err = podterm.Spread(p, t, c.kubernetes); err != nil {
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

// spreadView is the set of nodes that a spread of a pod counts.
type spreadView struct {
	pod      *corev1.Pod
	keys     []string // labels that the nodes must have
	affinity bool     // only nodes that the pod's node selector and node affinity match
	selected nodeaffinity.RequiredNodeAffinity
	taints   bool // only nodes whose taints the pod tolerates
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

// asksOfNodes reports whether a pod has a node selector or a required node affinity.
func asksOfNodes(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return len(p.Spec.NodeSelector) > 0 || a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// text returns a key that is equal for views of the same nodes.
func (v *spreadView) text() string {
	said := struct {
		Keys        []string
		Selector    map[string]string
		Affinity    *corev1.NodeAffinity
		Tolerations []corev1.Toleration
		Taints      bool
	}{Keys: v.keys, Taints: v.taints}
	if v.affinity {
		said.Selector = v.pod.Spec.NodeSelector
		if a := v.pod.Spec.Affinity; a != nil {
			said.Affinity = a.NodeAffinity
		}
	}
	if v.taints {
		said.Tolerations = v.pod.Spec.Tolerations
	}
	text, _ := json.Marshal(said) // encoding of these types cannot fail
	return string(text)
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
		ok = !v.taints || estimate.Tolerates(v.pod, n.Spec.Taints)
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

// least returns the count of the domain with the fewest pods, and 0 if there are fewer domains than
// minDomains.
func (t *ownSpread) least(counts map[string]int) int {
	if len(counts) < t.fewest() {
		return 0
	}
	out, first := 0, true
	for _, n := range counts { // the order does not matter
		if first || n < out {
			out, first = n, false
		}
	}
	return out
}

// fewest returns minDomains, by default 1.
func (t *ownSpread) fewest() int {
	if t.MinDomains == nil {
		return 1
	}
	return int(*t.MinDomains)
}

// key returns a text that is equal for constraints that count the same pods in the same domains.
func (t *ownSpread) key(p *corev1.Pod) string {
	var key strings.Builder
	fmt.Fprintf(&key, "%s|%q|%d|%s", t.TopologyKey, t.keys, t.fewest(), t.pods.Text())
	if t.honorsAffinity() {
		estimate.WriteNodeDemand(&key, p)
	}
	if t.honorsTaints() {
		fmt.Fprintf(&key, "|%+v", p.Spec.Tolerations)
	}
	return key.String()
}

// domainsOf returns the values of a label that a new node may have, sorted.
func domainsOf(n *provisioning.NewNode, key string) []string {
	seen := map[string]bool{}
	if value, found := n.Labels[key]; found {
		return []string{value}
	}
	for _, o := range n.Options {
		if value, found := nodeLabel(o, key); found {
			seen[value] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// nodeLabel returns the value of a label that a node launched by an option is certain to have, as
// LaunchOption.NodeLabels does. For the zone it avoids computing all labels.
func nodeLabel(o cloudprovider.LaunchOption, key string) (value string, found bool) {
	if zone := o.Offering.Zone; key == corev1.LabelTopologyZone && zone != "" {
		_, narrowed := o.Offering.Requirements.Get(key)
		of, asked := o.InstanceType.Requirements.Get(key)
		if !narrowed && (!asked || of.Has(zone)) {
			return zone, true
		}
	}
	value, found = o.NodeLabels()[key]
	return value, found
}

// honors reports whether a policy of a topology spread is Honor. Nil reports false, which is the
// default for taints.
func honors(policy *corev1.NodeInclusionPolicy) bool {
	return policy != nil && *policy == corev1.NodeInclusionPolicyHonor
}
