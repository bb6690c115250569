// Package podterm reads the constraints of pods towards other pods: which pods a term
// of pod affinity or a topology spread constraint is about, and which constraints a
// pod has that has none of its own.
//
// It reads what a manifest says, as kube-scheduler and the API server do. Where the
// pods are that a constraint is about, and whether it holds, is for the caller.
//
//   - Pods are those that a selector selects in some namespaces, or in all.
//   - Namespaces resolves the namespaces of an affinity term, also those that it
//     selects by their labels.
//   - Affinity and Spread read a term or constraint of a pod, with the pod's own
//     values of matchLabelKeys and mismatchLabelKeys; Readings are the ways in which the
//     kube-schedulers of some versions of Kubernetes read a term while they place the pod.
//   - Defaults are the topology spread constraints of pods without any.
//
// Inputs are never changed. What cannot be used is a Fault that names the field.
package podterm
