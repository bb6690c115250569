package verify

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// spreadCounter counts by domain the pods that a topology spread constraint selects. Constraints
// with the same selector over the same nodes share a spreadCounter.
type spreadCounter struct {
	r         *referee
	namespace string
	selector  labels.Selector
	topology  *topology

	sites   []domains // by site
	counts  domainCounts
	certain map[string]bool // by domain that may exist: some site is certain to be there
	exist   int             // number of domains that are certain

	// fewest is the lowest least count of any domain. tally is, by least count, the number of
	// domains with it.
	fewest int
	tally  map[int]int

	// needsEveryDomain says that some pod was admitted only because no domain had too few pods.
	needsEveryDomain bool
}

// podSpread is a topology spread constraint of a pod.
type podSpread struct {
	*spreadCounter
	skew, minDomains int
	self             int               // 1 if the constraint counts its own pod
	launchable       map[string]string // by domain in which a node could be launched when the plan starts: a NodePool
}

func (c *spreadCounter) selects(p *podInfo) bool {
	return p.Namespace == c.namespace && p.DeletionTimestamp == nil && c.selector.Matches(labels.Set(p.Labels))
}

func (c *spreadCounter) about() (Rule, []*topology) { return RuleSpread, []*topology{c.topology} }

// findDomains records the domains of all sites.
func (c *spreadCounter) findDomains(sites []*site) {
	for _, s := range sites {
		d := c.r.domainsOf(c.topology, s)
		c.sites = append(c.sites, d)
		for _, value := range d.values {
			if _, known := c.certain[value]; !known {
				c.tally[0]++
			}
			if d.sure && !c.certain[value] {
				c.exist++
			}
			c.certain[value] = c.certain[value] || d.sure
		}
	}
}

func (c *spreadCounter) count(s *site, p *podInfo, sure bool) {
	if p.virtual && c.r.pending {
		return
	}
	d := c.sites[s.number]
	if c.counts.add(d, p, sure) {
		n := c.counts.least[d.values[0]]
		c.tally[n-1]--
		c.tally[n]++
	}
	for c.tally[c.fewest] == 0 && len(c.certain) > 0 {
		c.fewest++
	}
}

// spreads reads the DoNotSchedule constraints of a pod, or the default ones if it has no
// constraints.
func (r *referee) spreads(p *podInfo) (spreads []podSpread, err error) {
	if len(p.Spec.TopologySpreadConstraints)+len(r.defaultSpread) == 0 {
		return nil, nil
	}
	hard, err := r.selectors().Spreads(p.Pod, r.defaultSpread)
	for i := range hard {
		w := podSpread{spreadCounter: r.spreadCounterOf(p, &hard[i]), skew: int(hard[i].MaxSkew), minDomains: 1}
		if hard[i].MinDomains != nil {
			w.minDomains = int(*hard[i].MinDomains)
		}
		if hard[i].Selector.Matches(labels.Set(p.Labels)) {
			w.self = 1
		}
		w.launchable = r.launchableDomains(p, w.topology)
		spreads = append(spreads, w)
	}
	return spreads, err
}

func (r *referee) spreadCounterOf(p *podInfo, of *podselect.Spread) *spreadCounter {
	t := r.newTopology(of.TopologyKey, of.Keys, nil)
	id := fmt.Sprintf("%s\n%t %s\n%q %q", p.Namespace, of.Selector.Empty(), of.Selector, of.TopologyKey, of.Keys)
	if of.NodeAffinityPolicy == nil || *of.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		t = r.newTopology(of.TopologyKey, of.Keys, p.selection)
		id += fmt.Sprintf("\n%d", p.selection.Number)
	}
	if of.NodeTaintsPolicy != nil && *of.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		t.taints, t.tolerations = true, p.tolerations
		id += fmt.Sprintf("\n%q", p.tolerations.Text())
	}
	if known := r.spreadCounters[id]; known != nil {
		return known
	}
	c := &spreadCounter{
		r: r, namespace: p.Namespace, selector: of.Selector, topology: t,
		counts: newDomainCounts(), certain: map[string]bool{}, tally: map[int]int{},
	}
	c.findDomains(r.sites)
	r.spreadCounters[id] = c
	if of.Counts {
		r.counters.add(c, []string{p.Namespace}, of.Selector)
	}
	return c
}

// judgeSpread reports a pod that breaks maxSkew in any domain in which its node may be.
func (r *referee) judgeSpread(s *site, p *podInfo, note faultFunc) {
	for i := range p.spreads {
		w := &p.spreads[i]
		key := w.topology.key
		if p.virtual && key == corev1.LabelHostname {
			continue // one node may have room for several pods of a buffer
		}
		at := r.domainsOf(w.topology, s)
		if at.lacks {
			note(RuleSpread, "its topology spread is over %s, a label that the node may lack", key)
			continue
		}
		for _, value := range at.values {
			most, least := w.bounds(value)
			if !w.allows(most, least) {
				note(RuleSpread, "when it is bound, %s=%s may have %d of the pods that its topology spread counts, another domain %d; with the pod the skew is above %d",
					key, r.shownDomain(s, key, value), most, least, w.skew)
				break
			}
			if below := w.tooFarBelow(value, most); below != "" {
				note(RuleSpread, "when it is bound, %s=%s may have %d of the pods that its topology spread counts; NodePool %s could launch a node in %s=%s when the plan begins, so the spread covers that domain, which has %d; with the pod the skew is above %d",
					key, r.shownDomain(s, key, value), most, w.launchable[below], key, below, w.counts.least[below], w.skew)
				break
			}
			w.needsEveryDomain = w.needsEveryDomain || most+w.self > w.skew
		}
	}
}

// tooFarBelow returns a launchable domain with so few pods that another domain with one more pod
// would exceed maxSkew; "" if there is none.
func (w *podSpread) tooFarBelow(value string, most int) string {
	for _, name := range slices.Sorted(maps.Keys(w.launchable)) {
		if name != value && !w.allows(most, w.counts.least[name]) {
			return name
		}
	}
	return ""
}

func (w *podSpread) allows(most, least int) bool { return most+w.self-least <= w.skew }

// bounds returns the largest number of pods that a domain may have, and the lowest number that any
// other domain may have.
func (w *podSpread) bounds(value string) (most, least int) {
	certain, known := w.certain[value]
	exist := w.exist
	if !certain {
		exist++
	}
	most, least = w.counts.atMost(value), w.fewest
	switch {
	case !known || exist < w.minDomains:
		return most, 0
	case w.allows(most, least) || w.tally[least] > 1 || w.counts.least[value] > least:
		return most, least
	}
	least = most // the domain itself has the fewest
	for other := range w.certain {
		if other != value {
			least = min(least, w.counts.least[other])
		}
	}
	return most, least
}

// extendedBy says whether a node would add a domain to the constraint.
func (c *spreadCounter) extendedBy(s *site) bool {
	return slices.ContainsFunc(c.r.domainsOf(c.topology, s).values, func(value string) bool { return !c.certain[value] })
}
