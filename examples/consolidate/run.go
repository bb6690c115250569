package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/proposalreport"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	world, err := offline.Read(s.files, stdin)
	if err != nil {
		return complain(stderr, err, command.BadInput)
	}
	for _, line := range world.Remarks() {
		command.Say(stderr, "consolidate: "+line)
	}
	given := !s.now.IsZero() || len(s.files.Manifests) == 0
	if s.now, err = instant(s); err != nil {
		return complain(stderr, err, command.Failed)
	}
	if age := world.Age(s.now); age != "" && !given {
		command.Say(stderr, "consolidate: "+age)
	}
	in, opts := world.Running(), s.options()
	// What is at fault would be left alone and the rest decided. Here it is a
	// mistake of whoever wrote the file, who wants to know.
	if _, err := disruption.Observe(s.now, in, opts); err != nil {
		return complain(stderr, world.Cluster.Explain(err), command.BadInput)
	}
	if _, err := provisioning.Prepare(in.Input, opts.Provisioning); err != nil {
		return complain(stderr, world.Cluster.Explain(err), command.BadInput)
	}
	ctx, done := command.Progress(context.Background(), stderr)
	r, err := answer(ctx, s, in, opts)
	done()
	if refused := (proposalreport.NoSuchNode{}); errors.As(err, &refused) {
		return complain(stderr, err, command.BadInput)
	}
	if err != nil {
		return complain(stderr, err, command.Failed)
	}
	if err := command.Print(stdout, s.output, r, func(style command.Style) string { return r.Text(style, s.all) }); err != nil {
		return complain(stderr, err, command.Failed)
	}
	return command.OK
}

// complain writes an error as this program's.
func complain(stderr io.Writer, err error, code int) int {
	return command.Complain(stderr, "consolidate", err, code)
}

// instant is when to decide: what the flag says, the instant of the sample, or
// the present.
func instant(s settings) (time.Time, error) {
	switch {
	case !s.now.IsZero():
		return s.now.UTC(), nil
	case len(s.files.Manifests) == 0:
		return time.Parse(time.RFC3339, sampleNow)
	}
	return time.Now().UTC().Truncate(time.Second), nil
}

// answer asks the library, and writes down what it says.
func answer(ctx context.Context, s settings, in disruption.Input, opts *disruption.Options) (*proposalreport.Report, error) {
	p, err := disruption.Propose(ctx, s.now, in, opts)
	if err != nil {
		return nil, err
	}
	r := proposalreport.New(s.now, in, p)
	if s.converge {
		p, err = r.Converge(ctx, p, in, opts)
	} else {
		err = r.Follow(ctx, p, in, opts)
	}
	if err == nil && s.without != "" {
		err = r.AddWithout(ctx, p, in, opts, s.without)
	}
	if err == nil && s.why != "" {
		err = r.AddWhy(ctx, p, s.why)
	}
	return r, err
}
