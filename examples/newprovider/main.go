// Command newprovider is a provider from end to end: a small cloud that does not
// exist, with an HTTP API; a cloudprovider.CloudProvider for it in less than
// three hundred lines; and a day in its life, printed as a log.
//
//	newprovider     start the cloud on loopback, plan, launch, list, delete
//
// The files are meant to be read, and copied for a cloud that does exist:
// provider.go, catalog.go, abilities.go and client.go are the provider, cloud.go
// and server.go the cloud. docs/writing-a-provider.md walks through them.
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
