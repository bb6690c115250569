package fake

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// A Cloud has every ability that there is.
var (
	_ cloudprovider.CloudProvider            = (*Cloud)(nil)
	_ cloudprovider.Namer                    = (*Cloud)(nil)
	_ cloudprovider.VocabularyProvider       = (*Cloud)(nil)
	_ cloudprovider.NodeClassSupporter       = (*Cloud)(nil)
	_ cloudprovider.NodeClassChecker         = (*Cloud)(nil)
	_ cloudprovider.DriftDetector            = (*Cloud)(nil)
	_ cloudprovider.Rebooter                 = (*Cloud)(nil)
	_ cloudprovider.Repairer                 = (*Cloud)(nil)
	_ cloudprovider.InterruptionSource       = (*Cloud)(nil)
	_ cloudprovider.InterruptionAcknowledger = (*Cloud)(nil)
)
