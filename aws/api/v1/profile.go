package v1

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/structhash"
)

// InstanceProfileName returns the name of the instance profile to make for the
// role of a class. nonce is a text that was not used before, such as a random
// UUID: a change of role makes a new profile, because nodes that run keep the
// old one.
func InstanceProfileName(cluster, region, nodeClass, nonce string) string {
	return profileName(cluster, region+nodeClass+nonce)
}

// LegacyInstanceProfileName returns the name that Karpenter before 1.7 gave the
// instance profile of a class. Such profiles are not made any more but deleted
// with their class.
func LegacyInstanceProfileName(cluster, region, nodeClass string) string {
	return profileName(cluster, region+nodeClass)
}

func profileName(cluster, text string) string {
	return cluster + "_" + strconv.FormatUint(structhash.Text(text), 10)
}

// InstanceProfilePath returns the IAM path of the instance profiles made for a
// class, by the UID of the class. With an empty UID it is the path of all of the
// cluster in the region.
func InstanceProfilePath(cluster, region, uid string) string {
	path := "/karpenter/" + region + "/" + cluster + "/"
	if uid != "" {
		path += uid + "/"
	}
	return path
}

// InstanceProfileTags returns the tags of an instance profile made for the
// class: those of its spec, and over them the ones by which it is known to
// belong to the class, the cluster and the region. The map is the caller's.
func (c *EC2NodeClass) InstanceProfileTags(cluster, region string) map[string]string {
	tags := map[string]string{}
	name := ""
	if c != nil {
		maps.Copy(tags, c.Spec.Tags)
		name = c.Name
	}
	tags[ClusterTagKey(cluster)] = ClusterTagValue
	tags[ClusterNameTagKey] = cluster
	tags[NodeClassTagKey] = name
	tags[corev1.LabelTopologyRegion] = region
	return tags
}
