package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	world, err := offline.Read(s.input(), stdin)
	if err != nil {
		return complain(stderr, err, command.BadInput)
	}
	for _, line := range world.Remarks() {
		command.Say(stderr, "consolidate: "+line)
	}
	given := !s.now.IsZero() || len(s.files) == 0
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
	if refused := (noSuchNode{}); errors.As(err, &refused) {
		return complain(stderr, err, command.BadInput)
	}
	if err != nil {
		return complain(stderr, err, command.Failed)
	}
	if err := write(stdout, r, s); err != nil {
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
	case len(s.files) == 0:
		return time.Parse(time.RFC3339, sampleNow)
	}
	return time.Now().UTC().Truncate(time.Second), nil
}

// answer makes the report.
func answer(ctx context.Context, s settings, in disruption.Input, opts *disruption.Options) (*report, error) {
	p, err := disruption.Propose(ctx, s.now, in, opts)
	if err != nil {
		return nil, err
	}
	b := newBuilder(in)
	r := b.report(s, p)
	if r.Provisioned, err = pendingNeed(ctx, s.now, in, opts); err != nil {
		return nil, err
	}
	if s.converge {
		rounds, after, stopped, err := converge(ctx, s.now, in, opts)
		if err != nil {
			return nil, err
		}
		last := rounds[len(rounds)-1].proposal
		r.Rounds, r.Stopped, r.After = b.rounds(rounds), stopped, stateOf(after)
		r.Converged = len(last.Actions) == 0 && len(last.Waiting) == 0
		r.Search = searched(rounds)
		r.leave(last)
		return r, r.explain(ctx, last, s.why)
	}
	after, err := disruption.After(s.now, in, p.Actions, opts)
	if err != nil {
		return nil, err
	}
	settled, _, err := provision(ctx, s.now, after, opts)
	if err != nil {
		return nil, err
	}
	r.After, r.FollowUp = stateOf(settled), followUp(in, after, settled, r.Provisioned)
	if err := r.whatIf(ctx, p, in, opts, s.without); err != nil {
		return nil, err
	}
	return r, r.explain(ctx, p, s.why)
}

// noSuchNode says that -why names no node that is left alone.
type noSuchNode struct{ error }

// explain says what keeps the pods of a node from the other nodes.
func (r *report) explain(ctx context.Context, p *disruption.Proposal, name string) error {
	if name == "" {
		return nil
	}
	if !slices.ContainsFunc(r.LeftAlone, func(n nodeLeft) bool { return n.Node == name }) {
		for _, a := range p.Actions {
			if slices.ContainsFunc(a.Targets, func(t disruption.Target) bool { return t.Node == name }) {
				return noSuchNode{fmt.Errorf("-why %s: it is not left alone; it is to go now: %s", name, a)}
			}
		}
		return noSuchNode{fmt.Errorf("-why %s: no such node is left alone; name one of those that -all lists", name)}
	}
	stay, err := p.Explain(ctx, name)
	if err != nil {
		return err
	}
	r.Why = &why{Node: stay.Node, OtherNodes: stay.Others, Placed: stay.Placed, Pods: []whyPod{}, text: stay.Report()}
	for _, pod := range stay.Pods {
		one := whyPod{Namespace: pod.Pod.Namespace, Name: pod.Pod.Name, Unsuited: pod.Unsuited, Full: pod.Full, Open: pod.Open, Barriers: []barrier{}}
		for _, b := range pod.Conflicts {
			one.Barriers = append(one.Barriers, barrier{b.Node, string(b.Rule), b.Detail})
		}
		r.Why.Pods = append(r.Why.Pods, one)
	}
	return nil
}

// write prints a report in the format asked for.
func write(out io.Writer, r *report, s settings) error {
	if s.output == "json" {
		return writeJSON(out, r)
	}
	_, err := io.WriteString(out, draw(r, command.StyleFor(out, os.Getenv), s.all))
	return err
}
