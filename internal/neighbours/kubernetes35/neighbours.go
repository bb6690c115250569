// Package neighbours type-checks if this library can be imported next to the Cluster API
// of Kubernetes 0.35. The program gets Kubernetes 0.36, which this library needs, and asks
// for controller-runtime 0.24, as 0.23 does not build with that.
package neighbours

import (
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/cluster-api/api/core/v1beta2"
	_ "sigs.k8s.io/cluster-api/util"
	_ "sigs.k8s.io/controller-runtime"

	_ "github.com/dovetail-sdk/dovetail/aws"
	_ "github.com/dovetail-sdk/dovetail/disruption"
)
