// Command budgetcal prints how many nodes the disruption budgets of a NodePool let go, hour by hour,
// as a table or a page. README.md has commands to begin with and the exit codes.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // budgets may be in any time zone

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/examples/internal/page"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

//go:embed sample.yaml
var sample []byte

type settings struct {
	files    []string // "-" is standard input; empty for the sample
	pool     string   // name of the NodePool; empty for the only one
	reasons  []budgets.Reason
	calendar page.Calendar
	output   string // table or html
}

// parseOpening reads a window, such as "0 22 * * mon-fri for 6h".
func parseOpening(text string) (budgets.Opening, error) {
	const form = `must be a schedule and how long, such as "0 22 * * mon-fri for 6h"`
	schedule, length, found := strings.Cut(text, " for ")
	if !found {
		return budgets.Opening{}, errors.New(form)
	}
	d, err := time.ParseDuration(strings.TrimSpace(length))
	if err != nil || d <= 0 || d%time.Minute != 0 {
		return budgets.Opening{}, fmt.Errorf("%s: %q is no number of whole minutes above 0", form, length)
	}
	if _, err := budgets.ParseSchedule(schedule); err != nil {
		return budgets.Opening{}, err
	}
	return budgets.Opening{Schedule: schedule, Duration: d}, nil
}

const (
	defaultFrom = "2026-03-02" // a Monday
	maxDays     = 35
)

const about = "Budgetcal prints how many nodes the disruption budgets of a NodePool let go."

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s settings
	var from, zone string
	set := flag.NewFlagSet("budgetcal", flag.ContinueOnError)
	command.Files(set, &s.files, "the NodePool")
	set.Func("reason", "`REASON` Drifted, Empty, Underutilized, Unhealthy or Expired; may be repeated. Default: all but Expired", func(text string) error {
		known := append(v1.DisruptionReasons(), budgets.Expired)
		if r := budgets.Reason(text); !slices.Contains(known, r) {
			return errors.New("must be Drifted, Empty, Underutilized, Unhealthy or Expired")
		} else if !slices.Contains(s.reasons, r) {
			s.reasons = append(s.reasons, r)
		}
		return nil
	})
	set.Func("only", "`WINDOW` let nodes go in this window alone, as budgets.Policy does, such as \"0 22 * * mon-fri for 6h\"; may be repeated", func(text string) error {
		opening, err := parseOpening(text)
		s.calendar.Only = append(s.calendar.Only, opening)
		return err
	})
	set.StringVar(&s.pool, "pool", "", "`NAME` which NodePool, if there are several")
	set.IntVar(&s.calendar.Nodes, "nodes", 20, "`N` how many nodes the pool has. Default 20")
	set.StringVar(&from, "from", defaultFrom, "`DATE` first day, such as 2026-03-02, which is the default")
	set.IntVar(&s.calendar.Days, "days", 7, "`N` number of days, 1 to 35. Default 7")
	set.StringVar(&zone, "tz", "UTC", "`ZONE` time zone of days and hours. Default UTC. It does not change when schedules hit: they name their own")
	set.StringVar(&s.output, "o", "table", "`FORMAT` table, or html for a page with a picture of each week. Default table")
	return command.Run(set, args, about, stdout, stderr, func(f *command.Faults) { s.resolve(f, from, zone) }, func() error {
		text, err := s.text(stdin)
		if err == nil {
			_, err = io.WriteString(stdout, text)
		}
		return err
	})
}

// resolve completes settings that could be parsed, and lists their faults.
func (s *settings) resolve(f *command.Faults, from, zone string) {
	f.Twice(s.files)
	command.NotNegative(f, "nodes", s.calendar.Nodes)
	f.If(s.calendar.Days < 1 || s.calendar.Days > maxDays, "invalid value %d for flag -days: must be 1 to %d", s.calendar.Days, maxDays)
	command.OneOf(f, "o", s.output, "table", "html")
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "Local" {
		f.If(true, "invalid value %q for flag -tz: must be a zone such as Europe/Berlin", zone)
		loc = time.UTC
	}
	s.calendar.Zone = loc
	s.calendar.From, err = time.ParseInLocation(time.DateOnly, from, loc)
	f.If(err != nil || s.calendar.From.Year() < 1, "invalid value %q for flag -from: must be a date such as %s", from, defaultFrom)
	if len(s.reasons) == 0 {
		s.reasons = v1.DisruptionReasons()
	}
}

// text returns the calendar in the format of -o.
func (s *settings) text(stdin io.Reader) (string, error) {
	cal := &s.calendar
	var err error
	if cal.Pool, err = s.readPool(stdin); err != nil {
		return "", command.Input(err)
	}
	if err := cal.Ask(s.reasons); err != nil {
		return "", command.Input(err)
	}
	if s.output == "html" {
		return cal.Page().HTML()
	}
	return cal.Table(), nil
}

// readPool reads the manifests and returns the selected NodePool.
func (s *settings) readPool(stdin io.Reader) (*v1.NodePool, error) {
	cluster, err := manifest.ReadFiles(manifest.Rules{}, s.files, stdin, sample)
	if err != nil {
		return nil, err
	}
	pool, err := command.Choose(v1.NodePoolKind, "pool", s.pool, cluster.NodePools)
	if err != nil {
		return nil, fmt.Errorf("the input %w", err)
	}
	return pool, nil
}
