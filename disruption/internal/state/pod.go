package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// PodView is a pod on a node, with the properties that rules use.
type PodView struct {
	*corev1.Pod
	cost          podlife.EvictionUnits
	Active        bool
	Reschedulable bool      // it needs another place when the node is removed
	Held          bool      // do-not-disrupt is in force
	HeldUntil     time.Time // end of do-not-disrupt; zero is never
	Budgets       []*PDB    // budgets that select it, if it is evictable and budgets protect pods of its phase
}

// Object returns the name of the pod as messages show it.
func (p *PodView) Object() string { return PodObject(p.Pod) }

// readPods returns the views of the pods of a node, sorted by namespace, name and UID. A pod that
// the node lists twice counts once; readMembers reports it. A pod whose spec.nodeName names another
// node counts on the node that lists it.
func (f *Cluster) readPods(n provisioning.Node, faults *Faults) []*PodView {
	pods := make([]*corev1.Pod, 0, len(n.Pods))
	for i, p := range n.Pods {
		if p == nil {
			faults.Add(nodeObject(n), fmt.Sprintf("Pods[%d]", i), "is nil; leave it out")
			continue
		}
		if on := p.Spec.NodeName; n.Node != nil && on != "" && on != n.Node.Name && !podlife.Finished(p) {
			faults.Add(PodObject(p), "spec.nodeName", "is %q, but the pod is listed under %s; list it under the node that it is bound to", on, nodeObject(n))
		}
		pods = append(pods, p)
	}
	slices.SortStableFunc(pods, ComparePods)
	pods = slices.CompactFunc(pods, func(a, b *corev1.Pod) bool { return ComparePods(a, b) == 0 })
	views := make([]*PodView, len(pods))
	for i, p := range pods {
		views[i] = f.newPodView(p)
	}
	return views
}

// ComparePods orders pods by namespace, name and UID.
func ComparePods(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name),
		strings.Compare(string(a.UID), string(b.UID)))
}

func (f *Cluster) newPodView(p *corev1.Pod) *PodView {
	v := &PodView{Pod: p, cost: f.costOfEviction(p)}
	terminating := !p.DeletionTimestamp.IsZero()
	v.Active = !podlife.Finished(p) && !terminating
	ofNode := podlife.OwnedBy(p, "v1", "Node") || IsMirror(p)
	v.Reschedulable = (v.Active || podlife.ComesBack(p)) && !podlife.OwnedBy(p, "apps/v1", "DaemonSet") && !ofNode
	if v.Active {
		v.Held, v.HeldUntil = f.doNotDisrupt(p)
	}
	evictable := v.Active && !podlife.Tolerates(p, v1.DisruptedNoScheduleTaint()) && !ofNode && !v.Held
	if evictable && podlife.Budgeted(p.Status.Phase) {
		v.Budgets = f.pdbs.of(p)
	}
	return v
}

// IsMirror reports whether a pod is the mirror pod of a static pod of its node.
func IsMirror(p *corev1.Pod) bool {
	_, found := p.Annotations[corev1.MirrorPodAnnotationKey]
	return found
}

// doNotDisrupt reports whether the annotation of a pod keeps its node from being disrupted now, and
// until when; zero is forever.
func (f *Cluster) doNotDisrupt(p *corev1.Pod) (held bool, until time.Time) {
	text, found := p.Annotations[v1.DoNotDisruptAnnotationKey]
	if !found {
		if _, former := p.Annotations[formerPodAnnotation]; former {
			f.Warnings.Add(PodObject(p), annotation(formerPodAnnotation), "counts for nothing since v1; write %s", v1.DoNotDisruptAnnotationKey)
		}
		return false, time.Time{}
	}
	var started time.Time
	if p.Status.StartTime != nil {
		started = p.Status.StartTime.Time
	}
	held, until, err := podlife.Protected(text, started, f.Now)
	if err != nil {
		f.Warnings.Add(PodObject(p), annotation(v1.DoNotDisruptAnnotationKey), "%v", err)
	}
	return held, until
}

func annotation(key string) string { return "metadata.annotations[" + key + "]" }

// costOfEviction returns the cost of evicting a pod. A deletion cost that is no integer counts as
// 0, with a warning.
func (f *Cluster) costOfEviction(pod *corev1.Pod) podlife.EvictionUnits {
	cost, unread := podlife.CostOfEviction(pod, f.In.IgnorePodDeletionCost)
	if unread != "" {
		f.Warnings.Add(PodObject(pod), annotation(unread), "%q counts as 0; write an integer of 32 bits", pod.Annotations[unread])
	}
	return cost
}
