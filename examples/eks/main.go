// Command eks says which instances would be launched in an EKS cluster for the pods
// of some manifests, by the NodePools and EC2NodeClasses beside them.
//
//	eks                                  in a small AWS on this machine
//	eks -loopback -f shop.yaml           the same with manifests of one's own
//	eks -cluster shop -f shop.yaml       ask AWS, with the credentials there are,
//	                                     and change nothing
//	eks -cluster shop -f shop.yaml -launch
//	                                     launch them
//
// The small AWS is a server on 127.0.0.1 that speaks the protocols of the real one,
// so the whole provider is at work: what is planned is launched, interrupted and
// deleted again, which is printed by the clock of that AWS.
//
// Manifests hold NodePools, EC2NodeClasses, and pods or workloads. README.md says
// what the output means.
//
// The exit code is 0; 1 when something broke or is not ready; 2 when the input or
// the flags are wrong.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
