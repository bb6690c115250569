package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// settings is what the command line asks for.
type settings struct {
	files         []string // "-" is standard input; none is the sample
	instanceTypes string   // a file name; empty is the fake cloud's catalog
	output        string   // table, json or yaml
	minValues     provisioning.MinValuesPolicy
	preferences   provisioning.PreferencePolicy
	reserved      provisioning.ReservedPolicy
	nodeFee       float64  // USD per hour
	without       []string // names of nodes to plan the removal of
	explain       string   // namespace/name of a pod to tell about instead of the plan
	why           string   // likewise, new node/instance type
	maxOptions    int      // per node in json and yaml; 0 is all
	failUnplaced  bool
	verify        bool // whatever the plan's size
}

// options are the engine's.
func (s *settings) options() *provisioning.Options {
	return &provisioning.Options{MinValues: s.minValues, Preferences: s.preferences, Reserved: s.reserved, NodeFee: s.nodeFee}
}

const usage = `Whatif plans nodes for the pods of a cluster that is written down in manifests.

usage: whatif [flags]

  -f FILE               read manifests from FILE, YAML or JSON, or from standard
                        input if FILE is -; may be repeated. Default: a sample
  -instance-types FILE  take the instance types from FILE instead of the fake
                        cloud's catalog
  -min-values POLICY    what to do when a minValues cannot be met: Strict
                        launches nothing, BestEffort lowers it. Default Strict
  -preferences POLICY   Respect weighs soft constraints (preferred affinity,
                        ScheduleAnyway, PreferNoSchedule) against cost, Ignore
                        leaves them to the scheduler. Default Respect
  -reserved POLICY      what nodes that draw on a reservation name beside it:
                        Fallback other capacity, in case it is full, Strict
                        nothing, so that the launch fails. Default Fallback
  -node-fee USD         what a node costs in an hour beside its bill; more makes
                        plans with fewer, larger nodes. Default 0
  -without NODE         plan as if NODE were being removed, its pods to be
                        placed elsewhere; may be repeated
  -explain NAMESPACE/POD
                        instead of the plan, tell where the pod goes and when,
                        or all that keeps it pending
  -why NODE/INSTANCETYPE
                        instead of the plan, tell how the instance type stands
                        with the new NODE of the plan
  -o FORMAT             table, json or yaml. Default table
  -options N            list at most N ways to launch each node in json and
                        yaml, the cheapest first; 0 lists all, which may be
                        thousands. Default 20
  -fail-unplaced        exit with code 1 if a pod stays pending
  -verify               check the plan by the referee even if it is so large
                        that it takes minutes; smaller plans are always checked
  -h                    print this

Colours are used on a terminal unless NO_COLOR is set.
`

// errUsage tells that the command line is wrong, or asks for help.
var errUsage = errors.New("usage")

// parseFlags reads the command line. What it has to say to the user it writes
// to out.
func parseFlags(args []string, out io.Writer) (settings, error) {
	s := settings{}
	minValues, preferences, reserved := string(provisioning.Strict), string(provisioning.Respect), string(provisioning.ReservedFallback)
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
	set.StringVar(&preferences, "preferences", preferences, "")
	set.StringVar(&reserved, "reserved", reserved, "")
	set.Float64Var(&s.nodeFee, "node-fee", 0, "")
	set.Func("without", "", func(name string) error {
		if name == "" {
			return errors.New("the name of the node is empty")
		}
		s.without = append(s.without, name)
		return nil
	})
	set.StringVar(&s.explain, "explain", "", "")
	set.StringVar(&s.why, "why", "", "")
	set.StringVar(&s.output, "o", "table", "")
	set.IntVar(&s.maxOptions, "options", 20, "")
	set.BoolVar(&s.failUnplaced, "fail-unplaced", false, "")
	set.BoolVar(&s.verify, "verify", false, "")

	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return s, flag.ErrHelp
	}
	s.minValues = provisioning.MinValuesPolicy(minValues)
	s.preferences = provisioning.PreferencePolicy(preferences)
	s.reserved = provisioning.ReservedPolicy(reserved)
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
	faults = append(faults, oneOf("o", s.output, "table", "json", "yaml")...)
	faults = append(faults, oneOf("min-values", s.minValues, provisioning.Strict, provisioning.BestEffort)...)
	faults = append(faults, oneOf("preferences", s.preferences, provisioning.Respect, provisioning.Ignore)...)
	faults = append(faults, oneOf("reserved", s.reserved, provisioning.ReservedFallback, provisioning.ReservedStrict)...)
	if !(s.nodeFee >= 0) || math.IsInf(s.nodeFee, 0) {
		faults = append(faults, fmt.Sprintf("invalid value %v for flag -node-fee: must be an amount of USD per hour, or 0", s.nodeFee))
	}
	faults = append(faults, s.questionFaults()...)
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

// questionFaults lists what is wrong with the flags that ask about one thing.
func (s *settings) questionFaults() []string {
	var faults []string
	if s.explain != "" && !isPair(s.explain) {
		faults = append(faults, fmt.Sprintf("invalid value %q for flag -explain: must be NAMESPACE/POD", s.explain))
	}
	if s.why != "" && !isPair(s.why) {
		faults = append(faults, fmt.Sprintf("invalid value %q for flag -why: must be NODE/INSTANCETYPE", s.why))
	}
	if s.explain != "" && s.why != "" {
		faults = append(faults, "-explain and -why are two questions; ask one at a time")
	}
	if (s.explain != "" || s.why != "") && (s.output == "json" || s.output == "yaml") {
		faults = append(faults, fmt.Sprintf("-explain and -why answer in text; leave out -o %s", s.output))
	}
	return faults
}

// isPair tells whether a text is two names with a slash between.
func isPair(text string) bool {
	before, after, found := strings.Cut(text, "/")
	return found && before != "" && after != "" && !strings.Contains(after, "/")
}

// oneOf is the fault of a flag that is none of the words allowed.
func oneOf[T ~string](flag string, value T, allowed ...T) []string {
	if slices.Contains(allowed, value) {
		return nil
	}
	text := string(allowed[0])
	for i, word := range allowed[1:] {
		if i == len(allowed)-2 {
			text += " or " + string(word)
		} else {
			text += ", " + string(word)
		}
	}
	return []string{fmt.Sprintf("invalid value %q for flag -%s: must be %s", string(value), flag, text)}
}
