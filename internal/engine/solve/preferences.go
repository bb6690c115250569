package solve

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// preference is one preference of the pods of a class.
type preference struct {
	kind   model.Cause
	weight int
	node   *requirements.Preference // for kind CauseRequirements
	term   workload.Term            // for a preference between pods
	rule   int                      // domain rule of the term; negative if it is over the hostname
	taint  *corev1.Taint            // for kind CauseTaints
}

// preferencesOf lists the preferences of a class, including those against the given
// PreferNoSchedule taints.
func preferencesOf(p *compile.Problem, c int, taints []corev1.Taint) (out []preference) {
	class := &p.Classes[c]
	if class.Refusal != nil || class.Headroom {
		return nil
	}
	for i := range class.Preferences {
		out = append(out, preference{kind: model.CauseRequirements, weight: int(class.Preferences[i].Weight), node: &class.Preferences[i]})
	}
	soft := p.Rules.ByClass[c].Soft
	for _, t := range class.Terms {
		if t.Weight == 0 {
			continue
		}
		next := preference{kind: kindOf(t), weight: t.Weight, term: t, rule: -1}
		if t.Key != corev1.LabelHostname {
			next.rule, soft = soft[0], soft[1:]
		}
		out = append(out, next)
	}
	for _, t := range model.Untolerated(taints, class.Tolerations) {
		out = append(out, preference{kind: model.CauseTaints, weight: compile.PreferNoSchedule, taint: &t})
	}
	return out
}

func kindOf(t workload.Term) model.Cause {
	switch t.Kind {
	case topology.Together:
		return model.CauseAffinity
	case topology.Apart:
		return model.CauseAntiAffinity
	}
	return model.CauseSpread
}

// softTaints lists the distinct PreferNoSchedule taints of pools and nodes.
func softTaints(p *compile.Problem) (out []corev1.Taint) {
	add := func(taints []corev1.Taint) {
		for _, t := range taints {
			t.TimeAdded = nil
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	for i := range p.Pools {
		add(poolTaints(p, i))
	}
	for i := range p.Nodes {
		if p.Nodes[i].Marks&model.Shunned != 0 {
			add(p.Nodes[i].SoftTaints)
		}
	}
	return out
}

func poolTaints(p *compile.Problem, pool int) []corev1.Taint {
	return model.SoftTaints(p.Pools[pool].Object.Spec.Template.Spec.Taints)
}

// preferenceJudge decides which preferences the nodes of a solution satisfy.
type preferenceJudge struct {
	p      *compile.Problem
	bins   []*ledger.Bin        // nodes that get pods
	counts []ledger.Count       // by domain rule
	least  map[preferenceID]int // by topology spread: the fewest pods in a domain
}

// preferenceID identifies a preference by class and index in preferencesOf.
type preferenceID struct{ class, number int }

// satisfied says whether a bin of the solution satisfies a preference of a pod on it. A new node
// must satisfy the preference in every domain in which it may be.
func (j *preferenceJudge) satisfied(id preferenceID, w *preference, s *ledger.Bin) bool {
	switch {
	case w.node != nil:
		return j.selected(id, w.node, s)
	case w.taint != nil:
		return !j.tainted(w.taint, s)
	case w.rule < 0:
		return j.holds(id, w, j.onHost(w, s))
	}
	at := &s.At[j.p.Rules.Domain[w.rule].Key]
	if at.Lacks && w.kind != model.CauseAntiAffinity {
		return false
	}
	_, sure := at.Sure()
	for _, d := range at.Domains {
		n := j.counts[w.rule].Least[d]
		if !sure {
			n += j.members(w, s) // which are not counted there
		}
		if !j.holds(id, w, n) {
			return false
		}
	}
	return true
}

// selected says whether the labels and the name of a bin satisfy a preferred node affinity.
func (j *preferenceJudge) selected(id preferenceID, pref *requirements.Preference, s *ledger.Bin) bool {
	if s.Node >= 0 {
		return j.p.NodeSatisfies(id.class, id.number, &j.p.Nodes[s.Node].Standing)
	}
	_, sure := s.BinType.Satisfies(j.p, pref.Set)
	return sure && pref.NodeNames == nil
}

func (j *preferenceJudge) tainted(taint *corev1.Taint, s *ledger.Bin) bool {
	if s.Node >= 0 {
		return hasTaint(j.p.Nodes[s.Node].SoftTaints, taint)
	}
	return hasTaint(poolTaints(j.p, s.BinType.Pool), taint)
}

// hasTaint says whether a list has a taint with the same key, effect and value.
func hasTaint(taints []corev1.Taint, taint *corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(taint) && t.Value == taint.Value })
}

