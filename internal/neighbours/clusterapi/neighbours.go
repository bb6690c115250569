// Package neighbours compiles if this library can be imported beside Cluster API.
package neighbours

import (
	_ "sigs.k8s.io/cluster-api/api/core/v1beta2"
	_ "sigs.k8s.io/cluster-api/util"

	_ "github.com/dovetail-sdk/dovetail/aws"
	_ "github.com/dovetail-sdk/dovetail/disruption"
)
