package manifest

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// validate checks the parts of a decoded object that this package uses. The engine checks the
// others.
func (r *reader) validate(o *object, value any) bool {
	before := len(r.faults)
	if m, ok := value.(metav1.Object); ok {
		r.labels(o, m.GetLabels(), "metadata", "labels")
	}
	switch v := value.(type) {
	case *corev1.Pod:
		r.labels(o, v.Spec.NodeSelector, "spec", "nodeSelector")
		r.containers(o, &v.Spec, "spec")
	case *appsv1.DaemonSet:
		r.template(o, &v.Spec.Template)
	case *appsv1.Deployment:
		r.workload(o, v.Spec.Replicas, v.Spec.Selector, &v.Spec.Template)
	case *appsv1.ReplicaSet:
		r.workload(o, v.Spec.Replicas, v.Spec.Selector, &v.Spec.Template)
	case *appsv1.StatefulSet:
		r.workload(o, v.Spec.Replicas, v.Spec.Selector, &v.Spec.Template)
	case *corev1.ReplicationController:
		r.workload(o, v.Spec.Replicas, nil, v.Spec.Template)
	case *corev1.PodTemplate:
		r.containers(o, &v.Template.Spec, "template", "spec")
	case *policyv1.PodDisruptionBudget:
		r.selector(o, v.Spec.Selector)
	case *batchv1.Job:
		r.replicas(o, v.Spec.Parallelism, "parallelism")
		r.template(o, &v.Spec.Template)
	}
	return len(r.faults) == before
}

// workload checks the fields of a workload that determine its pods.
func (r *reader) workload(o *object, replicas *int32, selector *metav1.LabelSelector, t *corev1.PodTemplateSpec) {
	r.replicas(o, replicas, "replicas")
	r.selector(o, selector)
	if t == nil {
		r.faults = append(r.faults, o.fault([]any{"spec", "template"}, "is missing; say what its pods are to be"))
		return
	}
	r.template(o, t)
}

func (r *reader) template(o *object, t *corev1.PodTemplateSpec) {
	r.labels(o, t.Labels, "spec", "template", "metadata", "labels")
	r.labels(o, t.Spec.NodeSelector, "spec", "template", "spec", "nodeSelector")
	r.containers(o, &t.Spec, "spec", "template", "spec")
}

func (r *reader) containers(o *object, spec *corev1.PodSpec, path ...any) {
	if len(spec.Containers) == 0 {
		r.faults = append(r.faults, o.fault(append(path, "containers"), "is empty; a pod needs a container"))
	}
}

// replicas checks a number of pods.
func (r *reader) replicas(o *object, n *int32, field string) {
	if n == nil {
		return
	}
	at := []any{"spec", field}
	switch {
	case *n < 0:
		r.faults = append(r.faults, o.fault(at, "is %d; it must not be negative", *n))
	case *n > MaxPods:
		r.faults = append(r.faults, o.fault(at, "is %d, but at most %d pods can be planned at once; lower it", *n, MaxPods))
	}
}

func (r *reader) selector(o *object, s *metav1.LabelSelector) {
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		r.faults = append(r.faults, o.fault([]any{"spec", "selector"}, "%v; correct it", err))
	}
}

// labels checks the syntax of labels. Only files written by hand can have wrong ones, because an
// API server refuses them.
func (r *reader) labels(o *object, labels map[string]string, path ...any) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			r.faults = append(r.faults, o.fault(path,
				"has key %q, which no label can have; use up to 63 letters, digits, '-', '_' and '.', behind a DNS name and '/' if need be", short(key)))
		}
		if value := labels[key]; len(validation.IsValidLabelValue(value)) > 0 {
			r.faults = append(r.faults, o.fault(path,
				"has value %q of %d bytes for key %q, which no label can have; use up to 63 letters, digits, '-', '_' and '.', with a letter or digit at either end",
				short(value), len(value), short(key)))
		}
	}
}

// longestShown is the largest length of a wrong text in a message.
const longestShown = 40

func short(text string) string {
	if len(text) <= longestShown {
		return text
	}
	return text[:longestShown] + "..."
}
