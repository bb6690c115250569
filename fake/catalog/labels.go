package catalog

import (
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// LabelInstanceNitroEnclavesSupported is "true" if the instance can host Nitro enclaves,
// and "false" otherwise. Every instance type of All has it. Other labels of instance types
// are those of Kubernetes, of karpenter.sh and of package aws/api/v1, so that a NodePool
// written for EC2 means the same here; All has a requirement on every one of them, which
// is DoesNotExist where a label does not apply.
const LabelInstanceNitroEnclavesSupported = awsv1.Group + "/instance-nitro-enclaves-supported"

// WellKnownLabels returns the keys of awsv1.WellKnownLabels and the label above, sorted.
// The slice is the caller's.
func WellKnownLabels() []string {
	keys := append(awsv1.WellKnownLabels(), LabelInstanceNitroEnclavesSupported)
	slices.Sort(keys)
	return keys
}

// Vocabulary returns awsv1.Vocabulary with the label above as a well-known one.
func Vocabulary() *requirements.Vocabulary {
	return awsv1.Vocabulary().Extend(requirements.Extension{
		WellKnown: []string{LabelInstanceNitroEnclavesSupported},
	})
}

// NodePoolRules returns awsv1.NodePoolRules with the labels above as well-known ones: what
// NodePool.ValidateWith has to know of a cloud that sells these types. They are the
// caller's.
func NodePoolRules() *v1.Rules {
	rules := awsv1.NodePoolRules()
	rules.WellKnownLabels = WellKnownLabels()
	return rules
}
