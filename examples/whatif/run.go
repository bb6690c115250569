package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
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
		command.Say(stderr, "whatif: "+line)
	}
	ctx, done := command.Progress(context.Background(), stderr)
	if s.compare.file != "" || s.advise {
		return ask(ctx, done, s, world, stdin, stdout, stderr)
	}
	in, plan, code, err := solve(ctx, s, world)
	done()
	if err != nil {
		return complain(stderr, err, code)
	}
	verified := s.verify || launchOptions(plan) <= maxVerified
	if verified {
		if err := checked(in, plan, s.options()); err != nil {
			return complain(stderr, err, command.Failed)
		}
	}
	if s.explain != "" || s.why != "" {
		text, err := answer(s, in, plan)
		if err != nil {
			return complain(stderr, err, command.BadInput)
		}
		fmt.Fprint(stdout, text)
		return command.OK
	}
	maxOptions := s.maxOptions
	if s.output == "table" {
		maxOptions = 1 // the table only counts them
	}
	report := buildReport(world.Cluster, in, plan, maxOptions)
	report.Verified = verified
	if err := write(stdout, report, s.output); err != nil {
		return complain(stderr, err, command.Failed)
	}
	if s.failUnplaced && len(plan.Unplaced) > 0 {
		return command.Failed
	}
	return command.OK
}

// ask answers -compare or -advise.
func ask(ctx context.Context, done func(), s settings, w *offline.World, stdin io.Reader, stdout, stderr io.Writer) int {
	if s.compare.now.IsZero() {
		s.compare.now = time.Now().UTC().Truncate(time.Second)
		if age := w.Age(s.compare.now); age != "" {
			command.Say(stderr, "whatif: "+age)
		}
	}
	var answer any
	var table func(command.Style) string
	var html webPage
	var code int
	var err error
	if s.advise {
		var r *adviceReport
		r, code, err = advise(ctx, s, w)
		if err == nil {
			answer, table, html = r, func(style command.Style) string { return drawAdvice(r, style) }, r.page()
		}
	} else {
		var r *compareReport
		r, code, err = compareWith(ctx, s, w, stdin, stderr)
		if err == nil {
			answer, table, html = r, func(style command.Style) string { return drawCompare(r, style) }, r.page()
		}
	}
	done()
	if err != nil {
		return complain(stderr, err, code)
	}
	if s.output == "html" {
		text, err := html.html()
		if err != nil {
			return complain(stderr, err, command.Failed)
		}
		fmt.Fprint(stdout, text)
		return command.OK
	}
	if err := writeAnswer(stdout, answer, table, s.output); err != nil {
		return complain(stderr, err, command.Failed)
	}
	return command.OK
}

// solve makes the plan, and returns the input it answers: without the nodes
// that are to be removed. Of an error it says what the exit code is.
func solve(ctx context.Context, s settings, w *offline.World) (provisioning.Input, *provisioning.Plan, int, error) {
	in := w.Input()
	if err := checkNodes(in, s.without); err != nil {
		return in, nil, command.BadInput, err
	}
	problem, err := provisioning.Prepare(in, s.options())
	if removed := staying(in, s.without); err == nil && len(removed) > 0 {
		problem, err = problem.Without(removed...)
		in = withoutNodes(in, removed)
	}
	if err != nil {
		return in, nil, command.BadInput, w.Cluster.Explain(err)
	}
	plan, err := problem.Solve(ctx)
	return in, plan, command.Failed, err
}

// complain writes an error as this program's.
func complain(stderr io.Writer, err error, code int) int {
	return command.Complain(stderr, "whatif", err, code)
}

// maxVerified is the number of launch options of all new nodes up to which a
// plan is verified without being asked to: some seconds' worth.
const maxVerified = 100_000

func launchOptions(plan *provisioning.Plan) int {
	n := 0
	for i := range plan.Create {
		n += len(plan.Create[i].Options)
	}
	return n
}

// checked asks the referee, which shares no code with the solver, whether the
// plan keeps all the rules. A plan that does not is not shown.
func checked(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) error {
	var errs []error
	for _, v := range verify.Plan(in, plan, opts) {
		errs = append(errs, fmt.Errorf("the plan breaks a rule, please report this: %s", v))
	}
	return errors.Join(errs...)
}
