// Command autoscaler is a whole node autoscaler on a fake cloud, in virtual time: it plays two days
// with a daily wave, nightly jobs, a deploy, spot interruptions, a shortage, a provider that panics
// and a new image in seconds. The same flags print the same bytes. README.md has commands to begin
// with. Package internal/autoscaler is the autoscaler; this package writes the report.
//
// The exit code is 0; 1 when something broke; 2 when the flags are wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const about = "Autoscaler runs a node autoscaler on a fake cloud, in virtual time."

type settings struct {
	hours   int
	seed    uint64
	verbose bool
	html    string // file name; empty for none
}

const maxHours = 14 * 24

func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	set := flag.NewFlagSet("autoscaler", flag.ContinueOnError)
	set.IntVar(&s.hours, "hours", 48, "`N` how many hours to simulate, 1 to 336. Default 48")
	set.Uint64Var(&s.seed, "seed", 1, "`N` decides all that is chance. Default 1")
	set.BoolVar(&s.verbose, "v", false, "print every decision, and not only the story")
	set.StringVar(&s.html, "html", "", "`FILE` write a report with plots to FILE as well")
	return command.Run(set, args, about, stdout, stderr, func(f *command.Faults) {
		f.If(s.hours < 1 || s.hours > maxHours, "invalid value %d for flag -hours: must be 1 to %d", s.hours, maxHours)
		_, err := os.Stat(filepath.Dir(s.html))
		f.If(err != nil, "invalid value %q for flag -html: there is no such directory", s.html)
	}, func() error { return simulate(context.Background(), s, stdout) })
}

// simulate plays the two days and prints the report.
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
	if err := os.WriteFile(s.html, []byte(page), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nThe report with plots is in %s.\n", s.html)
	return nil
}
