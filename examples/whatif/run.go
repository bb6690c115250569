package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/advicereport"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/comparereport"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/planreport"
	"github.com/dovetail-sdk/dovetail/examples/internal/referee"
	"github.com/dovetail-sdk/dovetail/examples/internal/webpage"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// answer is what is printed: data, or a text for people, or a page if there are pictures.
type answer struct {
	data    any
	text    func(command.Style) string
	page    func() webpage.Page
	pending bool // whether a pod has no place
}

// run is the program: it reads, asks the library, and prints. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	world, err := offline.Read(s.files, stdin)
	if err != nil {
		return command.Complain(stderr, "whatif", err, command.BadInput)
	}
	for _, line := range world.Remarks() {
		command.Say(stderr, "whatif: "+line)
	}
	ctx, done := command.Progress(context.Background(), stderr)
	var a answer
	switch {
	case s.compare.File != "":
		a, code, err = compareWith(ctx, s, world, stdin, stderr)
	case s.advise:
		a, code, err = advise(ctx, s, world, stderr)
	default:
		a, code, err = plan(ctx, s, world)
	}
	done()
	if err != nil {
		return command.Complain(stderr, "whatif", err, code)
	}
	if s.output == "html" {
		var page string
		if page, err = a.page().HTML(); err == nil {
			_, err = io.WriteString(stdout, page)
		}
	} else {
		err = command.Print(stdout, s.output, a.data, a.text)
	}
	if err != nil {
		return command.Complain(stderr, "whatif", err, command.Failed)
	}
	if s.failUnplaced && a.pending {
		return command.Failed
	}
	return command.OK
}

// plan makes the plan, or answers a question about it. Of an error it says what the exit
// code is.
func plan(ctx context.Context, s settings, w *offline.World) (answer, int, error) {
	in := w.Input()
	removed, err := toRemove(in, s.without)
	if err != nil {
		return answer{}, command.BadInput, err
	}
	problem, err := provisioning.Prepare(in, s.options())
	if err == nil && len(removed) > 0 {
		problem, err = problem.Without(removed...)
		in = referee.WithoutNodes(in, removed)
	}
	if err != nil {
		return answer{}, command.BadInput, w.Cluster.Explain(err)
	}
	plan, err := problem.Solve(ctx)
	if err != nil {
		return answer{}, command.Failed, err
	}
	verified := s.verify || referee.Options(plan) <= referee.MaxOptions
	if verified {
		if err := referee.Check(in, plan, s.options()); err != nil {
			return answer{}, command.Failed, err
		}
	}
	switch {
	case s.explain != "":
		return told(planreport.Explain(s.explain, in, plan))
	case s.why != "":
		return told(planreport.WhyNot(s.why, in, plan))
	}
	maxOptions := s.maxOptions
	if s.output == "table" {
		maxOptions = 1 // the table only counts them
	}
	r := planreport.New(w.Cluster, in, plan, maxOptions)
	r.Verified = verified
	return answer{data: r, text: r.Table, pending: len(plan.Unplaced) > 0}, command.OK, nil
}

// told is an answer in text alone.
func told(text string, err error) (answer, int, error) {
	return answer{text: func(command.Style) string { return text }}, command.BadInput, err
}

// toRemove are those of the nodes named that are not being deleted already. The pods of the
// others are among those to place as it is.
func toRemove(in provisioning.Input, names []string) (out []string, err error) {
	var known []string
	for i := range in.Nodes {
		n := &in.Nodes[i]
		known = append(known, n.Name())
		deleted := n.Node != nil && n.Node.DeletionTimestamp != nil || n.NodeClaim != nil && n.NodeClaim.DeletionTimestamp != nil
		if !deleted && slices.Contains(names, n.Name()) {
			out = append(out, n.Name())
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			err = errors.Join(err, fmt.Errorf("-without %s: the input has no such node%s", name, command.DidYouMean(name, known)))
		}
	}
	return out, err
}

// running is the cluster as it runs, at the instant to ask about: that of the flag, or now.
func running(s *settings, w *offline.World, stderr io.Writer) compare.Side {
	if s.compare.Now.IsZero() {
		s.compare.Now = time.Now().UTC().Truncate(time.Second)
		if age := w.Age(s.compare.Now); age != "" {
			command.Say(stderr, "whatif: "+age)
		}
	}
	return compare.Side{Input: w.Running(), Options: &disruption.Options{Provisioning: s.options()}}
}

// compareWith answers -compare.
func compareWith(ctx context.Context, s settings, w *offline.World, stdin io.Reader, stderr io.Writer) (answer, int, error) {
	side := running(&s, w, stderr)
	file, err := w.Policies(s.compare.File, s.files, stdin)
	if err != nil {
		return answer{}, command.BadInput, err
	}
	for _, line := range file.Remarks() {
		command.Say(stderr, "whatif: "+s.compare.File+": "+line)
	}
	r, err := comparereport.Ask(ctx, s.compare, side, file.Input())
	if err != nil {
		return answer{}, command.BadInput, w.Cluster.Explain(err)
	}
	return answer{data: r, text: r.Text, page: r.Page}, command.OK, nil
}

// advise answers -advise.
func advise(ctx context.Context, s settings, w *offline.World, stderr io.Writer) (answer, int, error) {
	side := running(&s, w, stderr)
	r, err := advicereport.Ask(ctx, advicereport.Question{Now: s.compare.Now, Questions: s.questions}, side)
	if err != nil {
		return answer{}, command.BadInput, w.Cluster.Explain(err)
	}
	return answer{data: r, text: r.Text, page: r.Page}, command.OK, nil
}
