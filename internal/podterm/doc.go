// Package podterm reads constraints between pods: which pods a term of pod affinity or a topology
// spread constraint selects, and which default constraints apply to a pod without its own.
//
// It reads manifests as kube-scheduler and the API server do. The caller finds out where the
// selected pods are, and whether the constraint is satisfied.
//
//   - Pods is a set of pods: those that a selector selects in some namespaces, or in all.
//   - Namespaces resolves the namespaces of an affinity term, including those selected by their
//     labels.
//   - Affinity and Spread read a term or constraint of a pod, with the pod's own values of
//     matchLabelKeys and mismatchLabelKeys. Readings are the ways in which the kube-schedulers of
//     some versions of Kubernetes read a term while they place the pod.
//   - Defaults are the topology spread constraints of pods without any.
//
// Inputs are never changed. A value that cannot be used is a Fault that names the field.
package podterm
