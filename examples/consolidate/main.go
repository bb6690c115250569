// Command consolidate says which nodes of a cluster to remove or replace, what
// that saves, where the pods go, and why every other node is left alone. The
// cluster is written down in manifests: it needs neither a cloud nor a cluster.
//
//	consolidate                        look at the sample of 60 nodes
//	consolidate -converge              carry proposals out until none is left
//	consolidate -f cluster.yaml        look at a dump, as whatif's README.md makes it
//	consolidate -o json                the same for programs
//
// Instance types and prices are those of the fake cloud unless -instance-types
// names a file of others.
//
// The exit code is 0 when there is an answer; 1 when something broke; 2 when the
// input or the flags are wrong.
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
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/report"
)

// sample is the cluster that is looked at when no file is named.
//
//go:embed sample.yaml
var sample []byte

// sampleNow is when the sample was taken.
const sampleNow = "2026-03-02T12:00:00Z"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// settings is what the command line asks for.
type settings struct {
	files      offline.Files
	output     string // text or json
	now        time.Time
	converge   bool
	all        bool   // list every node that is left alone
	why        string // a node of which to say what keeps its pods from others
	without    string // a node of which to say what if it went
	minSaving  float64
	minScore   float64
	spotToSpot bool
}

// options are the engine's.
func (s *settings) options() *disruption.Options {
	score := s.minScore
	if score == 0 {
		score = -1 // none, where zero is the default
	}
	return &disruption.Options{Provisioning: &provisioning.Options{}, Consolidation: disruption.ConsolidationOptions{MinimumSaving: s.minSaving, MinimumScore: score, NoSpotToSpot: !s.spotToSpot}, Drift: disruption.DriftOptions{TerminateFirst: true}}
}

const usage = `Consolidate says which nodes of a cluster to remove or replace, and why others
stay.

usage: consolidate [flags]

  -f FILE               read manifests from FILE, YAML or JSON, or from standard
                        input if FILE is -; may be repeated. Default: a sample
  -instance-types FILE  take instance types and prices from FILE instead of the
                        fake cloud's catalog
` + place.Usage + offline.PoolsUsage + `  -bill=false           take the prices of instances alone. Otherwise prices
                        include the volumes and the public address of a node
                        where its EC2NodeClass is read
  -now TIME             the instant to decide at, such as 2026-03-02T12:00:00Z.
                        Default: when the sample was taken, or else the present
  -converge             carry the proposals out on paper, one after the other,
                        until none is left, and list the steps
  -min-saving USD       what an action must save at least in an hour, if saving
                        is its only reason. Default 0: anything
  -min-score SCORE      the share of the cost that an action must save over the
                        share of all disruption that it takes. Removing an
                        average node scores 1, replacing it at half its price
                        0.5. Default 0.5; 0 moves pods for any saving
  -spot-to-spot         let spot nodes be replaced by cheaper spot nodes
  -all                  name every node that is left alone
  -why NODE             say which pods of a node that is left alone find no
                        place on others, and what keeps them from there
  -without NODE         say what would become of the pods of a node, and of the
                        cost, if it went now, whatever speaks for leaving it
  -o FORMAT             text or json. Default text
  -h                    print this

Colours are used on a terminal unless NO_COLOR is set.
`

// parseFlags reads the command line. If it is not ok the program is over.
func parseFlags(args []string, stdout, stderr io.Writer) (s settings, code int, ok bool) {
	s.files.Sample = sample
	set := flag.NewFlagSet("consolidate", flag.ContinueOnError)
	s.files.Flags(set)
	set.Func("now", "", func(text string) (err error) {
		if s.now, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("must be a time such as " + sampleNow)
		}
		return nil
	})
	set.BoolVar(&s.converge, "converge", false, "")
	set.BoolVar(&s.all, "all", false, "")
	set.StringVar(&s.why, "why", "", "")
	set.StringVar(&s.without, "without", "", "")
	set.BoolVar(&s.spotToSpot, "spot-to-spot", false, "")
	set.Float64Var(&s.minSaving, "min-saving", 0, "")
	set.Float64Var(&s.minScore, "min-score", disruption.DefaultMinimumScore, "")
	set.StringVar(&s.output, "o", "text", "")
	code, ok = command.Parse(set, args, usage, stdout, stderr, func() []string {
		return slices.Concat(
			command.Arguments(set, "-f"),
			command.OneOf("o", s.output, "text", "json"),
			command.USD("min-saving", s.minSaving),
			scoreFaults(s.minScore),
			s.questionFaults(),
			s.files.Faults(),
		)
	})
	return s, code, ok
}

