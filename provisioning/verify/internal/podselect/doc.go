// Package podselect reads which pods the constraints of a pod select. Input: pods, the labels of
// namespaces, and the Services and controllers from which the selectors of default constraints
// follow. Output: terms that pods can be compared with, read as the API server and kube-scheduler
// read them. Terms with the same meaning have the same text.
package podselect
