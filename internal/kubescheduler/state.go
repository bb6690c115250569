package kubescheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// StateOf returns the state of an input once the controllers of Kubernetes have done their work.
// Nodes have the order of in.Nodes, each of which must have a Node; so indexes of nodes agree. Pods
// that have finished are left out. in is not changed.
func StateOf(in provisioning.Input) *State {
	s := &State{
		Namespaces:             in.Namespaces,
		PersistentVolumeClaims: prepareClaims(in.Volumes.Classes, slices.Concat(in.Volumes.Claims, ephemeralClaims(in))),
		PersistentVolumes:      in.Volumes.Volumes,
		StorageClasses:         in.Volumes.Classes,
		CSINodes:               in.Volumes.CSINodes,
		CSIDrivers:             in.Volumes.CSIDrivers,
		CSIStorageCapacities:   in.Volumes.CSIStorageCapacities,
		VolumeAttachments:      in.Volumes.VolumeAttachments,
		ResourceClaims:         resourceClaims(in),
		ResourceSlices:         in.Devices.Slices,
		DeviceClasses:          in.Devices.Classes,
		Services:               in.Services,
	}
	for _, n := range in.Nodes {
		s.Nodes = append(s.Nodes, Node{tainted(n.Node), Pods(slices.DeleteFunc(slices.Clone(n.Pods), podlife.Finished))})
	}
	s.addControllers(in)
	return s
}

// tainted gives a cordoned node the taint that the node controller gives it.
func tainted(node *corev1.Node) *corev1.Node {
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !node.Spec.Unschedulable || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		return node
	}
	node = node.DeepCopy()
	node.Spec.Taints = append(node.Spec.Taints, taint)
	return node
}

// addNamespaces adds the namespaces of pods that the state does not list. They have only the
// label that every namespace has.
func (s *State) addNamespaces(pods []*corev1.Pod) {
	listed := map[string]bool{}
	for _, namespace := range s.Namespaces {
		listed[namespace.Name] = true
	}
	s.Namespaces = slices.Clip(s.Namespaces)
	for _, n := range s.Nodes {
		pods = append(slices.Clip(pods), n.Pods...)
	}
	for _, pod := range pods {
		if !listed[pod.Namespace] {
			listed[pod.Namespace] = true
			s.Namespaces = append(s.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}})
		}
	}
}

// Pods returns pods as the API server and the controllers of Kubernetes change them: their status
// names the claims made from templates, and label keys that a pod affinity term matches are in its
// selector. The given pods are not changed.
func Pods(pods []*corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		out[i] = pod
		if len(pod.Spec.ResourceClaims) == 0 && pod.Spec.Affinity == nil {
			continue
		}
		out[i] = pod.DeepCopy()
		eachTerm(out[i], func(term *corev1.PodAffinityTerm) { selectKeys(term, pod.Labels) })
		for _, claim := range pod.Spec.ResourceClaims {
			if claim.ResourceClaimTemplateName != nil {
				out[i].Status.ResourceClaimStatuses = append(out[i].Status.ResourceClaimStatuses,
					corev1.PodResourceClaimStatus{Name: claim.Name, ResourceClaimName: new(generatedName(pod, claim.Name))})
			}
		}
	}
	return out
}

// eachTerm visits the terms of pod affinity and anti-affinity.
func eachTerm(pod *corev1.Pod, visit func(*corev1.PodAffinityTerm)) {
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	lists := [][]corev1.PodAffinityTerm{}
	weighted := [][]corev1.WeightedPodAffinityTerm{}
	if a.PodAffinity != nil {
		lists, weighted = append(lists, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution), append(weighted, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		lists, weighted = append(lists, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution), append(weighted, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for _, list := range lists {
		for i := range list {
			visit(&list[i])
		}
	}
	for _, list := range weighted {
		for i := range list {
			visit(&list[i].PodAffinityTerm)
		}
	}
}

// selectKeys adds matchLabelKeys and mismatchLabelKeys of a term to its selector.
func selectKeys(term *corev1.PodAffinityTerm, labels map[string]string) {
	add := func(keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, has := labels[key]; has && term.LabelSelector != nil {
				term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
			}
		}
	}
	add(term.MatchLabelKeys, metav1.LabelSelectorOpIn)
	add(term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
}

// boundAnnotation marks a claim that the volume controller has bound.
const boundAnnotation = "pv.kubernetes.io/bind-completed"

// prepareClaims gives claims without a class the default class, and marks those that name a volume as
// bound.
func prepareClaims(classes []*storagev1.StorageClass, claims []*corev1.PersistentVolumeClaim) []*corev1.PersistentVolumeClaim {
	class := defaultClass(classes)
	for i, claim := range claims {
		_, old := claim.Annotations[corev1.BetaStorageClassAnnotation]
		if class != nil && claim.Spec.StorageClassName == nil && !old {
			claims[i] = claim.DeepCopy()
			claims[i].Spec.StorageClassName = &class.Name
		}
		if claim.Spec.VolumeName != "" && claim.Annotations[boundAnnotation] == "" {
			claims[i] = claims[i].DeepCopy()
			metav1.SetMetaDataAnnotation(&claims[i].ObjectMeta, boundAnnotation, "yes")
		}
	}
	return claims
}

// defaultClass returns the newest of the default classes, of equally new ones the first by name;
// nil if there is none.
func defaultClass(classes []*storagev1.StorageClass) (class *storagev1.StorageClass) {
	for _, c := range classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if class == nil || cmp.Or(-c.CreationTimestamp.Compare(class.CreationTimestamp.Time), cmp.Compare(c.Name, class.Name)) < 0 {
			class = c
		}
	}
	return class
}

// generatedName returns the name of the claim made from a template, or for an ephemeral volume, of
// a pod.
func generatedName(pod *corev1.Pod, part string) string { return pod.Name + "-" + part }

func ownedBy(pod *corev1.Pod) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}}
}

