package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// podView is a pod on a node and what the rules want to know of it.
type podView struct {
	*corev1.Pod
	cost          evictionUnits
	active        bool
	reschedulable bool // it needs another place when the node goes
	evictable     bool
	held          bool      // do-not-disrupt is in force
	heldUntil     time.Time // zero is for ever
	budgets       []*pdb    // that select it, if it is evictable
}

func (p *podView) object() string { return podObject(p.Pod) }

func podObject(p *corev1.Pod) string { return fmt.Sprintf("Pod %q", p.Namespace+"/"+p.Name) }

// readPods makes the views of the pods of a node, sorted by namespace, name and
// UID. Pods that are listed twice count once.
func (f *Fleet) readPods(n provisioning.Node, faults *faultList) []*podView {
	pods := make([]*corev1.Pod, 0, len(n.Pods))
	for i, p := range n.Pods {
		if p == nil {
			faults.add(nodeObject(n), fmt.Sprintf("Pods[%d]", i), "is nil; leave it out")
			continue
		}
		pods = append(pods, p)
	}
	slices.SortStableFunc(pods, comparePods)
	pods = slices.CompactFunc(pods, func(a, b *corev1.Pod) bool {
		if comparePods(a, b) != 0 {
			return false
		}
		faults.add(nodeObject(n), "Pods", "%s is listed twice; list each pod once", podObject(b))
		return true
	})
	views := make([]*podView, len(pods))
	for i, p := range pods {
		views[i] = f.newPodView(p)
	}
	return views
}

func comparePods(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name),
		strings.Compare(string(a.UID), string(b.UID)))
}

func (f *Fleet) newPodView(p *corev1.Pod) *podView {
	v := &podView{Pod: p, cost: f.costOfEviction(p)}
	terminating := !p.DeletionTimestamp.IsZero()
	v.active = !finished(p) && !terminating
	ofNode := ownedBy(p, "v1", "Node") || isMirror(p)
	// A pod of a StatefulSet comes back under its name once it is gone, and for a
	// moment before that it is both terminating and finished.
	v.reschedulable = (v.active || terminating && ownedBy(p, "apps/v1", "StatefulSet")) &&
		!ownedBy(p, "apps/v1", "DaemonSet") && !ofNode
	if v.active {
		v.held, v.heldUntil = f.doNotDisrupt(p)
	}
	v.evictable = v.active && !toleratesDisruption(p) && !ofNode && !v.held
	if v.evictable {
		v.budgets = f.pdbs.of(p)
	}
	return v
}

func finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
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

func isMirror(p *corev1.Pod) bool {
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
func (f *Fleet) doNotDisrupt(p *corev1.Pod) (held bool, until time.Time) {
	text, found := p.Annotations[v1.DoNotDisruptAnnotationKey]
	if !found {
		if _, former := p.Annotations[formerPodAnnotation]; former {
			f.warn(podObject(p), annotation(formerPodAnnotation), "counts for nothing since v1; write %s", v1.DoNotDisruptAnnotationKey)
		}
		return false, time.Time{}
	}
	if text == "true" {
		return true, time.Time{}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		f.warn(podObject(p), annotation(v1.DoNotDisruptAnnotationKey),
			"%q counts for nothing; write true, or a duration above zero such as 30m", text)
		return false, time.Time{}
	}
	if p.Status.StartTime.IsZero() {
		return true, time.Time{}
	}
	until = p.Status.StartTime.Add(d)
	if !until.After(f.now) {
		return false, time.Time{}
	}
	return true, until
}

// warn is used while the fleet is being read, and not after.
func (f *Fleet) warn(object, field, format string, args ...any) {
	f.warnings = append(f.warnings, &provisioning.InputError{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

func annotation(key string) string { return "metadata.annotations[" + key + "]" }
