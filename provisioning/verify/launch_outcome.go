package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// labelSet is a set of labels that options may leave, as far as anybody
// looks at them, and the nodes that come of it. Most options of a catalog share
// one.
type labelSet struct {
	// landings are the nodes that an option may come up as.
	landings []*launchOutcome
	// refuses says that some landing is not for some pod of the brief.
	refuses bool
	// least is what DaemonSets ask for where they ask for least, most where they
	// ask for most, the latter of each of referee.asks. They differ where labels
	// that DaemonSets select on are open.
	least resources.List
	most  []int64
	// anywhere is what all DaemonSets together ask for that run on some landing.
	anywhere resources.List
}

// launchOutcome is one node that an option may come up as: its labels, as far
// as anybody looks at them, and the DaemonSets that run on it.
type launchOutcome struct {
	node     *corev1.Node
	daemons  []*podInfo
	requests resources.List // of the daemons
	verdicts map[*nodefit.Selection]bool
}

// accepts says whether a node selection admits the node.
func (l *launchOutcome) accepts(s *nodefit.Selection) bool {
	verdict, known := l.verdicts[s]
	if !known {
		verdict = s.Accepts(l.node)
		l.verdicts[s] = verdict
	}
	return verdict
}

// acceptsAll says whether all of some node selections do.
func (l *launchOutcome) acceptsAll(selections []*nodefit.Selection) bool {
	return !slices.ContainsFunc(selections, func(s *nodefit.Selection) bool { return !l.accepts(s) })
}

// ground writes out what comes of the options that leave the labels of domain.
func (r *referee) ground(b *labelQuestion, domain requirements.Set) *labelSet {
	g := &labelSet{landings: r.landings(domain, b), most: make([]int64, len(r.asks))}
	var anywhere []*podInfo
	for i, landing := range g.landings {
		if i == 0 {
			g.least = landing.requests
		}
		g.least = g.least.Min(landing.requests)
		for k, name := range r.asks {
			g.most[k] = max(g.most[k], landing.requests.Get(name))
		}
		for _, d := range landing.daemons {
			if !slices.Contains(anywhere, d) {
				anywhere = append(anywhere, d)
			}
		}
		g.refuses = g.refuses || !landing.acceptsAll(b.selections)
	}
	g.anywhere = r.daemonRequests(anywhere)
	return g
}

// landings writes out the nodes that an option may become within a domain, with
// the DaemonSets that run there.
func (r *referee) landings(domain requirements.Set, b *labelQuestion) []*launchOutcome {
	var landings []*launchOutcome
	for _, node := range nodefit.Outcomes(r.vocabulary, domain, b.mentions) {
		l := &launchOutcome{node: node, verdicts: map[*nodefit.Selection]bool{}}
		for _, d := range b.pool.daemons {
			if l.accepts(d.selection) {
				l.daemons = append(l.daemons, d)
			}
		}
		l.requests = r.daemonRequests(l.daemons)
		landings = append(landings, l)
	}
	return landings
}

// daemonRequests sums up what DaemonSets ask for. It leaves out what cannot be
// read or added up: that is a fault of the input.
func (r *referee) daemonRequests(daemons []*podInfo) resources.List {
	var sum resources.List
	for _, d := range daemons {
		if d.requestsErr != nil {
			continue
		}
		if next, err := sum.Add(d.requests); err == nil {
			sum = next
		}
	}
	return sum
}

// names are the resources that either list has, sorted.
func (r *referee) names(a, b resources.List) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name := range a.Max(b).All() {
		names = append(names, name)
	}
	return names
}
