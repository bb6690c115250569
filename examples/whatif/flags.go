package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// settings is what the command line asks for.
type settings struct {
	files         []string // "-" is standard input; none is the sample
	instanceTypes string   // a file name; empty is the fake cloud's catalog
	output        string   // table, json or yaml
	minValues     provisioning.MinValuesPolicy
	maxOptions    int // per node in json and yaml; 0 is all
	failUnplaced  bool
	verify        bool // whatever the plan's size
}

const usage = `Whatif plans nodes for the pods of a cluster that is written down in manifests.

usage: whatif [flags]

  -f FILE               read manifests from FILE, YAML or JSON, or from standard
                        input if FILE is -; may be repeated. Default: a sample
  -instance-types FILE  take the instance types from FILE instead of the fake
                        cloud's catalog
  -min-values POLICY    what to do when a minValues cannot be met: Strict
                        launches nothing, BestEffort lowers it. Default Strict
  -o FORMAT             table, json or yaml. Default table
  -options N            list at most N ways to launch each node in json and
                        yaml, the cheapest first; 0 lists all, which may be
                        thousands. Default 20
  -fail-unplaced        exit with code 1 if a pod stays pending
  -verify               check the plan by the referee even if it is so large that
                        it takes minutes; smaller plans are always checked
  -h                    print this

Colours are used on a terminal unless NO_COLOR is set.
`

// errUsage tells that the command line is wrong, or asks for help.
var errUsage = errors.New("usage")

// parseFlags reads the command line. What it has to say to the user it writes
// to out.
func parseFlags(args []string, out io.Writer) (settings, error) {
	s := settings{}
	minValues := string(provisioning.Strict)
	set := flag.NewFlagSet("whatif", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("f", "", func(name string) error {
		if name == "" {
			return errors.New("the file name is empty")
		}
		s.files = append(s.files, name)
		return nil
	})
	set.StringVar(&s.instanceTypes, "instance-types", "", "")
	set.StringVar(&minValues, "min-values", minValues, "")
	set.StringVar(&s.output, "o", "table", "")
	set.IntVar(&s.maxOptions, "options", 20, "")
	set.BoolVar(&s.failUnplaced, "fail-unplaced", false, "")
	set.BoolVar(&s.verify, "verify", false, "")

	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return s, flag.ErrHelp
	}
	s.minValues = provisioning.MinValuesPolicy(minValues)
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
		fmt.Fprintln(out, "whatif: "+f)
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
	switch s.output {
	case "table", "json", "yaml":
	default:
		faults = append(faults, fmt.Sprintf("invalid value %q for flag -o: must be table, json or yaml", s.output))
	}
	switch s.minValues {
	case provisioning.Strict, provisioning.BestEffort:
	default:
		faults = append(faults, fmt.Sprintf("invalid value %q for flag -min-values: must be %s or %s",
			s.minValues, provisioning.Strict, provisioning.BestEffort))
	}
	if s.maxOptions < 0 {
		faults = append(faults, fmt.Sprintf("invalid value %d for flag -options: must not be negative", s.maxOptions))
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
