package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// settings is what the command line asks for.
type settings struct {
	files         []string // "-" is standard input; none is the sample
	instanceTypes string   // a file name; empty is the fake cloud's catalog
	output        string   // text or json
	now           time.Time
	converge      bool
	all           bool // list every node that is left alone
	minSaving     float64
	spotToSpot    bool
}

// options are the engine's.
func (s *settings) options() *disruption.Options {
	return &disruption.Options{Provisioning: &provisioning.Options{}, MinimumSaving: s.minSaving, NoSpotToSpot: !s.spotToSpot,
		TerminateFirstDrift: true}
}

const usage = `Consolidate says which nodes of a cluster to remove or replace, and why others stay.

usage: consolidate [flags]

  -f FILE               read manifests from FILE, YAML or JSON, or from standard
                        input if FILE is -; may be repeated. Default: a sample
  -instance-types FILE  take instance types and prices from FILE instead of the
                        fake cloud's catalog
  -now TIME             the instant to decide at, such as 2026-03-02T12:00:00Z.
                        Default: when the sample was taken, or else the present
  -converge             carry the proposals out on paper, one after the other,
                        until none is left, and list the steps
  -min-saving USD       what an action must save at least in an hour, if saving
                        is its only reason. Default 0: anything
  -spot-to-spot         let spot nodes be replaced by cheaper spot nodes
  -all                  name every node that is left alone
  -o FORMAT             text or json. Default text
  -h                    print this

Colours are used on a terminal unless NO_COLOR is set.
`

// errUsage tells that the command line is wrong, or asks for help.
var errUsage = errors.New("usage")

// parseFlags reads the command line. What it has to say to the user it writes
// to out.
func parseFlags(args []string, out io.Writer) (settings, error) {
	s := settings{}
	set := flag.NewFlagSet("consolidate", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("f", "", func(name string) error {
		if name == "" {
			return errors.New("the file name is empty")
		}
		s.files = append(s.files, name)
		return nil
	})
	set.StringVar(&s.instanceTypes, "instance-types", "", "")
	set.Func("now", "", func(text string) (err error) {
		if s.now, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("must be a time such as " + sampleNow)
		}
		return nil
	})
	set.BoolVar(&s.converge, "converge", false, "")
	set.BoolVar(&s.all, "all", false, "")
	set.BoolVar(&s.spotToSpot, "spot-to-spot", false, "")
	set.Float64Var(&s.minSaving, "min-saving", 0, "")
	set.StringVar(&s.output, "o", "text", "")

	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return s, flag.ErrHelp
	}
	var faults []string
	if err != nil {
		faults = append(faults, err.Error())
	} else {
		faults = s.faults(set.Args())
	}
	if len(faults) == 0 {
		return s, nil
	}
	for _, f := range faults {
		fmt.Fprintln(out, "consolidate: "+f)
	}
	fmt.Fprint(out, "\n"+usage)
	return s, errUsage
}

// faults lists what is wrong with flags that could be parsed.
func (s *settings) faults(rest []string) []string {
	var faults []string
	if len(rest) > 0 {
		faults = append(faults, fmt.Sprintf("unexpected argument %q; files are named with -f", strings.Join(rest, " ")))
	}
	if s.output != "text" && s.output != "json" {
		faults = append(faults, fmt.Sprintf("invalid value %q for flag -o: must be text or json", s.output))
	}
	if !(s.minSaving >= 0) || math.IsInf(s.minSaving, 0) {
		faults = append(faults, fmt.Sprintf("invalid value %v for flag -min-saving: must be an amount of USD per hour, or 0", s.minSaving))
	}
	seen := map[string]bool{}
	for _, name := range s.files {
		if seen[name] {
			faults = append(faults, fmt.Sprintf("invalid value %q for flag -f: it is given twice", name))
		}
		seen[name] = true
	}
	if s.instanceTypes == "-" && seen["-"] {
		faults = append(faults, `invalid value "-" for flag -instance-types: standard input holds the manifests already`)
	}
	return faults
}
