// Package puddle is a cloudprovider.CloudProvider for Puddle, a small invented cloud with an HTTP
// API. provider.go has the five methods of the interface. catalog.go converts shapes and servers
// into instance types and instances, and client.go converts failed answers into errors. node.go has
// the settings with which a node starts, and abilities.go the optional methods of a provider.
package puddle
