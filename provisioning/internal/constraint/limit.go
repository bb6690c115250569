package constraint

import "github.com/dovetail-sdk/dovetail/internal/podterm"

// Limit bounds the pods of one node: where a pod that has it is, no more than Most of those
// that it counts may be, with that pod if it is one of them. Pods that run and are not being
// counted because they have ended are no part of it, those that are being deleted are. Pods
// of DaemonSets neither count nor have limits, as they come with the node.
type Limit struct {
	Kind int // in the list of kinds, which sets it
	Pods podterm.Pods
	Most int
}
