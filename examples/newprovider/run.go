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
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
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
	cloud := puddlecloud.New()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	api := &http.Server{Handler: cloud.Handler(), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- api.Serve(listener) }()
	defer func() {
		err = errors.Join(err, api.Close())
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}()
	d, err := newDay(cloud, "http://"+listener.Addr().String(), out)
	if err != nil {
		return err
	}
	return d.spend(ctx)
}
