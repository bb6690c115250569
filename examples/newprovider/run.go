package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailed   = 1
	exitBadInput = 2
)

// run is the program. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
			fmt.Fprintln(stdout, "usage: newprovider\n\nStarts a cloud that does not exist, and plays a day with it.")
			return exitOK
		}
		return command.Complain(stderr, "newprovider", fmt.Errorf("there are no arguments, but %q was given", args[0]), exitBadInput)
	}
	if err := play(context.Background(), stdout); err != nil {
		return command.Complain(stderr, "newprovider", err, exitFailed)
	}
	return exitOK
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
