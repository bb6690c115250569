package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailed   = 1 // something broke, or pods stay pending under -fail-unplaced
	exitBadInput = 2 // the flags or the input are wrong
)

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	if err != nil {
		return exitBadInput
	}
	cluster, types, err := readAll(s, stdin)
	if err != nil {
		return complain(stderr, err, exitBadInput)
	}
	for _, line := range remarks(cluster) {
		fmt.Fprintln(stderr, "whatif: "+line)
	}
	in, plan, code, err := solve(s, cluster, types)
	if err != nil {
		return complain(stderr, err, code)
	}
	verified := s.verify || launchOptions(plan) <= maxVerified
	if verified {
		if err := verify(in, plan, s.options()); err != nil {
			return complain(stderr, err, exitFailed)
		}
	}
	if s.explain != "" || s.why != "" {
		text, err := answer(s, in, plan)
		if err != nil {
			return complain(stderr, err, exitBadInput)
		}
		fmt.Fprint(stdout, text)
		return exitOK
	}
	maxOptions := s.maxOptions
	if s.output == "table" {
		maxOptions = 1 // the table only counts them
	}
	report := buildReport(cluster, in, plan, maxOptions)
	report.Verified = verified
	if err := write(stdout, report, s.output); err != nil {
		return complain(stderr, err, exitFailed)
	}
	if s.failUnplaced && len(plan.Unplaced) > 0 {
		return exitFailed
	}
	return exitOK
}

// solve makes the plan, and returns the input it answers: without the nodes
// that are to be removed. Of an error it says what the exit code is.
func solve(s settings, c *manifest.Cluster, types []*cloudprovider.InstanceType) (provisioning.Input, *provisioning.Plan, int, error) {
	in := inputFrom(c, types)
	if err := checkNodes(in, s.without); err != nil {
		return in, nil, exitBadInput, err
	}
	problem, err := provisioning.Prepare(in, s.options())
	if removed := staying(in, s.without); err == nil && len(removed) > 0 {
		problem, err = problem.Without(removed...)
		in = withoutNodes(in, removed)
	}
	if err != nil {
		return in, nil, exitBadInput, c.Explain(err)
	}
	plan, err := problem.Solve(context.Background())
	return in, plan, exitFailed, err
}

// complain writes an error as this program's.
func complain(stderr io.Writer, err error, code int) int {
	return command.Complain(stderr, "whatif", err, code)
}

// readAll reads the manifests and the instance types. Faults in either do not
// keep the other from being looked at.
func readAll(s settings, stdin io.Reader) (*manifest.Cluster, []*cloudprovider.InstanceType, error) {
	var errs []error
	sources, err := manifest.Sources(s.files, stdin, sample)
	if err != nil {
		errs = append(errs, err)
	}
	cluster, err := manifest.Read(rules(), sources...)
	if err != nil {
		errs = append(errs, err)
	}
	types, err := readTypes(s, stdin)
	if err != nil {
		errs = append(errs, err)
	}
	return cluster, types, errors.Join(errs...)
}

// rules are those of the provider that the manifests are written for.
func rules() *v1.Rules {
	return &v1.Rules{WellKnownLabels: fake.WellKnownLabels(), RestrictedDomains: []string{fake.LabelDomain}}
}

// readTypes reads the file of instance types, or takes those of the fake
// cloud.
func readTypes(s settings, stdin io.Reader) ([]*cloudprovider.InstanceType, error) {
	if s.instanceTypes == "" {
		return fake.Catalog(), nil
	}
	data, err := command.ReadFile(s.instanceTypes, stdin)
	if err != nil {
		return nil, err
	}
	types, err := fake.ReadCatalog(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.instanceTypes, err)
	}
	return types, nil
}

// remarks says what of the input had no say in the plan.
func remarks(c *manifest.Cluster) []string {
	var lines []string
	if len(c.Ignored) > 0 {
		var kinds []string
		for _, k := range c.Ignored {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.Count, k.Kind))
		}
		lines = append(lines, "ignored "+strings.Join(kinds, ", "))
	}
	return append(lines, c.Notes...)
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

// verify asks the referee, which shares no code with the solver, whether the
// plan keeps all the rules. A plan that does not is not shown.
func verify(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) error {
	var errs []error
	for _, v := range provisioning.Verify(in, plan, opts) {
		errs = append(errs, fmt.Errorf("the plan breaks a rule, please report this: %s", v))
	}
	return errors.Join(errs...)
}
