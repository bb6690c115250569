package verify

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// spreadDomains are the domains over which a topology spread constraint spreads pods.
type spreadDomains struct {
	certain map[string]bool // by domain that may exist: some site is certain to be there
	exist   int             // number of domains that are certain

	// fewest is the lowest least count of any domain. tally is, by least count, the number of
	// domains with it.
	fewest int
	tally  map[int]int
}

// podSpread is a topology spread constraint of a pod.
type podSpread struct {
	*counter
	skew, minDomains int
	self             int               // 1 if the constraint counts its own pod
	launchable       map[string]string // by domain in which a node could be launched when the plan starts: a NodePool
}

// newSpread returns the counts of a topology spread over the domains of all sites.
func (r *referee) newSpread(t *topology) domainCounts {
	d := &spreadDomains{certain: map[string]bool{}, tally: map[int]int{}}
	for _, s := range r.sites {
		at := r.domainsOf(t, s)
		for _, value := range at.values {
			if at.sure && !d.certain[value] {
				d.exist++
			}
			d.certain[value] = d.certain[value] || at.sure
		}
	}
	d.tally[0] = len(d.certain)
	counts := newDomainCounts(t)
	counts.spread = d
	return counts
}

// added notes that a domain has one pod more than before.
func (d *spreadDomains) added(before int) {
	d.tally[before]--
	d.tally[before+1]++
	for d.tally[d.fewest] == 0 {
		d.fewest++
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
		w := podSpread{counter: r.spreadCounter(p, &hard[i]), skew: int(hard[i].MaxSkew), minDomains: 1}
		if hard[i].MinDomains != nil {
			w.minDomains = int(*hard[i].MinDomains)
		}
		if hard[i].Selector.Matches(labels.Set(p.Labels)) {
			w.self = 1
		}
		w.launchable = r.launchableDomains(p, w.counts[0].topology)
		spreads = append(spreads, w)
	}
	return spreads, err
}

// spreadCounter returns the counter of a constraint. Constraints with the same selector over the
// same nodes share it.
func (r *referee) spreadCounter(p *podInfo, of *podselect.Spread) *counter {
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
	counted := of.Selector
	if !of.Counts {
		counted = labels.Nothing()
	}
	namespace, selector := p.Namespace, of.Selector
	return r.counters.get(RuleSpread, id, []string{namespace}, counted, func(c *counter) {
		c.selects = func(pod *corev1.Pod) bool {
			return pod.Namespace == namespace && pod.DeletionTimestamp == nil && selector.Matches(labels.Set(pod.Labels))
		}
		c.counts = []domainCounts{r.newSpread(t)}
	})
}

// judgeSpread reports a pod that breaks maxSkew in any domain in which its node may be.
func (r *referee) judgeSpread(s *site, p *podInfo, note faultFunc) {
	for i := range p.spreads {
		w := &p.spreads[i]
		counts := &w.counts[0]
		key := counts.key
		if p.virtual && key == corev1.LabelHostname {
			continue // one node may have room for several pods of a buffer
		}
		at := r.domainsOf(counts.topology, s)
		if at.lacks {
			note(RuleSpread, p, "its topology spread is over %s, a label that the node may lack", key)
			continue
		}
		for _, value := range at.values {
			most := counts.atMost(value)
			if least := w.leastElsewhere(value, most); !w.allows(most, least) {
				note(RuleSpread, p, "when it is bound, %s=%s may have %d of the pods that its topology spread counts, another domain %d; with the pod the skew is above %d",
					key, r.shownDomain(s, key, value), most, least, w.skew)
				break
			}
			if below := w.tooFarBelow(value, most); below != "" {
				note(RuleSpread, p, "when it is bound, %s=%s may have %d of the pods that its topology spread counts; NodePool %s could launch a node in %s=%s when the plan begins, so the spread covers that domain, which has %d; with the pod the skew is above %d",
					key, r.shownDomain(s, key, value), most, w.launchable[below], key, below, counts.least[below], w.skew)
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
		if name != value && !w.allows(most, w.counts[0].least[name]) {
			return name
		}
	}
	return ""
}

func (w *podSpread) allows(most, least int) bool { return most+w.self-least <= w.skew }

// leastElsewhere returns the lowest number of pods that another domain than one may have, at most
// the number that this one may have. It is 0 if there are fewer than minDomains domains.
func (w *podSpread) leastElsewhere(value string, most int) int {
	d := w.counts[0].spread
	certain, known := d.certain[value]
	exist := d.exist
	if !certain {
		exist++
	}
	if !known || exist < w.minDomains {
		return 0
	}
	least := d.fewest
	if w.counts[0].least[value] == least && d.tally[least] == 1 { // the domain itself has the fewest
		for least++; least < most && d.tally[least] == 0; {
			least++
		}
	}
	return min(least, most)
}

// extendedBy says whether a node would add a domain to a topology spread.
func (r *referee) extendedBy(c *counter, s *site) bool {
	return slices.ContainsFunc(r.domainsOf(c.counts[0].topology, s).values, func(value string) bool {
		return !c.counts[0].spread.certain[value]
	})
}
