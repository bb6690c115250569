package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
)

// optionFaults collects the faults of a new node's options. Thousands of options may have the same
// fault, so it keeps the first of each kind and counts the others.
type optionFaults struct {
	question *question
	requests resources.List // of the pods of the node
	index    int            // of the option being checked
	found    map[faultKey]*faultCount
}

// faultKey identifies a kind of fault. subject distinguishes faults of one rule, for example by the
// resource that is short.
type faultKey struct {
	rule      Rule
	selection *nodefit.Selection // of the pods concerned, nil if all are
	subject   string
}

type faultCount struct {
	message       string
	options, last int // how many options have the fault, and the index of the last of them
}

// add records a fault of the option being checked. The message is rendered for the first option
// only.
func (t *optionFaults) add(fault faultKey, format string, args ...any) {
	count := t.found[fault]
	if count == nil {
		t.found[fault] = &faultCount{message: fmt.Sprintf(format, args...), options: 1, last: t.index}
	} else if count.last != t.index {
		count.options, count.last = count.options+1, t.index
	}
}

// judgeOptions checks each option of a new node separately.
func (r *referee) judgeOptions(f *newNode, q *question) {
	t := &optionFaults{question: q, requests: f.requests, found: map[faultKey]*faultCount{}}
	for i, option := range f.Options {
		t.index = i
		r.judgeOption(t, option)
	}
	for fault, count := range t.found {
		message, pod := count.message, ""
		if count.options > 1 {
			message += fmt.Sprintf(" (so do %d of its options in all)", count.options)
		}
		if at := slices.IndexFunc(f.pods, func(p *podInfo) bool { return p.selection == fault.selection }); at >= 0 {
			pod = f.pods[at].key.String()
		}
		r.report(fault.rule, f.Name, pod, "%s", message)
	}
}

func (r *referee) judgeOption(t *optionFaults, option cloudprovider.LaunchOption) {
	q := t.question
	if option.InstanceType == nil || option.Offering == nil {
		t.add(faultKey{rule: RuleOffering}, "the option at index %d lacks its instance type or offering", t.index)
		return
	}
	number, fault := r.locate(q.pool, option)
	if fault != "" {
		t.add(faultKey{rule: RuleOffering}, "option %s: %s", option.Key(), fault)
		return
	}
	o := q.pool.stock.options[number]
	if !o.Offering.Launchable() {
		t.add(faultKey{rule: RuleOffering, subject: "stock"}, "option %s is not available", o)
	}
	if o.err != nil {
		t.add(faultKey{rule: RuleResources}, "what option %s can allocate cannot be computed: %v", o, o.err)
		return
	}
	for _, name := range o.allocatable.Negative() {
		t.add(faultKey{rule: RuleResources, subject: string(name)}, "option %s has less %s than it holds back, and takes no pod", o, name)
	}
	a := r.answer(q, number)
	if a == nil {
		r.judgeLabels(t, o)
		return
	}
	for _, node := range a.nodes {
		t.judgeOutcome(o, node)
	}
}

// judgeLabels reports the labels of an option that contradict each other.
func (r *referee) judgeLabels(t *optionFaults, o *optionInfo) {
	q := t.question
	for label := range o.labels().Intersect(q.pool.labels).Intersect(q.asked).All() {
		key := label.Key()
		if !r.narrowed(r.labelOn(q.pool, o, key), q.asked, key).Impossible() {
			continue
		}
		var sides []string
		for _, side := range []struct {
			name string
			set  requirements.Set
		}{{"option", o.labels()}, {"NodePool", q.pool.labels}, {"Requirements", q.asked}} {
			if have, ok := side.set.Get(key); ok {
				sides = append(sides, fmt.Sprintf("%s says %q", side.name, have))
			} else {
				sides = append(sides, side.name+" does not name it")
			}
		}
		t.add(faultKey{rule: RuleRequirements, subject: key}, "option %s, NodePool %s and the node's Requirements cannot agree on label %s: %s",
			o, q.pool.Name, key, strings.Join(sides, ", "))
	}
}

// judgeOutcome checks the pods on one node as which an option may be launched.
func (t *optionFaults) judgeOutcome(o *optionInfo, node *outcome) {
	for _, s := range t.question.selections {
		if !node.admits(s) {
			t.add(faultKey{rule: RuleRequirements, selection: s}, "its node selection refuses option %s, which may come up with %s",
				o, s.Mentions.Text(node.Node))
		}
	}
	// A pod is not excluded by a resource of which only DaemonSets have too little.
	for name, asked := range t.requests.All() {
		daemons, have := node.requests.Get(name), o.allocatable.Get(name)
		if asked > 0 && (have < daemons || asked > have-daemons) {
			t.add(faultKey{rule: RuleResources, subject: string(name)}, "its pods ask for %s of %s and DaemonSets for %s, but option %s can allocate %s",
				resources.Format(name, asked), name, resources.Format(name, daemons), o, resources.Format(name, have))
		}
	}
}