// ephemeralClaims returns the claims that the ephemeral volume controller still has to make for the
// pending pods.
func ephemeralClaims(in provisioning.Input) (made []*corev1.PersistentVolumeClaim) {
	for _, pod := range in.Pods {
		for _, volume := range pod.Spec.Volumes {
			name := generatedName(pod, volume.Name)
			if volume.Ephemeral == nil || volume.Ephemeral.VolumeClaimTemplate == nil ||
				slices.ContainsFunc(in.Volumes.Claims, func(c *corev1.PersistentVolumeClaim) bool {
					return c.Namespace == pod.Namespace && c.Name == name
				}) {
				continue
			}
			template := volume.Ephemeral.VolumeClaimTemplate
			made = append(made, &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: pod.Namespace, Name: name, Labels: template.Labels, Annotations: template.Annotations, OwnerReferences: ownedBy(pod),
				},
				Spec:   template.Spec,
				Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
			})
		}
	}
	return made
}

// resourceClaims returns the resource claims of the input, and those that the resource claim
// controller still has to make for its pending pods. Each has a UID, which identifies claims in
// kube-scheduler.
func resourceClaims(in provisioning.Input) (all []*resourcev1.ResourceClaim) {
	templates := map[string]*resourcev1.ResourceClaimTemplate{}
	for _, t := range in.Devices.Templates {
		templates[t.Namespace+"/"+t.Name] = t
	}
	for _, claim := range in.Devices.Claims {
		all = append(all, claim.DeepCopy())
	}
	for _, pod := range in.Pods {
		for _, claim := range pod.Spec.ResourceClaims {
			if claim.ResourceClaimTemplateName == nil {
				continue
			}
			if t := templates[pod.Namespace+"/"+*claim.ResourceClaimTemplateName]; t != nil {
				all = append(all, &resourcev1.ResourceClaim{
					ObjectMeta: metav1.ObjectMeta{
						Namespace: pod.Namespace, Name: generatedName(pod, claim.Name), Labels: t.Spec.Labels, OwnerReferences: ownedBy(pod),
						Annotations: map[string]string{resourcev1.PodResourceClaimAnnotation: claim.Name},
					},
					Spec: t.Spec.Spec,
				})
			}
		}
	}
	for _, claim := range all {
		claim.UID = types.UID(cmp.Or(string(claim.UID), claim.Namespace+"/"+claim.Name))
	}
	return all
}

// addControllers adds the ReplicaSets and StatefulSets that own pods. They select what
// in.Controllers says, or else the labels that all their pods have in common.
func (s *State) addControllers(in provisioning.Input) {
	selectors := map[types.UID]*metav1.LabelSelector{}
	for _, c := range in.Controllers {
		selectors[c.UID] = c.Selector
	}
	pods := slices.Clone(in.Pods)
	for _, n := range s.Nodes {
		pods = append(pods, n.Pods...)
	}
	found := map[string]*metav1.LabelSelector{}
	for _, pod := range pods {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil || owner.APIVersion != appsv1.SchemeGroupVersion.String() {
			continue
		}
		id := fmt.Sprintf("%s/%s/%s", owner.Kind, pod.Namespace, owner.Name)
		if known := found[id]; known != nil {
			if selectors[owner.UID] == nil {
				maps.DeleteFunc(known.MatchLabels, func(key, value string) bool { return pod.Labels[key] != value })
			}
			continue
		}
		found[id] = cmp.Or(selectors[owner.UID], &metav1.LabelSelector{MatchLabels: maps.Clone(pod.Labels)})
		meta := metav1.ObjectMeta{Namespace: pod.Namespace, Name: owner.Name, UID: owner.UID}
		switch owner.Kind {
		case "ReplicaSet":
			s.ReplicaSets = append(s.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: found[id]}})
		case "StatefulSet":
			s.StatefulSets = append(s.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: found[id]}})
		}
	}
}
