package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

const usage = `Newprovider starts a cloud that does not exist on loopback, and plays a day with
it.

usage: newprovider [flags]

  -h           print this
`

// run is the program. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("newprovider", flag.ContinueOnError)
	code, ok := command.Parse(set, args, usage, stdout, stderr, func() []string { return command.Arguments(set, "") })
	if !ok {
		return code
	}
	if err := play(context.Background(), stdout); err != nil {
		return command.Complain(stderr, "newprovider", err, command.Failed)
	}
	return command.OK
}

// play starts the cloud and spends a day there.
func play(ctx context.Context, out io.Writer) (err error) {
	cloud := newCloud()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	api := &http.Server{Handler: cloud.handler(), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- api.Serve(listener) }()
	defer func() {
		err = errors.Join(err, api.Close())
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}()
	provider, err := newProvider("http://"+listener.Addr().String(), "demo", cloud.now)
	if err != nil {
		return err
	}
	d := &day{cloud: cloud, provider: provider, out: out, started: cloud.now()}
	return d.spend(ctx)
}
