package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailed   = 1
	exitBadInput = 2
)

const usage = `Autoscaler runs a node autoscaler on a fake cloud, in virtual time.

usage: autoscaler [flags]

  -hours N     how many hours to simulate, 1 to 336. Default 48
  -seed N      decides all that is chance. Default 1
  -v           print every decision, and not only the story
  -html FILE   write a report with plots to FILE as well
  -h           print this
`

// settings is what the command line asks for.
type settings struct {
	hours   int
	seed    uint64
	verbose bool
	html    string // file; empty is none
}

const maxHours = 14 * 24

// parseFlags reads the command line, and complains of everything that is wrong
// with it.
func parseFlags(args []string) (s settings, err error) {
	flags := flag.NewFlagSet("autoscaler", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&s.hours, "hours", 48, "")
	flags.Uint64Var(&s.seed, "seed", 1, "")
	flags.BoolVar(&s.verbose, "v", false, "")
	flags.StringVar(&s.html, "html", "", "")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	var errs []error
	if flags.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unexpected argument %q; see -h", flags.Arg(0)))
	}
	if s.hours < 1 || s.hours > maxHours {
		errs = append(errs, fmt.Errorf("invalid value %d for flag -hours: must be 1 to %d", s.hours, maxHours))
	}
	return s, errors.Join(errs...)
}

// run is the program. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	s, err := parseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	if err != nil {
		return command.Complain(stderr, "autoscaler", err, exitBadInput)
	}
	if err := simulate(context.Background(), s, stdout); err != nil {
		return command.Complain(stderr, "autoscaler", err, exitFailed)
	}
	return exitOK
}

// simulate plays the sample and reports on it.
func simulate(ctx context.Context, s settings, stdout io.Writer) error {
	sim, err := newSimulation(s.seed, stdout, s.verbose)
	if err != nil {
		return err
	}
	if err := sim.play(ctx, time.Duration(s.hours)*time.Hour); err != nil {
		return err
	}
	r := sim.report(s)
	fmt.Fprintln(stdout)
	fmt.Fprint(stdout, r.text())
	if s.html == "" {
		return nil
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.html, page, 0o666); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nThe report with plots is in %s.\n", s.html)
	return nil
}
