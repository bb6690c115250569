// Package cloudprovider is without fault, but for its dependencies.
package cloudprovider // want purity: cloudprovider may not import k8s.io/client-go/rest by way of others

import _ "example.com/unlisted" // want dependencies: cloudprovider may not import module example.com/unlisted
