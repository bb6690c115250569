package verify

import (
	"fmt"
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// newNode is a new node with the values that the referee computes for it.
type newNode struct {
	*provisioning.NewNode
	pool       *poolInfo
	pods       []*podInfo
	selections []*nodefit.Selection // distinct node selections of pods, by number
	requests   resources.List
	survey     *survey // of its options; nil if it has none
	site       *site   // nil if it has no options
}

// checkNewNodes checks the nodes to launch. Nodes that share a question are checked one after the
// other, so that only one question is in memory at a time.
func (r *referee) checkNewNodes() {
	var keys []string
	alike := map[string][]*newNode{}
	for i := range r.plan.Create {
		f := r.newFresh(&r.plan.Create[i])
		r.fresh[i] = f
		if f == nil || len(f.Options) == 0 {
			continue
		}
		key := fmt.Sprintf("%s\n%s", f.pool.Name, f.Requirements)
		for _, selection := range f.selections {
			key += fmt.Sprintf(" %d", selection.Number)
		}
		if alike[key] == nil {
			keys = append(keys, key)
		}
		alike[key] = append(alike[key], f)
	}
	for _, key := range keys {
		first := alike[key][0]
		q := r.askForPods(first.pool, first.Requirements, first.selections)
		for _, f := range alike[key] {
			f.survey = r.survey(q, f.Options)
			if !f.survey.sound || !r.fits(f.survey, f.requests) {
				r.judgeOptions(f, q)
			}
			r.checkMinValues(f, f.survey.values)
			r.checkSums(f)
		}
	}
	r.addFresh()
}

// newFresh checks what does not depend on the options of a new node. It returns nil for a node of
// an unknown pool.
func (r *referee) newFresh(n *provisioning.NewNode) *newNode {
	if n.Pool == nil {
		r.report(RulePool, n.Name, "", "it has no NodePool")
		return nil
	}
	pool := r.pools[n.Pool.Name]
	if pool == nil {
		r.report(RulePool, n.Name, "", "its NodePool %q is not in the input", n.Pool.Name)
		return nil
	}
	if why := pool.closed(); why != "" {
		r.report(RulePool, n.Name, "", "NodePool %s launches no nodes: it %s", pool.Name, why)
	}
	f := &newNode{NewNode: n, pool: pool, pods: r.knownPods(n.Pods)}
	for _, p := range f.pods {
		r.refuses(pool.Spec.Template.Spec.Taints, nil, p, r.reportOn(f.Name))
		if !slices.Contains(f.selections, p.selection) {
			f.selections = append(f.selections, p.selection)
		}
	}
	slices.SortFunc(f.selections, func(a, b *nodefit.Selection) int { return a.Number - b.Number })
	f.requests, _ = r.sumRequests(n.Name, f.pods)
	r.checkAsked(f)
	if len(n.Options) == 0 {
		r.report(RuleOffering, n.Name, "", "it has no options, so it cannot be launched")
	}
	return f
}

// checkAsked checks that the Requirements of a node are not wider than those of its pool, so that a
// launch from them stays within the pool.
func (r *referee) checkAsked(f *newNode) {
	for want := range f.pool.demands.All() {
		want = want.WithMinValues(0)
		have, listed := f.Requirements.Get(want.Key())
		have = have.WithMinValues(0)
		switch {
		case have.Intersect(want).Equal(have):
		case listed:
			r.report(RuleRequirements, f.Name, "", "its requirement %q is wider than %q of NodePool %s", have, want, f.pool.Name)
		default:
			r.report(RuleRequirements, f.Name, "", "its Requirements lack %q of NodePool %s", want, f.pool.Name)
		}
	}
}

// checkSums checks the sums of requests that the node states for its pods and DaemonSets.
func (r *referee) checkSums(f *newNode) {
	for name := range f.Requests.Max(f.requests).All() {
		if said, sum := f.Requests.Get(name), f.requests.Get(name); said != sum {
			r.report(RuleAccounts, f.Name, "", "Requests says %s of %s, its pods ask for %s",
				resources.Format(name, said), name, resources.Format(name, sum))
		}
	}
	if !f.survey.landed {
		return
	}
	least, most := f.survey.least, f.survey.most
	for name := range f.Daemons.Max(most).All() {
		said := f.Daemons.Get(name)
		if said < least.Get(name) || said > most.Get(name) {
			r.report(RuleAccounts, f.Name, "", "Daemons says %s of %s, but the least on any option is %s",
				resources.Format(name, said), name, resources.Format(name, least.Get(name)))
		}
	}
}
