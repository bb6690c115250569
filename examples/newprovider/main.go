// Command newprovider plays a day with a provider for an invented cloud on the loopback interface, and
// prints a log of it: plan, launch, shortage, notice, drift, delete. The cloud has a clock of its own,
// so that the log is always the same.
//
// The provider is package puddle: the contract in less than three hundred lines, and the optional
// abilities. Copy it as the beginning of a provider for a real cloud: docs/writing-a-provider.md
// walks through it. The cloud is package examples/internal/puddlecloud.
package main

import (
	"context"
	"flag"
	"io"
	"net/http/httptest"
	"os"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const about = "Newprovider starts a cloud that does not exist on loopback, and plays a day with it."

func run(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("newprovider", flag.ContinueOnError)
	return command.Run(set, args, about, stdout, stderr, func(*command.Faults) {}, func() error {
		cloud := puddlecloud.New()
		api := httptest.NewServer(cloud.Handler())
		defer api.Close()
		d, err := newDay(cloud, api.URL, stdout)
		if err != nil {
			return err
		}
		return spend(context.Background(), d)
	})
}
