package verify

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/cover"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
)

// spreadCounter counts the pods that a topology spread constraint is about, in
// the domains of the nodes that it is about. Constraints that agree on both share
// it.
type spreadCounter struct {
	r         *referee
	namespace string
	selector  labels.Selector
	glance    *keyView

	views   []nodeView // by site
	domains map[string]*spreadDomain
	here    map[*targetNode]int // pods on sites that are not sure
	open    int                 // pods that may be in any domain
	certain int                 // domains that exist whatever the new nodes become

	// least is the smallest of the domains' least counts, and tally says how
	// many domains have each such count.
	least int
	tally map[int]int

	// leant says that some pod was let in only because no domain was empty.
	leant bool
}

// spreadDomain is a topology domain that may exist.
type spreadDomain struct {
	most, least int           // pods that may be there, and that are sure to be
	certain     int           // sites that are sure to be there
	unsure      []*targetNode // sites that may be there
}

// podConstraint is a constraint of a pod.
type podConstraint struct {
	*spreadCounter
	skew, minDomains int
	self             int
	covered          cover.Domains // a node could be launched there when the plan begins
}

func (c *spreadCounter) selects(p *podInfo) bool {
	return p.Namespace == c.namespace && p.DeletionTimestamp == nil && c.selector.Matches(labels.Set(p.Labels))
}

func (c *spreadCounter) about() (Rule, []*keyView) { return RuleSpread, []*keyView{c.glance} }

// survey notes the domains of all sites.
func (c *spreadCounter) survey(sites []*targetNode) {
	c.domains, c.here, c.tally = map[string]*spreadDomain{}, map[*targetNode]int{}, map[int]int{}
	c.views = make([]nodeView, len(sites))
	for i, s := range sites {
		v := c.r.view(c.glance, s)
		c.views[i] = v
		for _, value := range v.values {
			d := c.domains[value]
			if d == nil {
				d = &spreadDomain{}
				c.domains[value] = d
				c.tally[0]++
			}
			if !v.sure {
				d.unsure = append(d.unsure, s)
				continue
			}
			if d.certain == 0 {
				c.certain++
			}
			d.certain++
		}
	}
}

func (c *spreadCounter) seat(s *targetNode, p *podInfo, sure bool) {
	if p.virtual && c.r.pending {
		return
	}
	v := &c.views[s.number]
	for _, value := range v.values {
		d := c.domains[value]
		d.most++
		if v.sure && sure {
			c.tally[d.least]--
			d.least++
			c.tally[d.least]++
		}
	}
	for c.tally[c.least] == 0 && len(c.domains) > 0 {
		c.least++
	}
	if v.open {
		c.open++
	}
	if !v.sure && sure {
		c.here[s]++
	}
}

// spreads reads the constraints of a pod that are hard, or those of everybody
// where it has none.
func (r *referee) spreads(p *podInfo) (wants []podConstraint, err error) {
	if len(p.Spec.TopologySpreadConstraints)+len(r.defaultSpread) == 0 {
		return nil, nil
	}
	hard, err := r.selectors().Spreads(p.Pod, r.defaultSpread)
	for i := range hard {
		want := podConstraint{spreadCounter: r.spreadOf(p, &hard[i]), skew: int(hard[i].MaxSkew), minDomains: 1}
		if hard[i].MinDomains != nil {
			want.minDomains = int(*hard[i].MinDomains)
		}
		if hard[i].Selector.Matches(labels.Set(p.Labels)) {
			want.self = 1
		}
		want.covered = r.covered(p, &want)
		wants = append(wants, want)
	}
	return wants, err
}

func (r *referee) spreadOf(p *podInfo, of *podselect.Spread) *spreadCounter {
	var affinity *nodefit.Selection
	if of.NodeAffinityPolicy == nil || *of.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		affinity = p.selection
	}
	taints := of.NodeTaintsPolicy != nil && *of.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	id := fmt.Sprintf("%s\n%t %s\n%q %q", p.Namespace, of.Selector.Empty(), of.Selector, of.TopologyKey, of.Keys)
	if affinity != nil {
		id += fmt.Sprintf("\n%d", affinity.Number)
	}
	if taints {
		id += fmt.Sprintf("\n%q", p.tolerations.Text())
	}
	if known := r.spreadsOf[id]; known != nil {
		return known
	}
	c := &spreadCounter{r: r, namespace: p.Namespace, selector: of.Selector, glance: r.newGlance(of.TopologyKey, of.Keys, affinity)}
	c.glance.taints, c.glance.tolerations = taints, p.tolerations
	c.survey(r.sites)
	r.spreadsOf[id] = c
	r.spreadList = append(r.spreadList, c)
	if of.Counts {
		r.counters.add(c, []string{p.Namespace}, of.Selector)
	}
	return c
}

