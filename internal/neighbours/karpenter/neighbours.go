// Package neighbours type-checks if this library can be imported next to Karpenter, of the
// newest version that can be built with the Go of this repository.
package neighbours

import (
	_ "sigs.k8s.io/karpenter/pkg/apis/v1"
	_ "sigs.k8s.io/karpenter/pkg/cloudprovider"
	_ "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"

	_ "github.com/dovetail-sdk/dovetail/aws"
	_ "github.com/dovetail-sdk/dovetail/disruption"
)
