package manifest

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// template is what a workload makes pods from. The pods share its maps and
// slices.
type template struct {
	object *object
	labels map[string]string
	annos  map[string]string
	spec   corev1.PodSpec
	owners []metav1.OwnerReference
	claims []string // a StatefulSet's volume claim templates
	hash   string
}

func newTemplate(o *object, from *corev1.PodTemplateSpec) *template {
	t := &template{object: o, labels: from.Labels, annos: from.Annotations, hash: templateHash(from)}
	from.Spec.DeepCopyInto(&t.spec)
	defaultRequests(&t.spec)
	return t
}

// pod makes one pod.
func (t *template) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       t.object.namespace,
			Name:            name,
			Labels:          t.labels,
			Annotations:     t.annos,
			OwnerReferences: t.owners,
		},
		Spec: t.spec,
	}
	if len(t.claims) > 0 {
		pod.Spec.Volumes = nil
		for _, claim := range t.claims {
			var v corev1.Volume
			v.Name = claim
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim + "-" + name}
			pod.Spec.Volumes = append(pod.Spec.Volumes, v)
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, t.spec.Volumes...)
	}
	return pod
}

// daemonPod makes the pod that stands for a DaemonSet, with the tolerations
// its controller adds.
func daemonPod(d *appsv1.DaemonSet) *corev1.Pod {
	o := &object{namespace: d.Namespace, name: d.Name}
	t := newTemplate(o, &d.Spec.Template)
	t.owners = controller("apps/v1", "DaemonSet", d.Name, uidOf(d, "DaemonSet"))
	tolerate := func(key string, effect corev1.TaintEffect) {
		t.spec.Tolerations = append(t.spec.Tolerations,
			corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	tolerate(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	tolerate(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	tolerate(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	tolerate(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	tolerate(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	tolerate(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if t.spec.HostNetwork {
		tolerate(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return t.pod(d.Name)
}

// controller is the owner reference of a workload's pods.
func controller(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}}
}

// uidOf is the UID of a workload, or what stands for it where nobody has given
// it one yet.
func uidOf(w metav1.Object, kind string) types.UID {
	if uid := w.GetUID(); uid != "" {
		return uid
	}
	return madeUID(kind, w.GetNamespace(), w.GetName())
}

func madeUID(kind, namespace, name string) types.UID {
	return types.UID(kind + " " + namespace + "/" + name)
}

// defaultRequests fills in requests that are left out from the limits, as the
// API server does when a pod is created. Without it a pod that asks for a GPU
// by limit alone, which is how most do, would ask for none.
func defaultRequests(spec *corev1.PodSpec) {
	for i := range spec.Containers {
		requestsFromLimits(&spec.Containers[i].Resources)
	}
	for i := range spec.InitContainers {
		requestsFromLimits(&spec.InitContainers[i].Resources)
	}
	if spec.Resources == nil {
		return
	}
	// A limit of the pod as a whole speaks for the containers only where none
	// of them asks for anything.
	requested := map[corev1.ResourceName]bool{}
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for _, c := range containers {
			for name := range c.Resources.Requests {
				requested[name] = true
			}
		}
	}
	for name, limit := range spec.Resources.Limits {
		if _, ok := spec.Resources.Requests[name]; ok || requested[name] {
			continue
		}
		if spec.Resources.Requests == nil {
			spec.Resources.Requests = corev1.ResourceList{}
		}
		spec.Resources.Requests[name] = limit
	}
}

func requestsFromLimits(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; ok {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit
	}
}

// withLabel is a copy of labels with one more.
func withLabel(labels map[string]string, key, value string) map[string]string {
	more := maps.Clone(labels)
	if more == nil {
		more = map[string]string{}
	}
	more[key] = value
	return more
}

// hashLabel is the label by which a Deployment tells its ReplicaSets apart.
const hashLabel = appsv1.DefaultDeploymentUniqueLabelKey
