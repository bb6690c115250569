package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/calendar"
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
	cal := &calendar.Calendar{Pool: pool, Nodes: s.nodes, From: s.from, Days: s.days, Zone: s.zone, Only: s.only}
	if err := cal.Ask(s.reasons); err != nil {
		return complain(stderr, err, command.BadInput)
	}
	text := cal.Table()
	if s.output == "svg" {
		text = cal.SVG()
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
	cluster, err := manifest.Read(manifest.Rules{}, sources...)
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
