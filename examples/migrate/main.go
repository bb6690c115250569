// Command migrate rewrites manifests of earlier versions of Karpenter as those of
// version v1.
//
//	migrate                                  a sample
//	migrate -f old.yaml > new.yaml           the remarks go to standard error
//	migrate -f pools.yaml -f classes.yaml    converted together
//	migrate -check -f manifests.yaml         names the files that would change
//	kubectl get provisioners,awsnodetemplates -o yaml | migrate -f -
//
// The exit code is 0; 1 when -check finds something to convert, or something
// broke; 2 when the input cannot be read or the flags are wrong.
package main

import (
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
