// Package puddlecloud simulates Puddle, a small invented cloud: servers in two zones, at two
// prices, behind an HTTP API with pages, tokens, error codes and notices. It does not know
// Kubernetes. A provider uses only the types of its API.
//
// A Cloud has its own clock. Tests can make its next call fail, hang, or lose its answer. It is
// safe for concurrent use.
package puddlecloud
