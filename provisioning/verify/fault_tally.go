package verify

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// faultTally gathers what is wrong with a list of options for pods that ask
// for so much in sum. A node may have thousands of options that all fail alike,
// so of each kind of fault it keeps the first option and counts the others; and
// nodes that are alike but for the names of their pods share it.
type faultTally struct {
	brief    *labelQuestion
	requests resources.List
	option   int // index of the option being judged
	faults   map[faultKey]*faultCount
}

// faultKey is a kind of fault: subject tells apart those of one rule, such
// as the resource that is short.
type faultKey struct {
	rule      Rule
	selection *nodefit.Selection // of the pods concerned, if not all are
	subject   string
}

type faultCount struct {
	message string
	options int
	last    int // index of the option counted last
}

// tally judges each option of a new node.
func (r *referee) tally(f *newNode, brief *labelQuestion) *faultTally {
	key := f.requests.String()
	if known := f.survey.tallies[key]; known != nil {
		return known
	}
	t := &faultTally{brief: brief, requests: f.requests, faults: map[faultKey]*faultCount{}}
	for i, option := range f.Options {
		t.option = i
		r.judgeOption(t, option)
	}
	t.brief = nil // large, and not needed to report
	if f.survey.tallies == nil {
		f.survey.tallies = map[string]*faultTally{}
	}
	f.survey.tallies[key] = t
	return t
}

// add notes a fault of the option being judged. An option counts once however
// many of its landings fail. The message is made for the first option only.
func (t *faultTally) add(fault faultKey, message func() string) {
	count := t.faults[fault]
	if count == nil {
		t.faults[fault] = &faultCount{message: message(), options: 1, last: t.option}
		return
	}
	if count.last != t.option {
		count.options++
		count.last = t.option
	}
}

// reportTally reports faults for a node. Those of a selection are put down to
// the first pod that has it.
func (r *referee) reportTally(f *newNode, t *faultTally) {
	for fault, count := range t.faults {
		message := count.message
		if count.options > 1 {
			message += fmt.Sprintf(" (so do %d of its options in all)", count.options)
		}
		pod := ""
		for _, p := range f.kinds {
			if p.selection == fault.selection {
				pod = p.key.String()
			}
		}
		r.report(fault.rule, f.Name, pod, "%s", message)
	}
}
