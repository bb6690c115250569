package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// The exit codes.
const (
	exitOK       = 0
	exitChanged  = 1 // -check found something to convert
	exitFailed   = 1 // something broke
	exitBadInput = 2 // the flags are wrong, or a file cannot be read
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
	sources, err := readSources(s.files, stdin)
	if err != nil {
		return command.Complain(stderr, "convert", err, exitBadInput)
	}
	result := convert.Convert(&s.options, sources...)
	for _, n := range result.Notes {
		if n.Severity > convert.Info || !s.quiet {
			fmt.Fprintln(stderr, n)
		}
	}
	if s.check {
		return check(result, stdout)
	}
	if _, err := stdout.Write(result.Stream()); err != nil {
		return command.Complain(stderr, "convert", err, exitFailed)
	}
	return exitOK
}

// check names the files that would change.
func check(result *convert.Result, stdout io.Writer) int {
	for _, out := range result.Outputs {
		if out.Changed {
			fmt.Fprintln(stdout, out.Name)
		}
	}
	if result.Changed() {
		return exitChanged
	}
	return exitOK
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
	return sources, errors.Join(errs...)
}
