package aws

import "github.com/dovetail-sdk/dovetail/cloudprovider"

// What a Provider can do, beside what its methods say.
var (
	_ cloudprovider.CloudProvider      = (*Provider)(nil)
	_ cloudprovider.Namer              = (*Provider)(nil)
	_ cloudprovider.VocabularyProvider = (*Provider)(nil)
	_ cloudprovider.NodeClassSupporter = (*Provider)(nil)
	_ cloudprovider.NodeClassChecker   = (*Provider)(nil)
	_ cloudprovider.DriftDetector      = (*Provider)(nil)
	_ cloudprovider.Repairer           = (*Provider)(nil)

	_ cloudprovider.InterruptionSource       = (*Provider)(nil)
	_ cloudprovider.InterruptionAcknowledger = (*Provider)(nil)
)
