package state

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// PodView is a pod on a node and what the rules want to know of it.
type PodView struct {
	*corev1.Pod
	cost          EvictionUnits
	Active        bool
	Reschedulable bool // it needs another place when the node goes
	evictable     bool
	Held          bool      // do-not-disrupt is in force
	HeldUntil     time.Time // zero is for ever
	Budgets       []*PDB    // that select it, if it is evictable
}

// Object is the pod as faults and reasons name it.
func (p *PodView) Object() string { return PodObject(p.Pod) }

// readPods makes the views of the pods of a node, sorted by namespace, name and
// UID. Pods that are listed twice count once.
func (f *Cluster) readPods(n provisioning.Node, faults *Faults) []*PodView {
	pods := make([]*corev1.Pod, 0, len(n.Pods))
	for i, p := range n.Pods {
		if p == nil {
			faults.Add(nodeObject(n), fmt.Sprintf("Pods[%d]", i), "is nil; leave it out")
			continue
		}
		pods = append(pods, p)
	}
	slices.SortStableFunc(pods, ComparePods)
	pods = slices.CompactFunc(pods, func(a, b *corev1.Pod) bool {
		if ComparePods(a, b) != 0 {
			return false
		}
		faults.Add(nodeObject(n), "Pods", "%s is listed twice; list each pod once", PodObject(b))
		return true
	})
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
	v := &PodView{Pod: p, cost: f.CostOfEviction(p)}
	terminating := !p.DeletionTimestamp.IsZero()
	v.Active = !podlife.Finished(p) && !terminating
	ofNode := ownedBy(p, "v1", "Node") || IsMirror(p)
	// A pod of a StatefulSet comes back under its name once it is gone, and for a
	// moment before that it is both terminating and finished.
	v.Reschedulable = (v.Active || terminating && ownedBy(p, "apps/v1", "StatefulSet")) &&
		!ownedBy(p, "apps/v1", "DaemonSet") && !ofNode
	if v.Active {
		v.Held, v.HeldUntil = f.doNotDisrupt(p)
	}
	v.evictable = v.Active && !toleratesDisruption(p) && !ofNode && !v.Held
	if v.evictable {
		v.Budgets = f.pdbs.of(p)
	}
	return v
}

// ownedBy reports whether an owner is of a kind, given with its API version.
func ownedBy(p *corev1.Pod, version, kind string) bool {
	for _, o := range p.OwnerReferences {
		if o.APIVersion == version && o.Kind == kind {
			return true
		}
	}
	return false
}

// IsMirror reports whether a pod stands for a static pod of its node.
func IsMirror(p *corev1.Pod) bool {
	_, found := p.Annotations[corev1.MirrorPodAnnotationKey]
	return found
}

// toleratesDisruption reports whether a pod tolerates karpenter.sh/disrupted
// with the effect NoSchedule: it is not evicted then, and dies with the node.
func toleratesDisruption(p *corev1.Pod) bool {
	taint := v1.DisruptedNoScheduleTaint()
	for _, t := range p.Spec.Tolerations {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case corev1.TolerationOpEqual, "":
			if t.Key != "" && t.Value == taint.Value {
				return true
			}
		}
	}
	return false
}

// doNotDisrupt reports whether the annotation of a pod keeps its node from being
// disrupted now, and until when; zero is for ever. The value true holds for
// ever, and a duration above zero from the start of the pod up to but without
// the instant at which it has passed; a pod that has not started is held. Other
// values count for nothing.
func (f *Cluster) doNotDisrupt(p *corev1.Pod) (held bool, until time.Time) {
	text, found := p.Annotations[v1.DoNotDisruptAnnotationKey]
	if !found {
		if _, former := p.Annotations[formerPodAnnotation]; former {
			f.warn(PodObject(p), annotation(formerPodAnnotation), "counts for nothing since v1; write %s", v1.DoNotDisruptAnnotationKey)
		}
		return false, time.Time{}
	}
	if text == "true" {
		return true, time.Time{}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		f.warn(PodObject(p), annotation(v1.DoNotDisruptAnnotationKey),
			"%q counts for nothing; write true, or a duration above zero such as 30m", text)
		return false, time.Time{}
	}
	if p.Status.StartTime.IsZero() {
		return true, time.Time{}
	}
	until = p.Status.StartTime.Add(d)
	if !until.After(f.Now) {
		return false, time.Time{}
	}
	return true, until
}

// warn is used while the cluster is being read, and not after.
func (f *Cluster) warn(object, field, format string, args ...any) {
	f.Warnings = append(f.Warnings, &provisioning.InputError{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

func annotation(key string) string { return "metadata.annotations[" + key + "]" }

// EvictionUnits is a cost in units of 2^-27, of which every cost is a whole
// number. So sums are exact, whatever their order.
type EvictionUnits int64

const (
	// OneEviction is what it costs to evict a pod that nothing sets apart.
	OneEviction     EvictionUnits = 1 << 27
	perPriority     EvictionUnits = 1 << 2 // 2^-25
	maxEvictionCost               = 10 * OneEviction
)

// Float is the cost as it is shown.
func (u EvictionUnits) Float() float64 { return float64(u) / float64(OneEviction) }

// costAnnotation is the annotation that holds the cost of a pod, empty if there
// is none.
func costAnnotation(pod *corev1.Pod, ignoreDeletionCost bool) (key, text string) {
	if text, found := pod.Annotations[v1.DisruptionCostAnnotationKey]; found {
		return v1.DisruptionCostAnnotationKey, text
	}
	if text, found := pod.Annotations[v1.PodDeletionCostAnnotationKey]; found && !ignoreDeletionCost {
		return v1.PodDeletionCostAnnotationKey, text
	}
	return "", ""
}

// parseCost reads the text of an annotation, and reports false if it cannot.
func parseCost(key, text string) (EvictionUnits, bool) {
	if key == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false
	}
	return EvictionUnits(n), true
}

func evictionCostOf(pod *corev1.Pod, c EvictionUnits) EvictionUnits {
	cost := OneEviction + c
	if pod.Spec.Priority != nil {
		cost += EvictionUnits(*pod.Spec.Priority) * perPriority
	}
	return min(max(cost, -maxEvictionCost), maxEvictionCost)
}

// CostOfEviction is what it costs to evict a pod:
//
//	1 + c/2^27 + p/2^25, at least -10 and at most 10
//
// where p is the priority of the pod, 0 if it has none, and c the 32-bit integer
// in the annotation karpenter.sh/disruption-cost or, only if that is not there
// and without Options.IgnorePodDeletionCost, in
// controller.kubernetes.io/pod-deletion-cost. What is no such integer counts as
// 0, with a warning.
func (f *Cluster) CostOfEviction(pod *corev1.Pod) EvictionUnits {
	key, text := costAnnotation(pod, f.In.IgnorePodDeletionCost)
	c, ok := parseCost(key, text)
	if !ok {
		f.warn(PodObject(pod), annotation(key), "%q counts as 0; write an integer of 32 bits", text)
	}
	return evictionCostOf(pod, c)
}
