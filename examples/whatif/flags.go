package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/comparereport"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// settings is what the command line asks for.
type settings struct {
	files        offline.Files
	output       string // table, json or yaml
	minValues    provisioning.MinValuesPolicy
	preferences  provisioning.PreferencePolicy
	reserved     provisioning.ReservedPolicy
	nodeFee      float64                // USD per hour
	without      []string               // names of nodes to plan the removal of
	explain      string                 // namespace/name of a pod to tell about instead of the plan
	why          string                 // likewise, new node/instance type
	compare      comparereport.Question // asked if it has a file; its instant goes for -advise too
	advise       bool
	questions    int // for -advise; 0 is the default of package advice
	maxOptions   int // per node in json and yaml; 0 is all
	failUnplaced bool
	verify       bool // whatever the plan's size
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
` + place.Usage + `  -min-values POLICY    what to do when a minValues cannot be met: Strict
                        launches nothing, BestEffort lowers it. Default Strict
  -preferences POLICY   Respect weighs soft constraints (preferred affinity,
                        ScheduleAnyway, PreferNoSchedule) against cost, Ignore
                        leaves them to the scheduler. Default Respect
  -reserved POLICY      what nodes that draw on a reservation name beside it:
                        Fallback other capacity, in case it is full, Strict
                        nothing, so that the launch fails. Default Fallback
  -node-fee USD         what a node costs in an hour beside its bill; more makes
                        plans with fewer, larger nodes. Default 0
  -bill                 count what nodes have beside their instance as well: the
                        volumes and the public address of their EC2NodeClass
  -without NODE         plan as if NODE were being removed, its pods to be
                        placed elsewhere; may be repeated
  -explain NAMESPACE/POD
                        instead of the plan, tell where the pod goes and when,
                        or all that keeps it pending; the name of a workload
                        stands for a pod of it, one that is pending if any is
  -why NODE/INSTANCETYPE
                        instead of the plan, tell how the instance type stands
                        with the new NODE of the plan
  -compare FILE         instead of the plan, tell what would change if the
                        NodePools and NodeOverlays of FILE took the place of
                        those of their names: cost, pods, drift, evictions
  -pair OLD=NEW         with -compare, NEW of FILE takes the place of NodePool
                        OLD; OLD= goes, =NEW is added; may be repeated
  -advise               instead of the plan, tell what each constraint costs
                        if all pods were planned for anew
  -questions N          with -advise, ask about N constraints thoroughly, and
                        half as many requests; more takes longer. Default 10
  -now TIME             the instant -compare starts at, such as
                        2026-03-02T12:00:00Z. Default: now
  -o FORMAT             table, json or yaml, and html for -compare and -advise.
                        Default table
  -options N            list at most N ways to launch each node in json and
                        yaml, the cheapest first; 0 lists all, which may be
                        thousands. Default 20
  -fail-unplaced        exit with code 1 if a pod stays pending
  -verify               check the plan by the referee even if it is so large
                        that it takes minutes; smaller plans are always checked
  -h                    print this

Colours are used on a terminal unless NO_COLOR is set.
`

// parseFlags reads the command line. If it is not ok the program is over.
func parseFlags(args []string, stdout, stderr io.Writer) (s settings, code int, ok bool) {
	s = settings{files: offline.Files{Sample: sample}, minValues: provisioning.Strict, preferences: provisioning.Respect, reserved: provisioning.ReservedFallback}
	set := flag.NewFlagSet("whatif", flag.ContinueOnError)
	s.files.Flags(set)
	set.StringVar((*string)(&s.minValues), "min-values", string(s.minValues), "")
	set.StringVar((*string)(&s.preferences), "preferences", string(s.preferences), "")
	set.StringVar((*string)(&s.reserved), "reserved", string(s.reserved), "")
	set.Float64Var(&s.nodeFee, "node-fee", 0, "")
	command.List(set, "without", &s.without, "the name of the node is empty")
	set.StringVar(&s.explain, "explain", "", "")
	set.StringVar(&s.why, "why", "", "")
	set.StringVar(&s.compare.File, "compare", "", "")
	command.List(set, "pair", &s.compare.Pairs, "the names of the NodePools are empty")
	set.Func("now", "", func(text string) (err error) {
		if s.compare.Now, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("must be a time such as 2026-03-02T12:00:00Z")
		}
		return nil
	})
	set.BoolVar(&s.advise, "advise", false, "")
	set.IntVar(&s.questions, "questions", 0, "")
	set.StringVar(&s.output, "o", "table", "")
	set.IntVar(&s.maxOptions, "options", 20, "")
	set.BoolVar(&s.failUnplaced, "fail-unplaced", false, "")
	set.BoolVar(&s.verify, "verify", false, "")
	code, ok = command.Parse(set, args, usage, stdout, stderr, func() []string {
		return append(command.Arguments(set, "-f"), s.faults()...)
	})
	return s, code, ok
}

// faults lists what is wrong with flags that could be parsed.
func (s *settings) faults() []string {
	return slices.Concat(
		s.formatFaults(),
		command.OneOf("min-values", s.minValues, provisioning.Strict, provisioning.BestEffort),
		command.OneOf("preferences", s.preferences, provisioning.Respect, provisioning.Ignore),
		command.OneOf("reserved", s.reserved, provisioning.ReservedFallback, provisioning.ReservedStrict),
		command.USD("node-fee", s.nodeFee),
		s.questionFaults(),
		command.NotNegative("options", s.maxOptions),
		s.files.Faults(),
	)
}

// formatFaults lists what is wrong with -o. A page is there for the answers with pictures.
func (s *settings) formatFaults() []string {
	if s.compare.File != "" || s.advise {
		return command.OneOf("o", s.output, "table", "json", "yaml", "html")
	}
	if s.output == "html" {
		return []string{"-o html is a page for -compare or -advise; give one of them, or another format"}
	}
	return command.OneOf("o", s.output, "table", "json", "yaml")
}

// questionFaults lists what is wrong with the flags that ask about one thing.
func (s *settings) questionFaults() []string {
	var faults []string
	if strings.Contains(s.explain, "/") { // without one, a namespace is suggested once pods are known
		faults = command.Pair("explain", s.explain, "NAMESPACE/POD")
	}
	faults = append(faults, command.Pair("why", s.why, "NODE/INSTANCETYPE")...)
	var asked []string
	for _, q := range []struct {
		flag string
		set  bool
	}{{"-explain", s.explain != ""}, {"-why", s.why != ""}, {"-compare", s.compare.File != ""}, {"-advise", s.advise}} {
		if q.set {
			asked = append(asked, q.flag)
		}
	}
	if len(asked) > 1 {
		faults = append(faults, strings.Join(asked, " and ")+" are several questions; ask one at a time")
	}
	if (s.compare.File != "" || s.advise) && len(s.without) > 0 {
		faults = append(faults, "-compare and -advise look at the whole cluster; leave out -without")
	}
	faults = append(faults, command.NotNegative("questions", s.questions)...)
	if s.questions > 0 && !s.advise {
		faults = append(faults, "-questions says how much -advise asks; give -advise too")
	}
	if s.compare.File == "-" && slices.Contains(s.files.Manifests, "-") {
		faults = append(faults, `invalid value "-" for flag -compare: standard input holds the manifests already`)
	}
	faults = append(faults, s.compare.Faults()...)
	if (s.explain != "" || s.why != "") && (s.output == "json" || s.output == "yaml") {
		faults = append(faults, fmt.Sprintf("-explain and -why answer in text; leave out -o %s", s.output))
	}
	return faults
}
