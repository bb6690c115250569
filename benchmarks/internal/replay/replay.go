// Package replay carries out proposals of any contender without a cluster: it changes a scenario as
// an action would change the cluster, and judges whether the pods may run where the action puts
// them.
//
// A replacement is launched as the cheapest launch that it allows, and is initialized at once. Pods
// go where the action says. Every node counts as quiet for an hour, and as consolidatable.
package replay

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/market"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/measure"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Cluster is a scenario on which actions are carried out.
type Cluster struct {
	*market.Market
	scenario *scenario.Scenario
	launched int
}

// New returns a cluster in the state of the scenario. The scenario is not changed. The error is
// about its instance types.
func New(s *scenario.Scenario) (*Cluster, error) {
	copied := *s
	copied.Nodes = slices.Clone(s.Nodes)
	sold, err := market.New(s)
	return &Cluster{Market: sold, scenario: &copied}, err
}

// Scenario returns the current state of the cluster. It is read-only, and a later Apply does not
// change it.
func (c *Cluster) Scenario() *scenario.Scenario { return c.scenario }

// Finish completes a proposal whose actions were carried out on this cluster. It writes the
// proposal and the current scenario to files; an empty file name writes nothing.
func (c *Cluster) Finish(p *scenario.Proposal, proposalFile, scenarioFile string) error {
	p.CostAfter, p.NodesAfter = c.Cost(), len(c.scenario.Nodes)
	fmt.Fprintf(os.Stderr, "%s: %d nodes at $%.3f/h after %d actions, %.3fs of computing in all %s\n",
		p.Scenario, p.NodesAfter, p.CostAfter, len(p.Actions), measure.Sum(p.SolveSeconds), p.Stopped)
	var errs []error
	if proposalFile != "" {
		errs = append(errs, scenario.WriteProposal(proposalFile, p))
	}
	if scenarioFile != "" {
		errs = append(errs, scenario.WriteScenario(scenarioFile, c.scenario))
	}
	return errors.Join(errs...)
}

// Cost returns the price of all nodes, in USD per hour. Nodes whose offering is not in the catalog
// count as zero.
func (c *Cluster) Cost() float64 {
	sum := 0.0
	for _, n := range c.scenario.Nodes {
		if n.Node != nil {
			sum += c.price(n.Node.Labels)
		}
	}
	return sum
}

func (c *Cluster) price(labels map[string]string) float64 {
	for _, t := range c.Catalogs[labels[v1.NodePoolLabelKey]] {
		if t.Name != labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Zone == labels[corev1.LabelTopologyZone] && o.CapacityType == labels[v1.CapacityTypeLabelKey] {
				return o.Price
			}
		}
	}
	return 0
}

// Apply carries out an action. The error joins everything that is impossible: nodes that do not
// exist, pods that are not on them, pods that need a place and have none, and replacements that
// cannot be launched. After an error nothing has changed.
func (c *Cluster) Apply(a scenario.Action) error {
	var errs []error
	fresh := make([]scenario.Node, len(a.Replacements))
	for i := range a.Replacements {
		var err error
		if fresh[i], err = c.launch(&a.Replacements[i], i); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", scenario.Replacement(i), err))
		}
	}
	arrivals, faults := c.arrivals(a, fresh)
	if err := errors.Join(append(errs, faults...)...); err != nil {
		return err
	}
	next := *c.scenario
	next.Nodes = nil
	for _, n := range slices.Concat(c.scenario.Nodes, fresh) {
		if !slices.Contains(a.Nodes, n.Name()) {
			n.Pods = slices.Concat(n.Pods, arrivals[n.Name()])
			next.Nodes = append(next.Nodes, n)
		}
	}
	c.scenario, c.launched = &next, c.launched+len(fresh)
	return nil
}

// arrivals returns the pods that move to each node, and the faults of the moves.
func (c *Cluster) arrivals(a scenario.Action, fresh []scenario.Node) (map[string][]*corev1.Pod, []error) {
	var errs []error
	at := map[string]int{}
	for i, n := range c.scenario.Nodes {
		at[n.Name()] = i
	}
	out := map[string][]*corev1.Pod{}
	left := maps.Clone(a.Moves)
	for _, name := range a.Nodes {
		i, there := at[name]
		if !there {
			errs = append(errs, fmt.Errorf("node %s is not there", name))
			continue
		}
		for _, pod := range c.scenario.Nodes[i].Pods {
			key := scenario.PodKey(pod)
			to, moves := a.Moves[key]
			delete(left, key)
			if !podlife.Moves(pod) {
				continue
			}
			_, stays := at[to]
			stays = stays && !slices.Contains(a.Nodes, to)
			if k, ok := scenario.ReplacementIndex(to); ok && k < len(fresh) {
				to, stays = fresh[k].Name(), true
			}
			switch {
			case !moves:
				errs = append(errs, fmt.Errorf("pod %s needs another place than %s and is given none", key, name))
			case !stays:
				errs = append(errs, fmt.Errorf("pod %s goes to %s, which is not there", key, to))
			default:
				out[to] = append(out[to], moved(pod, to))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		errs = append(errs, fmt.Errorf("pod %s is moved and is not on a node that is removed", key))
	}
	return out, errs
}

func moved(pod *corev1.Pod, to string) *corev1.Pod {
	p := *pod
	p.Spec.NodeName = to
	return &p
}