// questionFaults is what is wrong with questions about nodes.
func (s *settings) questionFaults() []string {
	if s.converge && s.without != "" {
		return []string{"-without asks about the cluster as it is; leave out -converge"}
	}
	return nil
}

// scoreFaults is what is wrong with a score.
func scoreFaults(score float64) []string {
	if score >= 0 && !math.IsInf(score, 0) {
		return nil
	}
	return []string{fmt.Sprintf("invalid value %v for flag -min-score: must be a number, 0 or more", score)}
}

// run is the program. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, code, ok := parseFlags(args, stdout, stderr)
	if !ok {
		return code
	}
	r, code, err := ask(s, stdin, stderr)
	if err != nil {
		return complain(stderr, err, code)
	}
	if err := s.print(stdout, r); err != nil {
		return complain(stderr, err, command.Failed)
	}
	return command.OK
}

// ask reads the input and asks the library. Of an error it says what the exit code is.
func ask(s settings, stdin io.Reader, stderr io.Writer) (*report.Proposal, int, error) {
	world, err := offline.Read(s.files, stdin)
	if err != nil {
		return nil, command.BadInput, err
	}
	for _, line := range world.Remarks() {
		command.Say(stderr, "consolidate: "+line)
	}
	given := !s.now.IsZero() || len(s.files.Manifests) == 0
	if s.now, err = instant(s); err != nil {
		return nil, command.Failed, err
	}
	if age := world.Age(s.now); age != "" && !given {
		command.Say(stderr, "consolidate: "+age)
	}
	for _, line := range world.Cluster.Depart(s.now) {
		command.Say(stderr, "consolidate: "+line)
	}
	in, opts := world.Running(), s.options()
	// What is at fault would be left alone and the rest decided. Here it is a
	// mistake of whoever wrote the file, who wants to know.
	if _, err := disruption.Observe(s.now, in, opts); err != nil {
		return nil, command.BadInput, world.Cluster.Explain(err)
	}
	if _, err := provisioning.Prepare(in.Input, opts.Provisioning); err != nil {
		return nil, command.BadInput, world.Cluster.Explain(err)
	}
	if s.without != "" {
		if err := offline.HasNode(in.Input, s.without); err != nil {
			return nil, command.BadInput, err
		}
	}
	ctx, done := command.Progress(context.Background(), stderr)
	defer done()
	r, err := answer(ctx, s, world, in, opts)
	if refused := (report.NoSuchNode{}); errors.As(err, &refused) {
		return nil, command.BadInput, err
	}
	return r, command.Failed, err
}

// print writes the answer in the format of -o.
func (s *settings) print(stdout io.Writer, r *report.Proposal) error {
	return command.Print(stdout, s.output, r, func(coloured bool) string {
		return r.Format(&report.Options{Color: coloured, All: s.all, Hints: report.Hints{
			LeftAlone: "-all lists every node with all that speaks for leaving it; -why NODE says what keeps its pods from other nodes."}})
	})
}

// complain writes an error as this program's.
func complain(stderr io.Writer, err error, code int) int {
	return command.Complain(stderr, "consolidate", err, code)
}

// instant is when to decide: what the flag says, the instant of the sample, or
// the present.
func instant(s settings) (time.Time, error) {
	switch {
	case !s.now.IsZero():
		return s.now.UTC(), nil
	case len(s.files.Manifests) == 0:
		return time.Parse(time.RFC3339, sampleNow)
	}
	return time.Now().UTC().Truncate(time.Second), nil
}

// answer asks the library, and writes down what it says.
func answer(ctx context.Context, s settings, world *offline.World, in disruption.Input, opts *disruption.Options) (*report.Proposal, error) {
	p, err := disruption.Propose(ctx, s.now, in, opts)
	if err != nil {
		return nil, err
	}
	r := report.NewProposal(s.now, in, p, world.Prices(), opts)
	if s.converge {
		err = r.Converge(ctx)
	} else {
		err = r.Follow(ctx)
	}
	if err == nil && s.without != "" {
		err = r.AddWithout(ctx, s.without)
	}
	if err == nil && s.why != "" {
		err = because(s.why, r.AddWhy(ctx, s.why))
	}
	return r, err
}

// because is what is wrong with -why, if anything is.
func because(node string, err error) error {
	refused := report.NoSuchNode{}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !strings.Contains(err.Error(), "; "):
		return fmt.Errorf("-why %s: %w; name one of those that -all lists", node, err)
	}
	return fmt.Errorf("-why %s: %w", node, err)
}
