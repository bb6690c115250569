package constraint

import "github.com/dovetail-sdk/dovetail/internal/podterm"

// Limit bounds the pods of one node: where a pod that has it is, no more than Most of those
// that it counts may be, that pod included if it is one of them. Pods that are being deleted
// count, pods that have ended do not. Pods of DaemonSets that run, or are to come with a
// node, neither count nor have limits. Most is at least 1: a kind refuses a pod that says less.
type Limit struct {
	Kind int // in the list of kinds, which sets it
	Pods podterm.Pods
	Most int
}