// holds says whether a preference between pods is satisfied for a pod in a domain with the given
// number of selected pods.
func (j *preferenceJudge) holds(id preferenceID, w *preference, there int) bool {
	switch w.kind {
	case model.CauseSpread:
		return there-j.fewest(id, w) <= w.term.Skew
	case model.CauseAffinity:
		return there > j.self(id.class, w)
	}
	return there == j.self(id.class, w)
}

// self returns 1 if a preference selects the pods of the class itself, or else 0.
func (j *preferenceJudge) self(c int, w *preference) int {
	if j.p.IsMember(c, w.term.Pods) {
		return 1
	}
	return 0
}

// members returns how many pods of the plan on a bin a preference selects.
func (j *preferenceJudge) members(w *preference, s *ledger.Bin) (n int) {
	for _, on := range s.Pods {
		if j.p.IsMember(on.Class, w.term.Pods) {
			n += on.Count
		}
	}
	return n
}

// onHost returns how many pods on a bin a preference selects, running ones included.
func (j *preferenceJudge) onHost(w *preference, s *ledger.Bin) int {
	n := j.members(w, s)
	if s.Node >= 0 {
		n += j.p.SoftScores.Bound[w.term.Pods][s.Node]
	}
	return n
}

// fewest returns the lowest count of any domain of a topology spread.
func (j *preferenceJudge) fewest(id preferenceID, w *preference) int {
	if n, ok := j.least[id]; ok {
		return n
	}
	n := -1
	add := func(there int) {
		if n < 0 || there < n {
			n = there
		}
	}
	if w.rule >= 0 {
		j.eachDomain(w.rule, add)
	} else {
		j.eachHost(id.class, w, add)
	}
	n = max(n, 0)
	j.least[id] = n
	return n
}

// eachDomain calls visit with the count of each domain of a soft topology spread: domains with a
// node or a pod of the plan, and domains in which a node for its pods could be launched.
func (j *preferenceJudge) eachDomain(r int, visit func(there int)) {
	rule, counts := &j.p.Rules.Domain[r], j.counts[r].Least
	launchable := j.p.LaunchableIn(rule)
	for d, n := range counts {
		if rule.Counted[d] || n > rule.Members[d] || slices.Contains(launchable, d) {
			visit(n)
		}
	}
}

// eachHost calls visit with the count of each node that a soft topology spread over the hostname
// counts.
func (j *preferenceJudge) eachHost(c int, w *preference, visit func(there int)) {
	rule := j.p.HostSpread(c, w.term)
	used := map[int]bool{}
	for _, s := range j.bins {
		if s.Node >= 0 {
			used[s.Node] = true
			if j.p.LooksAt(&rule, &j.p.Nodes[s.Node]) {
				visit(j.onHost(w, s))
			}
		} else if ledger.LooksAtBinType(j.p, &rule, s.BinType).Sure {
			visit(j.onHost(w, s))
		}
	}
	bound := j.p.SoftScores.Bound[w.term.Pods]
	for i := range j.p.Nodes {
		if !used[i] && j.p.LooksAt(&rule, &j.p.Nodes[i]) {
			visit(bound[i])
		}
	}
}

// anywhere says whether another pod that a preference selects is running or placed by the plan.
func (j *preferenceJudge) anywhere(c int, w *preference) bool {
	n := -j.self(c, w)
	for _, s := range j.bins {
		n += j.members(w, s)
	}
	if w.rule < 0 {
		for _, there := range j.p.SoftScores.Bound[w.term.Pods] {
			n += there
		}
		return n > 0
	}
	rule := &j.p.Rules.Domain[w.rule]
	for _, there := range rule.Members {
		n += there
	}
	return n > 0 || rule.Elsewhere
}

// text renders a preference.
func (w *preference) text(p *compile.Problem) string {
	switch {
	case w.taint != nil:
		return w.taint.ToString()
	case w.kind == model.CauseSpread:
		return fmt.Sprintf("maxSkew %d, %s", w.term.Skew, p.Rules.Selection(w.term.Pods))
	case w.node == nil:
		return p.Rules.Selection(w.term.Pods).String()
	case w.node.NodeNames == nil:
		return w.node.Set.String()
	case w.node.Set.Len() == 0:
		return w.node.NodeNames.String()
	}
	return w.node.Set.String() + ", " + w.node.NodeNames.String()
}

// key returns the label or taint key of a preference, "" for node affinity.
func (w *preference) key() string {
	if w.taint != nil {
		return w.taint.Key
	}
	return w.term.Key
}
