package puddle

import (
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

// kubeletOf returns the labels and taints with which the kubelet of a new server registers its
// Node. The last taint keeps pods off the Node until nodeclaim.Register has matched it with the
// NodeClaim, copied the labels and taints of the claim, and removed this taint. Labels of
// kubernetes.io come from the claim, because kubelets may not set them.
func kubeletOf(req *cloudprovider.LaunchRequest) (k puddlecloud.Kubelet) {
	k.Labels = map[string]string{v1.NodeDoNotSyncTaintsLabelKey: "true"} // they are here already
	for key, value := range req.Labels {
		domain, _, _ := strings.Cut(key, "/")
		if !strings.HasSuffix("."+domain, ".kubernetes.io") && !strings.HasSuffix("."+domain, ".k8s.io") {
			k.Labels[key] = value
		}
	}
	for _, t := range append(slices.Concat(req.Taints, req.StartupTaints), v1.UnregisteredNoExecuteTaint()) {
		k.Taints = append(k.Taints, t.ToString())
	}
	return k
}
