// Command consolidate says which nodes of a cluster to remove or replace, what that saves, where
// the pods go, and why every other node is left alone. The cluster is read from manifests, so the
// program needs neither a cloud nor a cluster. README.md has commands to begin with and the exit
// codes, reference.md how to read the output.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/report"
)

// sample is the cluster that is read if no file is named.
//
//go:embed sample.yaml
var sample []byte

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type settings struct {
	files      offline.Files
	output     string // text or json
	converge   bool
	all        bool   // list every node that is left alone
	why        string // node whose pods are to be explained: why they cannot go to other nodes
	without    string // node to plan without
	minSaving  float64
	minScore   float64
	spotToSpot bool
}

func (s *settings) options() *disruption.Options {
	score := s.minScore
	if score == 0 {
		score = -1 // none, where zero is the default
	}
	return &disruption.Options{Provisioning: &provisioning.Options{}, Consolidation: disruption.ConsolidationOptions{MinimumSaving: s.minSaving, MinimumScore: score, NoSpotToSpot: !s.spotToSpot}, Drift: disruption.DriftOptions{TerminateFirst: true}}
}

const about = `Consolidate says which nodes of a cluster to remove or replace, and why others stay.

Colours are used on a terminal unless NO_COLOR is set.`

// newSettings returns the defaults of the flags, and the flags that change them.
func newSettings() (*settings, *flag.FlagSet) {
	s, set := &settings{files: offline.Files{Sample: sample}}, flag.NewFlagSet("consolidate", flag.ContinueOnError)
	s.files.Flags(set)
	set.BoolVar(&s.converge, "converge", false, "carry the proposals out on paper, one after the other, until none is left, and list the steps")
	set.BoolVar(&s.all, "all", false, "name every node that is left alone")
	set.StringVar(&s.why, "why", "", "`NODE` say which pods of a node that is left alone find no place on others, and what keeps them from there")
	set.StringVar(&s.without, "without", "", "`NODE` say what would become of the pods of a node, and of the cost, if it went now, whatever speaks for leaving it")
	set.BoolVar(&s.spotToSpot, "spot-to-spot", false, "let spot nodes be replaced by cheaper spot nodes")
	set.Float64Var(&s.minSaving, "min-saving", 0, "`USD` what an action must save at least in an hour, if saving is its only reason. Default 0: anything")
	set.Float64Var(&s.minScore, "min-score", disruption.DefaultMinimumScore, "`SCORE` the share of the cost that an action must save over the share of all disruption that it takes. Removing an average node scores 1, replacing it at half its price 0.5. Default 0.25; 0 moves pods for any saving")
	set.StringVar(&s.output, "o", "text", "`FORMAT` text or json. Default text")
	return s, set
}

func (s *settings) check(f *command.Faults) {
	command.OneOf(f, "o", s.output, "text", "json")
	f.USD("min-saving", s.minSaving)
	f.If(!(s.minScore >= 0) || math.IsInf(s.minScore, 0), "invalid value %v for flag -min-score: must be a number, 0 or more", s.minScore)
	f.If(s.converge && s.without != "", "-without asks about the cluster as it is; leave out -converge")
	s.files.Check(f)
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, set := newSettings()
	return command.Run(set, args, about, stdout, stderr, s.check, func() error {
		r, err := s.ask(stdin, stderr)
		if err != nil {
			return err
		}
		return s.print(stdout, r)
	})
}

func (s *settings) print(stdout io.Writer, r *report.Proposal) error {
	return command.Print(stdout, s.output, r, func(coloured bool) string {
		return r.Format(&report.Options{Color: coloured, All: s.all, Hints: report.Hints{
			LeftAlone: "-all lists every node with all that speaks for leaving it; -why NODE says what keeps its pods from other nodes."}})
	})
}

// ask reads the input and makes the proposal.
func (s *settings) ask(stdin io.Reader, stderr io.Writer) (*report.Proposal, error) {
	world, err := offline.Open("consolidate", s.files, stdin, stderr)
	if err != nil {
		return nil, command.Input(err)
	}
	world.Say("consolidate", stderr, world.Age())
	in, opts := world.Running(), s.options()
	// What is at fault would be left alone and the rest decided. Here it is a mistake in a file
	// that a person wrote, so report it.
	if _, err := disruption.Observe(world.Now, in, opts); err != nil {
		return nil, command.Input(world.Cluster.Explain(err))
	}
	if _, err := provisioning.Prepare(in.Input, opts.Provisioning); err != nil {
		return nil, command.Input(world.Cluster.Explain(err))
	}
	if s.without != "" {
		if err := offline.HasNode(in.Input, s.without); err != nil {
			return nil, command.Input(err)
		}
	}
	ctx, done := command.Progress(context.Background(), stderr)
	defer done()
	r, err := s.answer(ctx, world, in, opts)
	if refused := (report.NoSuchNode{}); errors.As(err, &refused) {
		return nil, command.Input(err)
	}
	return r, err
}

// answer makes the proposal and its report.
func (s *settings) answer(ctx context.Context, world *offline.World, in disruption.Input, opts *disruption.Options) (*report.Proposal, error) {
	p, _, err := disruption.Propose(ctx, world.Now, in, opts) // ask refused an input with faults
	if err != nil {
		return nil, err
	}
	r := report.NewProposal(world.Now, in, p, world.Prices(), opts)
	if s.converge {
		err = r.Converge(ctx)
	} else {
		err = r.Follow(ctx)
	}
	if err == nil && s.without != "" {
		err = r.AddWithout(ctx, s.without)
	}
	if err != nil || s.why == "" {
		return r, err
	}
	if err = r.AddWhy(ctx, s.why); err != nil {
		remedy := ""
		if refused := (report.NoSuchNode{}); errors.As(err, &refused) && !strings.Contains(err.Error(), "; ") {
			remedy = "; name one of those that -all lists"
		}
		err = fmt.Errorf("-why %s: %w%s", s.why, err, remedy)
	}
	return r, err
}
