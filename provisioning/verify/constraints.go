package verify

import (
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/exclusive"
)

// faultFunc takes down a fault of the pod being judged, podFaultFunc one of a pod by its
// name; "" is the node as a whole.
type (
	faultFunc    func(rule Rule, format string, args ...any)
	podFaultFunc func(rule Rule, pod, format string, args ...any)
)

// constraintKind is a kind of constraint for which it matters what a node has beyond
// labels and room, such as its pods. It has seat, node or both.
type constraintKind struct {
	// rules are those that it judges, for which the engine has a kind of the same name.
	rules []Rule
	// taste lists what a pod has of the kind, or others have that keep it away. Pods of a
	// namespace with the same labels and tastes may go to the same places, so a kind by which
	// pods keep others away that ask for nothing themselves says something of every pod as
	// soon as one has it.
	taste func(*referee, *podInfo) []string
	// seat judges a pod at its turn: may it come to a site beside those before it?
	seat func(*referee, *targetNode, *podInfo, faultFunc)
	// node judges pods that come to a site, in whatever order, beside those of the plan
	// that are there.
	node func(r *referee, s *targetNode, there, coming []*podInfo, note podFaultFunc)
}

// constraintKinds are all of them. A new one is an entry here and a file of its own, with
// the name of its rule.
var constraintKinds = [...]constraintKind{
	{rules: []Rule{RuleSpread}, taste: spreadTaste, seat: (*referee).judgeSpread},
	{rules: []Rule{RuleAffinity}, taste: companyTaste, seat: (*referee).judgeCompany},
	{rules: []Rule{RuleAntiAffinity}, taste: apartTaste, seat: (*referee).judgeApart},
	{rules: []Rule{RuleVolumes}, taste: volumesTaste, seat: (*referee).judgeVolumes, node: (*referee).judgeAttachments},
	{rules: []Rule{RuleHostPorts, RuleVolumes}, taste: exclusiveTaste, node: (*referee).judgeExclusive},
}

// minds says whether it depends on other pods, or on more than labels and room,
// where a pod may be.
func (r *referee) minds(p *podInfo) bool { return r.tastes(p) != "" }

// tastes are the same for pods that mind the same, "" of those that mind nothing. It is for
// when all turns are over: what pods want of each other is known by then.
func (r *referee) tastes(p *podInfo) string {
	if p.tastes == nil {
		var all []string
		for i := range constraintKinds {
			all = append(all, constraintKinds[i].taste(r, p)...)
		}
		p.tastes = new(string)
		if len(all) > 0 {
			*p.tastes = fmt.Sprintf("%s %q %q", p.Namespace, p.Labels, all)
		}
	}
	return *p.tastes
}

// judgeSeat asks whether a pod may come to a site now, as far as other pods and
// the outside have a say in it.
func (r *referee) judgeSeat(s *targetNode, p *podInfo, note faultFunc) {
	if p.wantsErr != nil {
		note(RuleAffinity, "its constraints on other pods cannot be read: %v", p.wantsErr)
	}
	for i := range constraintKinds {
		if seat := constraintKinds[i].seat; seat != nil {
			seat(r, s, p, note)
		}
	}
}

// judgeNode asks whether pods may come to a site beside others of the plan, as far as their
// order does not matter.
func (r *referee) judgeNode(s *targetNode, there, coming []*podInfo, note podFaultFunc) {
	for i := range constraintKinds {
		if node := constraintKinds[i].node; node != nil {
			node(r, s, there, coming, note)
		}
	}
}

// checkNodes judges the pods that the plan puts on each site.
func (r *referee) checkNodes() {
	for _, s := range r.sites {
		r.judgeNode(s, nil, s.placed, func(rule Rule, pod, format string, args ...any) {
			r.report(rule, s.name, pod, format, args...)
		})
	}
}

// welcome says whether a pod may come to a site after all the others.
func (r *referee) welcome(s *targetNode, p *podInfo) bool {
	if !r.minds(p) {
		return true
	}
	welcome := true
	r.judgeSeat(s, p, func(Rule, string, ...any) { welcome = false })
	if !welcome || !r.reunited(s, p) {
		return false
	}
	r.judgeNode(s, s.placed, []*podInfo{p}, func(Rule, string, string, ...any) { welcome = false })
	return welcome
}

func spreadTaste(_ *referee, p *podInfo) (out []string) {
	for _, w := range p.wants {
		out = append(out, fmt.Sprintf("spread %p %d %d", w.spreadCounter, w.skew, w.minDomains))
	}
	return out
}

func companyTaste(_ *referee, p *podInfo) (out []string) {
	for _, c := range p.companies {
		out = append(out, fmt.Sprintf("with %p", c))
	}
	return out
}

func apartTaste(r *referee, p *podInfo) (out []string) {
	for _, t := range slices.Concat(p.apart, r.counters.of(p).terms) {
		out = append(out, fmt.Sprintf("apart %p", t))
	}
	return out
}

func volumesTaste(r *referee, p *podInfo) (out []string) {
	if len(p.Spec.Volumes) > 0 {
		out = append(out, "volumes")
		for _, c := range r.storage.ClaimsOf(p.Pod) {
			out = append(out, c.Key.String())
		}
	}
	return out
}

func exclusiveTaste(_ *referee, p *podInfo) (out []string) {
	for _, e := range exclusive.Of(p.Pod) {
		out = append(out, fmt.Sprintf("%s %s %t", e.Name, e.IP, e.Share))
	}
	return out
}
