// Package neighbours compiles if this library can be imported beside client-go and the
// controller-runtime that goes with it. There is one minor version to try: a program
// that asks for an older client-go gets that of component-helpers, which the engine
// needs.
package neighbours

import (
	_ "k8s.io/client-go/informers"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/controller-runtime"

	_ "github.com/dovetail-sdk/dovetail/aws"
	_ "github.com/dovetail-sdk/dovetail/disruption"
)
