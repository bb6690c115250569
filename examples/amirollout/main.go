// Command amirollout shows what amiSelectorTerms lead to: which images are
// selected, which nodes drift and why, the terms to promote once they are
// tested, and when the nodes would be replaced under the budgets of their
// NodePools. It needs neither a cloud nor a cluster.
//
//	amirollout                                       the sample
//	amirollout -min-age 168h                         with a bake time of a week
//	amirollout -f class.yaml -nodes claims.yaml -images images.json
//
// The exit code is 0 when there is an answer, 1 when something broke, and 2 when
// the input or the flags are wrong.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
