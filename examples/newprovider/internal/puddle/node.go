package puddle

import (
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

// kubeletOf is what the kubelet of a new server registers its Node with. The last taint keeps
// pods off until the NodeClaim has been matched with the Node, and what the claim says of
// labels and taints is on it: nodeclaim.Register takes it off. Labels of kubernetes.io, which
// no kubelet may set, come from the claim then.
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
