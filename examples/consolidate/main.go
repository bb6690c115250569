// Command consolidate says which nodes of a cluster to remove or replace, what
// that saves, where the pods go, and why every other node is left alone. The
// cluster is written down in manifests: it needs neither a cloud nor a cluster.
//
//	consolidate                        look at the sample of 60 nodes
//	consolidate -converge              carry proposals out until none is left
//	kubectl get nodepools,nodeclaims,nodes,pods,daemonsets,deployments,\
//	    replicasets,statefulsets,jobs,namespaces,services,pdb,\
//	    priorityclasses,pvc,pv,storageclasses,csinodes -A -o yaml |
//	    consolidate -f -
//	consolidate -o json                the same for programs
//
// Instance types and prices are those of the fake cloud unless -instance-types
// names a file of others.
//
// The exit code is 0 when there is an answer; 1 when something broke; 2 when the
// input or the flags are wrong.
package main

import (
	_ "embed"
	"os"
)

// sample is the cluster that is looked at when no file is named.
//
//go:embed sample.yaml
var sample []byte

// sampleNow is when the sample was taken.
const sampleNow = "2026-03-02T12:00:00Z"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
