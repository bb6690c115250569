package judge

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/market"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Judge judges plans for one scenario. It does not change after New.
type Judge struct {
	*market.Market
	pools   []*v1.NodePool
	pods    map[string]*corev1.Pod
	daemons []party
}

// New prepares a judge for a scenario. The error joins all faults of its instance types, or names a
// daemon that cannot be read.
func New(s *scenario.Scenario) (*Judge, error) {
	sold, err := market.New(s)
	if err != nil {
		return nil, err
	}
	j := &Judge{Market: sold, pools: s.NodePools, pods: map[string]*corev1.Pod{}}
	for _, pod := range s.Pods {
		j.pods[scenario.PodKey(pod)] = pod
	}
	for _, pod := range s.DaemonSetPods {
		d, err := j.party(pod)
		if err != nil {
			return nil, fmt.Errorf("daemon %w", err)
		}
		j.daemons = append(j.daemons, d)
	}
	return j, nil
}

// party is a group of pods that may run on the same nodes.
type party struct {
	name        string // name of one of the pods
	asked       requirements.Pod
	tolerations []corev1.Toleration
	demand      resources.List // total of the pods
	least       resources.List // the least request of any of the pods, by resource
}

func (j *Judge) party(pod *corev1.Pod) (party, error) {
	asked, err := requirements.FromPod(pod, j.Vocabulary)
	if err != nil {
		return party{}, err
	}
	requests, err := resources.PodRequests(pod)
	if err != nil {
		return party{}, fmt.Errorf("pod %s: %w", scenario.PodKey(pod), err)
	}
	return party{name: scenario.PodKey(pod), asked: asked, tolerations: pod.Spec.Tolerations, demand: requests, least: requests}, nil
}

// runsOn reports whether pods of the party may run on a node with these labels and taints.
func (p *party) runsOn(labels requirements.Set, taints []corev1.Taint, v *requirements.Vocabulary) bool {
	for i := range taints {
		soft := taints[i].Effect == corev1.TaintEffectPreferNoSchedule
		if !soft && !schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, p.tolerations, &taints[i], true) {
			return false
		}
	}
	return slices.ContainsFunc(p.asked.Alternatives, func(a requirements.Alternative) bool {
		return labels.Compatible(a.Set, v)
	})
}

// parties groups the pods that a plan puts on new nodes.
func (j *Judge) parties(p *scenario.Plan) ([]party, error) {
	var out []party
	index := map[string]int{}
	for _, c := range p.NewNodeClaims {
		for _, key := range c.Pods {
			pod, ok := j.pods[key]
			if !ok {
				return nil, fmt.Errorf("the plan places %q, which is no pod of the scenario", key)
			}
			one, err := j.party(pod)
			if err != nil {
				return nil, err
			}
			rules := rulesOf(pod)
			i, seen := index[rules]
			if !seen {
				index[rules] = len(out)
				out = append(out, one)
				continue
			}
			if out[i].demand, err = out[i].demand.Add(one.demand); err != nil {
				return nil, fmt.Errorf("the sum of all pods: %w", err)
			}
			out[i].least = out[i].least.Min(one.least)
		}
	}
	return out, nil
}

// rulesOf returns a key that is equal for pods that may run on the same nodes.
func rulesOf(pod *corev1.Pod) string {
	var required *corev1.NodeSelector
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		required = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	text, err := json.Marshal([]any{pod.Spec.NodeSelector, required, pod.Spec.Tolerations})
	if err != nil {
		// These types consist of strings, which can always be encoded.
		panic(err)
	}
	return string(text)
}

// daemonsOn returns the total requests of the daemons on a node with these labels and taints.
func (j *Judge) daemonsOn(labels requirements.Set, taints []corev1.Taint) (resources.List, error) {
	var sum resources.List
	for i := range j.daemons {
		if !j.daemons[i].runsOn(labels, taints, j.Vocabulary) {
			continue
		}
		var err error
		if sum, err = sum.Add(j.daemons[i].demand); err != nil {
			return resources.List{}, fmt.Errorf("the sum of all daemons: %w", err)
		}
	}
	return sum, nil
}

// Cost returns what the new nodes of a plan cost, in USD per hour, at the cheapest launch that each
// allows. A reservation is used only as often as it has instances, by the claims in their order. A
// claim that allows no launch is an error.
func (j *Judge) Cost(p *scenario.Plan) (float64, error) {
	sum := 0.0
	used := map[string]int{}
	for i := range p.NewNodeClaims {
		o, err := j.cheapest(&p.NewNodeClaims[i], used)
		if err != nil {
			return 0, fmt.Errorf("newNodeClaims[%d]: %w", i, err)
		}
		if o.CapacityType == v1.CapacityTypeReserved {
			used[o.ReservationID]++
		}
		sum += o.Price
	}
	return sum, nil
}

// cheapest returns the offering with which the claim is launched. It does not sort all that the claim
// allows, because a plan may have a thousand claims of six hundred types each.
func (j *Judge) cheapest(c *scenario.NewNodeClaim, used map[string]int) (*cloudprovider.Offering, error) {
	types, asked, err := j.Asked(c)
	if err != nil {
		return nil, err
	}
	var best *cloudprovider.Offering
	for _, t := range types {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			full := o.CapacityType == v1.CapacityTypeReserved && used[o.ReservationID] >= o.ReservationCapacity
			if !o.Launchable() || full || best != nil && best.Price <= o.Price {
				continue
			}
			labels := cloudprovider.LaunchOption{InstanceType: t, Offering: o}.Requirements()
			if !asked.Intersect(labels).Impossible() {
				best = o
			}
		}
	}
	if best == nil {
		return nil, market.Unsold(c)
	}
	return best, nil
}
