package provisioning

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// daemon is a DaemonSet as its representative pod shows it.
type daemon struct {
	pod          *corev1.Pod
	requests     resources.List
	extra        resources.List // devices of its claims
	alternatives []requirements.Alternative
	selector     nodeaffinity.RequiredNodeAffinity
	tolerations  []corev1.Toleration
	selected     bitset.Set // selections that its pods are in
	apart        []term     // their own required anti-affinity
}

func newDaemons(pods []*corev1.Pod, v *requirements.Vocabulary, f *faults) []daemon {
	sorted := sortedPods(pods, "DaemonSetPods", f)
	out := make([]daemon, 0, len(sorted))
	var sum resources.List
	var sumErr error
	for _, pod := range sorted {
		requests, err := resources.PodRequests(pod)
		if err != nil {
			f.split("DaemonSet "+podObject(pod), err)
		} else if sumErr == nil {
			sum, sumErr = sum.Add(requests)
		}
		free := withoutNodeName(pod)
		asked, err := requirements.FromPod(free, v)
		if err != nil {
			f.split("DaemonSet "+podObject(pod), err)
		}
		out = append(out, daemon{
			pod:          pod,
			requests:     requests,
			alternatives: asked.Alternatives,
			selector:     nodeaffinity.GetRequiredNodeAffinity(free),
			tolerations:  daemonTolerations(pod),
		})
	}
	if sumErr != nil {
		f.wrap("DaemonSetPods", "", fmt.Errorf("requests in sum: %w", sumErr))
	}
	return out
}

// keepsAway says whether pods of a class may not be on one node with the daemon.
func (d *daemon) keepsAway(c *class) bool {
	return slices.ContainsFunc(c.terms, func(t term) bool {
		return t.weight == 0 && t.kind == topology.Apart && d.selected.Has(t.pods)
	}) || slices.ContainsFunc(d.apart, func(t term) bool { return c.selected.Has(t.pods) })
}

// owns says whether a bound pod belongs to the same DaemonSet. A representative
// made from the DaemonSet's template has no owner but bears its name.
func (d *daemon) owns(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "DaemonSet" || pod.Namespace != d.pod.Namespace {
		return false
	}
	own := metav1.GetControllerOfNoCopy(d.pod)
	switch {
	case own == nil:
		return owner.Name == d.pod.Name
	case own.UID != "" && owner.UID != "":
		return own.UID == owner.UID
	}
	return own.Name == owner.Name
}

// withoutNodeName undoes what the DaemonSet controller does to each pod it
// makes: it pins the pod to its node by a match on metadata.name. A live pod
// may thus stand for its DaemonSet.
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
		// A term of nothing but the node's name leaves no condition.
		out.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	}
	return out
}

// nodeNameField is the one field that a node selector can match on.
const nodeNameField = "metadata.name"

// onNew returns the options on which the daemon runs a pod. Where a label is
// left open the pod may come, so room is set aside.
func (d *daemon) onNew(ds *domains) bitset.Set {
	out := bitset.New(ds.total)
	for i := range ds.pools {
		p := &ds.pools[i]
		if len(p.options) == 0 || len(untolerated(p.taints, d.tolerations)) > 0 {
			continue
		}
		for _, alt := range d.alternatives {
			if admitsNewNode(alt) {
				p.window(out).Or(ds.admittingAll(i, alt.Set))
			}
		}
	}
	return out
}

// runsOn says whether the daemon runs a pod on an existing node.
func (d *daemon) runsOn(name string, labels map[string]string, taints []corev1.Taint) bool {
	if len(untolerated(taints, d.tolerations)) > 0 {
		return false
	}
	ok, err := d.selector.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	return ok && err == nil
}
