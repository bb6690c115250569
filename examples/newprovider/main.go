// Command newprovider plays a day with a provider for a cloud that does not exist, and
// prints it as a log: plan, launch, shortage, notice, drift, delete.
//
//	newprovider     start the cloud on loopback, plan, launch, list, delete
//
// The provider, in less than three hundred lines and what it can do beside, is package
// puddle, to be read, and copied for a cloud that does exist: docs/writing-a-provider.md
// walks through it. The cloud is package examples/internal/puddlecloud.
//
// Nothing is listened to or called but the loopback interface. The cloud has a
// clock of its own, so that the log is always the same.
//
// The exit code is 0; 1 when something broke; 2 when there are arguments.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
