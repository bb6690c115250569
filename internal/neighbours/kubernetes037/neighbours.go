// Package neighbours compiles if this library can be imported beside client-go v0.37
// and the controller-runtime that goes with it.
package neighbours

import (
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/controller-runtime"

	_ "github.com/dovetail-sdk/dovetail/aws"
	_ "github.com/dovetail-sdk/dovetail/disruption"
)
