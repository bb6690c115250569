package main

import (
	"io"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption/rollout"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/rolloutinput"
	"github.com/dovetail-sdk/dovetail/examples/internal/rolloutreport"
)

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	in, err := rolloutinput.Read(s.files(), stdin)
	if err != nil {
		return complain(stderr, err, command.BadInput)
	}
	r, err := decide(s, in)
	if err != nil {
		return complain(stderr, err, command.BadInput)
	}
	if _, err := io.WriteString(stdout, r.String()); err != nil {
		return complain(stderr, err, command.Failed)
	}
	return command.OK
}

// complain writes an error as this program's.
func complain(stderr io.Writer, err error, code int) int {
	return command.Complain(stderr, "amirollout", err, code)
}

// decide asks the library.
func decide(s settings, in *rolloutinput.Input) (*rolloutreport.Report, error) {
	selection, err := amiselect.Select(s.now, in.Terms, in.Images, &amiselect.Options{
		Environment: amiselect.Environment{KubernetesVersion: s.kubernetes, Account: s.account},
		MinAge:      s.minAge,
		Deny:        s.deny,
	})
	if err != nil {
		return nil, err
	}
	diff, err := amiselect.Diff(amiselect.Selection{}, selection, in.Nodes)
	if err != nil {
		return nil, err
	}
	var drifted []rollout.Node
	for _, n := range diff.Drifted {
		drifted = append(drifted, rollout.Node{Name: n.Name, NodePool: n.NodePool, Created: n.Created, Reason: n.Reason.String()})
	}
	waves := rollout.Options{Canary: s.canary, Soak: s.soak}
	if s.canary == 0 {
		waves.Canary = max(1, len(drifted)) // one wave of all
	}
	preview, err := rollout.Preview(s.now, drifted, &rollout.PreviewOptions{Waves: waves, Pace: rollout.BudgetPace(in.Pools, in.Counts, budgets.Drifted), Replacement: s.replacement})
	if err != nil {
		return nil, err
	}
	r := &rolloutreport.Report{Class: in.Class, Terms: in.Terms, Kubernetes: s.kubernetes, Now: s.now, MinAge: s.minAge, Deny: s.deny,
		Replacement: s.replacement, Selection: selection, Diff: diff, Rollout: preview, Others: in.Others}
	r.Lock, r.LockErr = amiselect.Lock(in.Terms, selection)
	return r, nil
}
