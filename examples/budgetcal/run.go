package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	pool, err := readPool(s, stdin)
	if err != nil {
		return complain(stderr, err, command.BadInput)
	}
	cal, err := newCalendar(s, pool)
	if err != nil {
		return complain(stderr, err, command.BadInput)
	}
	text := cal.table()
	if s.output == "svg" {
		text = cal.svg()
	}
	if _, err := io.WriteString(stdout, text); err != nil {
		return complain(stderr, err, command.Failed)
	}
	return command.OK
}

// complain writes an error as this program's.
func complain(stderr io.Writer, err error, code int) int {
	return command.Complain(stderr, "budgetcal", err, code)
}

// readPool reads the manifests and picks the NodePool.
func readPool(s settings, stdin io.Reader) (*v1.NodePool, error) {
	var errs []error
	sources, err := manifest.Sources(s.files, stdin, sample)
	if err != nil {
		errs = append(errs, err)
	}
	cluster, err := manifest.Read(&v1.Rules{}, sources...)
	if err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var names []string
	for _, p := range cluster.NodePools {
		if p.Name == s.pool || s.pool == "" && len(cluster.NodePools) == 1 {
			return p, nil
		}
		names = append(names, p.Name)
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the input has no NodePool")
	case s.pool != "":
		return nil, fmt.Errorf("the input has no NodePool %q, but %s", s.pool, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("the input has several NodePools, choose one with -pool: %s", strings.Join(names, ", "))
}

// newCalendar asks the budgets about every reason. Reasons with the same answer
// at all times share a section.
func newCalendar(s settings, pool *v1.NodePool) (*calendar, error) {
	compiled, err := budgets.Compile(pool.Spec.Disruption.Budgets, s.policy())
	if err != nil {
		return nil, fmt.Errorf("NodePool %s: spec.disruption: %w", pool.Name, err)
	}
	c := &calendar{settings: s, pool: pool, to: s.from.AddDate(0, 0, s.days)}
	for _, reason := range s.reasons {
		windows := compiled.Calendar(s.from, c.to, budgets.Counts{Nodes: s.nodes}, reason)
		c.add(reason, windows)
	}
	return c, nil
}