// judgeSpread wants a pod where it keeps the skew whatever the new nodes become.
func (r *referee) judgeSpread(s *targetNode, p *podInfo, note faultFunc) {
	for _, w := range p.wants {
		if p.virtual && w.glance.key == corev1.LabelHostname {
			continue // room for several pods of a buffer may be on one node
		}
		v := w.viewAt(s)
		if v.lacks {
			note(RuleSpread, "it is to be spread over %s, a label that the node may lack", w.glance.key)
			continue
		}
		for _, value := range v.values {
			most, least := w.bounds(value)
			if w.lets(most, least) && w.below(value, most) == "" {
				w.leant = w.leant || most+w.self > w.skew
				continue
			}
			w.leant = true
			if least, worst := w.worst(s, value, most); !w.lets(worst, least) || r.cautious {
				note(RuleSpread, "when its turn comes, %s=%s, where the node may be, may have %d of the pods that its topology spread counts, another domain %d; with it the skew is above %d",
					w.glance.key, r.shownDomain(s, w.glance.key, value), worst, least, w.skew)
				break
			}
			if below := w.below(value, most); below != "" {
				note(RuleSpread, "when its turn comes, %s=%s, where the node may be, may have %d of the pods that its topology spread counts; NodePool %s could launch a node in %s=%s when the plan begins, so the spread covers that domain, which has %d; with the pod the skew is above %d",
					w.glance.key, r.shownDomain(s, w.glance.key, value), most, w.covered[below], w.glance.key, below, w.leastIn(below), w.skew)
				break
			}
		}
	}
}

// covered are the domains that a spread of a pod covers though they need not have a node. Where
// an engine may be careful, the volumes of the pod do not narrow them.
func (r *referee) covered(p *podInfo, w *podConstraint) cover.Domains {
	if w.glance.key == corev1.LabelHostname {
		return nil // a new node gets a name of its own once it is there
	}
	return r.launchable.Domains(cover.Question{
		Pod: p.Pod, Key: r.vocabulary.NormalizeKey(w.glance.key), Keys: w.glance.keys, Honors: w.glance.taints, Anywhere: r.pending,
	})
}

// below is a covered domain that a domain would be too far above; "" if there is none.
func (w *podConstraint) below(value string, most int) string {
	for _, name := range slices.Sorted(maps.Keys(w.covered)) {
		if name != value && !w.lets(most, w.leastIn(name)) {
			return name
		}
	}
	return ""
}

// leastIn is how many pods are sure to be in a domain.
func (w *podConstraint) leastIn(name string) int {
	if d := w.domains[name]; d != nil {
		return d.least
	}
	return 0
}

// viewAt is what the constraint sees of a site, which may be one that the plan
// does not have.
func (w *podConstraint) viewAt(s *targetNode) nodeView {
	if s.number < 0 {
		return w.r.view(w.glance, s)
	}
	return w.views[s.number]
}

func (w *podConstraint) lets(most, least int) bool { return most+w.self-least <= w.skew }

// bounds are how many pods may be in a domain, and how few in some other.
func (w *podConstraint) bounds(value string) (most, least int) {
	most, certain := w.open, w.certain
	d := w.domains[value]
	switch {
	case d == nil:
		return most, 0 // it is the domain with the fewest pods
	case value == nodefit.OtherValue:
		for _, other := range w.domains {
			most = max(most, other.most)
		}
	default:
		most = d.most + w.openElsewhere(d)
	}
	if d.certain == 0 {
		certain++
	}
	if certain < w.minDomains {
		return most, 0
	}
	return most, w.least
}

// openElsewhere are pods that may be in a domain as they may be in any. Those of
// its own count are not among them.
func (w *podConstraint) openElsewhere(d *spreadDomain) int {
	open := w.open
	for _, s := range d.unsure {
		if w.views[s.number].open {
			open -= w.here[s]
		}
	}
	return max(open, 0)
}

// worst looks closer than bounds: a domain that only unsure nodes may be in is
// there only if one of them is, with the pods it has. It returns the counts of
// the worst case.
func (w *podConstraint) worst(s *targetNode, value string, most int) (fewest, there int) {
	certain := w.certain
	if d := w.domains[value]; d != nil && d.certain == 0 {
		certain++
	}
	if certain < w.minDomains {
		return 0, most
	}
	fewest, there = most, most
	for name, d := range w.domains {
		if name == value {
			continue
		}
		if d.certain > 0 {
			if most-d.least > there-fewest {
				fewest, there = d.least, most
			}
			continue
		}
		for _, maker := range d.unsure {
			if maker == s {
				continue
			}
			left := most
			if slices.Contains(w.views[maker.number].values, value) {
				left -= w.here[maker]
			}
			if left-w.here[maker] > there-fewest {
				fewest, there = w.here[maker], left
			}
		}
	}
	return fewest, there
}
