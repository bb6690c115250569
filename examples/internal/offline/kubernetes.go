package offline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Kubernetes returns the version of the newest kubelet of the input. kube-scheduler has the same
// version, except during an upgrade: kubelets are never newer than the control plane, so older
// kubelets are still to be upgraded. The version is empty if no Node has one, or, with a remark, if
// the engine does not know it.
func (w *World) Kubernetes() (newest, remark string) {
	least := -1
	for _, n := range w.Cluster.Nodes {
		if n.Node == nil {
			continue
		}
		version := n.Node.Status.NodeInfo.KubeletVersion
		if minor := minorOf(version); minor > least {
			newest, least = version, minor
		}
	}
	if err := (&provisioning.Options{Kubernetes: newest}).Validate(); err != nil {
		return "", fmt.Sprintf("the newest kubelet has version %s, which is not among those that plans are made for: places are valid in all of these", newest)
	}
	return newest, ""
}

// minorOf returns the minor version of a version such as v1.37.2, -1 if it cannot be read.
func minorOf(version string) int {
	rest, found := strings.CutPrefix(version, "v1.")
	text, _, _ := strings.Cut(rest, ".")
	if minor, err := strconv.Atoi(text); found && err == nil {
		return minor
	}
	return -1
}
