// Command whatif plans nodes for a cluster that is written down in manifests,
// and says what they would cost. It needs neither a cloud nor a cluster.
//
//	whatif                             plan the sample cluster
//	whatif -f shop.yaml                plan a cluster of one's own
//	kubectl get nodepools,nodeclaims,nodes,pods,daemonsets,deployments,\
//	    replicasets,statefulsets,jobs,namespaces,services,pdb,\
//	    priorityclasses,pvc,pv,storageclasses,csinodes -A -o yaml | whatif -f -
//	whatif -explain shop/forecast      tell all about one pod
//	whatif -without ip-10-0-17-21      plan as if that node went
//	whatif -f c.yaml -compare new.yaml tell what these policies would change
//	whatif -f c.yaml -advise           tell what each constraint costs
//
// The instance types are those of the fake cloud unless -instance-types names
// a file of others. -o json and -o yaml print the plan in the form that
// reference.md describes.
//
// The exit code is 0 when there is a plan, even one that leaves pods pending;
// 1 when it leaves some under -fail-unplaced, or when something broke; 2 when
// the input or the flags are wrong.
package main

import (
	_ "embed"
	"os"
)

// sample is the cluster that is planned when no file is named: a small shop
// with two nodes, a flash sale ahead, and one pod that fits nowhere.
//
//go:embed sample.yaml
var sample []byte

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
