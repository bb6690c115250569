// Package podselect reads which pods a pod's constraints are about. Its input is pods, the
// labels of namespaces, and the Services and controllers that default constraints are deduced
// from; its output terms that pods can be held against, read as the API server and
// kube-scheduler read them. Terms that mean the same have the same text.
package podselect
