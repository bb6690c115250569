package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// exitOpen says that -check found something to convert or to complete.
const exitOpen = 1

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	sources, err := readSources(s.files, stdin)
	if err != nil {
		return command.Complain(stderr, "migrate", err, command.BadInput)
	}
	s.options.Check = s.check
	result := convert.Convert(&s.options, sources...)
	for _, n := range result.Notes {
		if n.Severity >= convert.Action || !s.quiet {
			command.Say(stderr, n.String())
		}
	}
	if s.check {
		return check(result, stdout)
	}
	if _, err := stdout.Write(result.Stream()); err != nil {
		return command.Complain(stderr, "migrate", err, command.Failed)
	}
	return command.OK
}

// check names the files that would change, and says whether all is done.
func check(result *convert.Result, stdout io.Writer) int {
	for _, out := range result.Outputs {
		if out.Changed {
			fmt.Fprintln(stdout, out.Name)
		}
	}
	if result.Changed() || convert.Worst(result.Notes) >= convert.Action {
		return exitOpen
	}
	return command.OK
}

// readSources reads the files, or takes the sample if there are none. One that
// cannot be read does not keep it from trying the others; the error joins all.
func readSources(names []string, stdin io.Reader) ([]convert.Source, error) {
	if len(names) == 0 {
		return []convert.Source{{Name: "sample.yaml", Data: sample}}, nil
	}
	var errs []error
	var sources []convert.Source
	for _, name := range names {
		data, err := command.ReadFile(name, stdin)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sources = append(sources, convert.Source{Name: name, Data: data})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(sources, func(s convert.Source) bool { return len(bytes.TrimSpace(s.Data)) > 0 }) {
		return nil, fmt.Errorf("%s: there is nothing in it; look whether the command that wrote it failed", strings.Join(names, ", "))
	}
	return sources, nil
}
