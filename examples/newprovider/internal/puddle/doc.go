// Package puddle is a cloudprovider.CloudProvider for Puddle, a small cloud with an HTTP API
// that does not exist: provider.go has the five methods, catalog.go turns what the cloud has
// into instance types and instances, client.go its answers into errors, node.go has what a node
// starts with, and abilities.go what a provider may do in addition.
package puddle
