// Package neighbours compiles if this library can be imported beside client-go v0.36.
package neighbours

import (
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"

	_ "github.com/dovetail-sdk/dovetail/aws"
	_ "github.com/dovetail-sdk/dovetail/disruption"
)
