// Package puddlecloud is Puddle, a small cloud that does not exist: servers in two zones,
// at two prices, behind an HTTP API with pages, tokens, codes and notices. Nothing of it
// knows of Kubernetes. A provider needs no more of it than the types of its API.
//
// A Cloud has a clock of its own, does wrong what it is told to, once, and is safe for
// concurrent use.
package puddlecloud
