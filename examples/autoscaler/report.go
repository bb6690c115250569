package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/internal/twodays"
)

// report is the summary of a run.
type report struct {
	settings
	*simulation
	fake.Stats  // of machines
	from, to    time.Time
	story       []simcluster.Event // the events that the plots show
	cost, least float64            // USD; the least is the sum of the lower bounds
}

func (s *simulation) report(of settings) *report {
	r := &report{settings: of, simulation: s, Stats: s.cluster.Cloud.Stats(), from: twodays.Start, to: s.cluster.Now()}
	for _, e := range twodays.Events() {
		if e.Name != "" && twodays.Start.Add(e.After).Before(r.to) {
			r.story = append(r.story, e)
		}
	}
	for _, v := range s.history.samples {
		r.cost += v.cost * sampleEvery.Hours()
		r.least += v.bound * sampleEvery.Hours()
	}
	return r
}

// above returns how far the cost is above the least, in percent.
func (r *report) above() float64 { return 100 * (r.cost/max(r.least, 1e-9) - 1) }

// total counts the nodes disrupted for a reason.
func (r *report) total(reason disruption.Reason) (nodes int) {
	for _, d := range r.journal.disruptions {
		if d.reason == reason {
			nodes += d.nodes
		}
	}
	return nodes
}

// curves are the curves of the timeline.
var curves = []struct {
	name, format string
	value        func(sample) float64
}{
	{"pods", "%.0f", func(v sample) float64 { return float64(v.pods) }},
	{"pending", "%.0f", func(v sample) float64 { return float64(v.pending) }},
	{"nodes", "%.0f", func(v sample) float64 { return float64(v.spot + v.onDemand) }},
	{"on-demand", "%.0f", func(v sample) float64 { return float64(v.onDemand) }},
	{"USD/h", "%.2f", func(v sample) float64 { return v.cost }},
	{"at least", "%.2f", func(v sample) float64 { return v.bound }},
	{"CPU used", "%.0f%%", sample.cpu},
}

// Measures of the timeline, in columns.
const (
	labelWidth = 18
	chartWidth = 62
)

// text returns the report as text of 80 columns.
func (r *report) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s%s\n", labelWidth, "TIMELINE", r.axis())
	columns := r.columns()
	for _, c := range curves {
		values := make([]float64, len(columns))
		most := 0.0
		for i, column := range columns {
			for _, v := range column {
				values[i] = max(values[i], c.value(v))
			}
			most = max(most, values[i])
		}
		line := fmt.Sprintf("%-11s %5s %s", c.name, fmt.Sprintf(c.format, most), bars(values, most))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString("\nDISRUPTED NODES\n")
	for _, of := range reasons {
		if n := r.total(of.Reason); n > 0 {
			fmt.Fprintf(&b, "%-13.13s %3d %s\n", of.Reason, n, r.counts(of.Reason))
		}
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "Machines   %d launched, %d interrupted, %.0f hours, %.2f USD.\n", r.Launched, r.Interrupted, r.Hours, r.cost)
	fmt.Fprintf(&b, "At least   %.2f USD, if nodes came and went at once and for free; %.0f%% above.\n", r.least, r.above())
	fmt.Fprintf(&b, "Pods       %d started, half %s, 99%% %s; %d pending.\n", len(r.cluster.Waits), within(r.cluster.Quantile(50)), within(r.cluster.Quantile(99)), r.history.waiting)
	fmt.Fprintf(&b, "Moved      %d evicted, to start anew elsewhere; %d lost with their machine.\n", r.cluster.Evicted, r.cluster.Lost)
	fmt.Fprintf(&b, "Decisions  %s, %s refused; consolidation saved %.2f USD/h.\n", command.Count(r.journal.plans, "plan"), command.Count(r.journal.refusals, "launch"), r.journal.savings)
	return b.String()
}

// reasons are the disruption reasons that can occur, in the order of reports, each with an
// explanation.
var reasons = []struct {
	disruption.Reason
	about string
}{
	{disruption.Underutilized, "their pods fit elsewhere for less"},
	{disruption.Empty, "nothing was left on them"},
	{disruption.Drifted, "they ran another image than new nodes do"},
	{disruption.Expired, "they had reached the age that their pool allows"},
	{disruption.Interrupted, "the cloud took them back"},
	{disruption.LaunchTimeout, "the cloud made no machine in time"},
	{disruption.RegistrationTimeout, "the machine did not join in time"},
	{disruption.GarbageCollected, "machine and NodeClaim did not have each other any more"},
}

// columns divides the samples into the columns of the timeline.
func (r *report) columns() [][]sample {
	n := min(chartWidth, len(r.history.samples))
	out := make([][]sample, n)
	for i := range n {
		out[i] = r.history.samples[i*len(r.history.samples)/n : (i+1)*len(r.history.samples)/n]
	}
	return out
}

// axis returns the line of times above the columns.
func (r *report) axis() string {
	width := len(r.columns())
	line := []byte(strings.Repeat(" ", width+9))
	length := r.to.Sub(r.from)
	every := 3 * time.Hour
	for _, wider := range []time.Duration{6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 96 * time.Hour} {
		if int(every*time.Duration(width)/length) < 11 {
			every = wider
		}
	}
	for at := r.from; at.Before(r.to); at = at.Add(every) {
		column := int(at.Sub(r.from) * time.Duration(width) / length)
		if column+9 <= chartWidth+1 {
			copy(line[column:], at.Format("Mon 15:04"))
		}
	}
	return strings.TrimRight(string(line), " ")
}

// bars renders values as a row of blocks; most is the value of a full block.
func bars(values []float64, most float64) string {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		level := 0
		if most > 0 && v > 0 {
			level = 1 + int(v/most*float64(len(blocks)-2)+0.5)
		}
		b.WriteRune(blocks[min(level, len(blocks)-1)])
	}
	return strings.TrimRight(b.String(), " ")
}

// spread returns the number of nodes disrupted for a reason in each of n equal parts of the time.
func (r *report) spread(reason disruption.Reason, n int) []int {
	counts := make([]int, n)
	for _, d := range r.journal.disruptions {
		if d.reason == reason {
			counts[min(n-1, int(d.at.Sub(r.from)*time.Duration(n)/r.to.Sub(r.from)))] += d.nodes
		}
	}
	return counts
}

// counts returns the number of nodes disrupted for a reason, one digit for each column.
func (r *report) counts(reason disruption.Reason) string {
	var b strings.Builder
	for _, n := range r.spread(reason, len(r.columns())) {
		switch {
		case n == 0:
			b.WriteString(".")
		case n <= 9:
			fmt.Fprint(&b, n)
		default:
			b.WriteString("#")
		}
	}
	return b.String()
}

// within describes a wait.
func within(wait time.Duration) string {
	if wait == 0 {
		return "at once"
	}
	return "within " + wait.String()
}
