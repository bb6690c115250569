package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Daemon is a DaemonSet, as described by a representative pod.
type Daemon struct {
	Pod          *corev1.Pod
	Requests     resources.List
	Extra        resources.List // devices of its claims
	Demand       device.Demand  // the demand of its claims that is counted
	Alternatives []requirements.Alternative
	Tolerations  []corev1.Toleration
	selector     nodeaffinity.RequiredNodeAffinity
	Selected     bitset.Set // selections that select its pods
	Apart        []Term     // required anti-affinity of its pods
}

// NewDaemons reads the representative pods of DaemonSets and reports their faults.
func NewDaemons(pods []*corev1.Pod, known *RequestsCache, v *requirements.Vocabulary, f *model.Faults) []Daemon {
	sorted := model.SortedPods(pods, "DaemonSetPods", f)
	out := make([]Daemon, 0, len(sorted))
	var sum resources.List
	var sumErr error
	for _, pod := range sorted {
		requests, err := known.Of(pod)
		if err != nil {
			f.Split("DaemonSet "+model.PodObject(pod), err)
		} else if sumErr == nil {
			sum, sumErr = sum.Add(requests)
		}
		free := withoutNodeName(pod)
		asked, err := requirements.FromPod(free, v)
		if err != nil {
			f.Split("DaemonSet "+model.PodObject(pod), err)
		}
		out = append(out, Daemon{
			Pod:          pod,
			Requests:     requests,
			Alternatives: asked.Alternatives,
			selector:     nodeaffinity.GetRequiredNodeAffinity(free),
			Tolerations:  model.DaemonTolerations(pod),
		})
	}
	if sumErr != nil {
		f.Wrap("DaemonSetPods", "", fmt.Errorf("requests in sum: %w", sumErr))
	}
	return out
}

// KeepsAway says whether anti-affinity forbids pods of a class on one node with the daemon.
func (d *Daemon) KeepsAway(c *Class) bool {
	return slices.ContainsFunc(c.Terms, func(t Term) bool {
		return t.Weight == 0 && t.Kind == topology.Apart && d.Selected.Has(t.Pods)
	}) || slices.ContainsFunc(d.Apart, func(t Term) bool { return c.Selected.Has(t.Pods) })
}

// withoutNodeName removes the match on metadata.name by which the DaemonSet controller pins each of
// its pods to a node. So a live pod can represent its DaemonSet.
func withoutNodeName(pod *corev1.Pod) *corev1.Pod {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return pod
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	free := make([]corev1.NodeSelectorTerm, 0, len(terms))
	pinned, always := false, false
	for _, term := range terms {
		kept := term
		kept.MatchFields = nil
		for _, field := range term.MatchFields {
			if field.Key == nodeNameField && field.Operator == corev1.NodeSelectorOpIn {
				pinned = true
				continue
			}
			kept.MatchFields = append(kept.MatchFields, field)
		}
		always = always || len(kept.MatchFields)+len(kept.MatchExpressions) == 0
		free = append(free, kept)
	}
	if !pinned {
		return pod
	}
	out := pod.DeepCopy()
	required := out.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	required.NodeSelectorTerms = free
	if always {
		// A term with nothing but the node's name imposes no condition.
		out.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	}
	return out
}

// nodeNameField is the only field on which a node selector can match.
const nodeNameField = "metadata.name"

// RunsOn says whether the daemon runs a pod on an existing node.
func (d *Daemon) RunsOn(name string, labels map[string]string, taints []corev1.Taint) bool {
	if len(model.Untolerated(taints, d.Tolerations)) > 0 {
		return false
	}
	ok, err := d.selector.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	return ok && err == nil
}

// AgainDaemons returns daemons for another problem with the same pods, without the fields that
// depend on the problem.
func AgainDaemons(known []Daemon) []Daemon {
	out := slices.Clone(known)
	for i := range out {
		out[i].Extra, out[i].Demand, out[i].Selected, out[i].Apart = resources.List{}, device.Demand{}, nil, nil
	}
	return out
}

// Missing returns what a daemon requests in excess of its pods on a node, and whether any of its
// pods is there.
func (d *Daemon) Missing(pods []*corev1.Pod, requests *RequestsCache) (missing resources.List, here bool, err error) {
	missing = d.Requests
	for _, pod := range pods {
		if pod == nil || podlife.Finished(pod) || !podlife.SameDaemonSet(d.Pod, pod) {
			continue
		}
		used, err := requests.Of(pod)
		if err != nil {
			return missing, here, err
		}
		less, err := missing.Sub(used)
		if err != nil {
			return missing, here, err
		}
		missing, here = less.Max(resources.List{}), true
	}
	return missing, here, nil
}
