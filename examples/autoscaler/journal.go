package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// entryKind is the subject of an entry of the journal.
type entryKind int

const (
	story   entryKind = iota // something happens to the cluster or the cloud
	trouble                  // something went wrong, and how it ended
	status                   // the state of the cluster
	detail                   // an action of the autoscaler
)

// entry is a line of the journal.
type entry struct {
	at   time.Time
	kind entryKind
	text string
}

// disrupted is a set of nodes that were disrupted together.
type disrupted struct {
	at     time.Time
	reason disruption.Reason
	nodes  int
}

// journal records what happened. It prints each entry at once.
type journal struct {
	out     io.Writer
	verbose bool // print details too
	now     func() time.Time
	entries []entry

	disruptions []disrupted
	plans       int
	nodes       int // number of nodes launched
	refusals    int
	short       int // launches refused for lack of capacity in this turn of the loop
	offerings   []cloudprovider.OfferingKey
	savings     float64 // USD per hour, sum over all consolidations
}

func (j *journal) add(kind entryKind, format string, args ...any) {
	e := entry{j.now(), kind, fmt.Sprintf(format, args...)}
	// What keeps going wrong is said once.
	if kind == trouble {
		for _, earlier := range j.entries[max(0, len(j.entries)-20):] {
			if earlier.text == e.text && e.at.Sub(earlier.at) < time.Hour {
				return
			}
		}
	}
	j.entries = append(j.entries, e)
	if kind == detail && !j.verbose {
		return
	}
	j.print(e)
}

// print writes an entry in lines of at most 80 columns.
func (j *journal) print(e entry) {
	const indent = 11
	stamp := e.at.Format("Mon 15:04")
	if j.verbose {
		stamp = e.at.Format("15:04:05")
	}
	mark := map[entryKind]string{story: "*", trouble: "!", status: " ", detail: " "}[e.kind]
	head := fmt.Sprintf("%-9s %s", stamp, mark)
	for _, line := range command.Wrap(strings.Join(strings.Fields(e.text), " "), command.PageWidth-indent-1, "  ") {
		fmt.Fprintln(j.out, strings.TrimRight(head+" "+line, " "))
		head = strings.Repeat(" ", indent)
	}
}

// Trouble records something that went wrong.
func (j *journal) Trouble(format string, args ...any) { j.add(trouble, format, args...) }

// Detail records an action of the autoscaler.
func (j *journal) Detail(format string, args ...any) { j.add(detail, format, args...) }

// Planned records a plan.
func (j *journal) Planned(plan *provisioning.Plan) {
	fresh, there := 0, 0
	for i := range plan.Create {
		fresh += len(plan.Create[i].Pods)
	}
	for _, b := range plan.Bind {
		there += len(b.Pods)
	}
	j.plans++
	text := fmt.Sprintf("plan: %s for %s at %.3f USD/h", command.Count(len(plan.Create), "new node"), command.Count(fresh, "pod"), plan.Cost)
	if there > 0 {
		text += fmt.Sprintf(", %s to nodes there are or come", command.Count(there, "pod"))
	}
	j.add(detail, "%s", text)
}

// Launched records a launch.
func (j *journal) Launched(claim *v1.NodeClaim, i *cloudprovider.Instance) {
	j.nodes++
	j.add(detail, "launched %s: %s at %.4f USD/h", claim.Name, i.OfferingKey(), i.Price)
}

// Refused records a failed launch. Shortages are summed up by EndLaunches.
func (j *journal) Refused(claim *v1.NodeClaim, err error) {
	j.refusals++
	if !errors.Is(err, cloudprovider.ErrInsufficientCapacity) {
		text := err.Error()
		if !strings.Contains(text, claim.Name) { // a provider's errors name it, as a rule
			text = "launch of " + claim.Name + ": " + text
		}
		j.add(trouble, "%s", text)
		return
	}
	j.short++
	if refusal, ok := errors.AsType[*cloudprovider.Error](err); ok {
		j.offerings = append(j.offerings, refusal.Offerings...)
	}
}

// EndLaunches records which offerings the cloud lacked in this turn of the loop.
func (j *journal) EndLaunches() {
	if j.short == 0 {
		return
	}
	text := command.Count(j.short, "launch") + " refused for want of capacity"
	if n := len(j.offerings); n > 0 {
		text += fmt.Sprintf(": %s, such as %s", command.Count(n, "offering"), j.offerings[0])
	}
	j.add(trouble, "%s", text)
	j.short, j.offerings = 0, nil
}

// Disrupted records an action that begins.
func (j *journal) Disrupted(a disruption.Action) {
	j.disruptions = append(j.disruptions, disrupted{j.now(), a.Reason, len(a.Targets)})
	if a.Reason == disruption.Underutilized {
		j.savings += a.Savings
	}
	kind := detail
	if !disruption.Voluntary(a.Reason) {
		kind = trouble
	}
	j.add(kind, "%s", a)
}
