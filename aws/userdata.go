package aws

import (
	"cmp"
	"fmt"
	"maps"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// userData renders the user data for options that boot alike.
func (b *planner) userData(k boot, capacityType string) (string, error) {
	class := b.resolution.Class
	settings := class.Spec.Kubelet
	if own := b.settings[k.kubelet]; own != nil {
		settings = own
	}
	node := bootstrap.Node{
		Family: class.ResolvedAMIFamily(), ClusterName: b.p.opts.Cluster.Name,
		Endpoint: b.cluster.Endpoint, CABundle: b.cluster.CertificateAuthority, ClusterCIDR: b.cluster.ServiceCIDR,
		DNSIP: b.p.opts.Cluster.DNSIP, Labels: b.labels(capacityType), Taints: b.req.Taints, StartupTaints: b.req.StartupTaints,
		Compress: b.p.opts.CompressUserData,
	}
	if settings != nil {
		node.Kubelet = *settings
	}
	if b.cluster.IPv6 {
		node.IPFamily = bootstrap.IPv6
	}
	if k.maxPods >= 0 {
		node.MaxPods = new(int32(min(k.maxPods, 1<<30)))
	}
	if class.Spec.UserData != nil {
		node.CustomUserData = *class.Spec.UserData
	}
	if s := class.Spec.InstanceStorePolicy; s != nil {
		node.InstanceStore = *s
	}
	for _, ami := range class.Status.AMIs {
		if ami.ID == k.image {
			node.BottlerocketVersion = bootstrap.BottlerocketVersion(ami.Name)
		}
	}
	data, err := bootstrap.Render(node)
	if err != nil {
		return "", &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Object: cmp.Or(b.req.Name, class.Name),
			Err: fmt.Errorf("EC2NodeClass %s: user data: %w", class.Name, err)}
	}
	for _, w := range data.Warnings {
		b.p.warn(WarnUserData, "EC2NodeClass "+class.Name, "%s", w)
	}
	if data.NearLimit() {
		b.p.warn(WarnUserData, "EC2NodeClass "+class.Name, "user data has %d bytes of the %d that EC2 takes; make spec.userData smaller",
			len(data.Bytes()), bootstrap.MaxBytes)
	}
	return data.Base64(), nil
}

// labels are those that the node is to register with, as far as they are the same
// for all options.
func (b *planner) labels(capacityType string) map[string]string {
	labels := maps.Clone(b.req.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[karpv1.CapacityTypeLabelKey] = capacityType
	if b.req.NodePool != "" {
		labels[karpv1.NodePoolLabelKey] = b.req.NodePool
	}
	labels[awsv1.LabelNodeClass] = b.resolution.Class.Name
	return labels
}
