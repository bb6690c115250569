package provisioning

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// judgeOption puts the pods of a node on what one option would become.
func (r *referee) judgeOption(t *refereeTally, option cloudprovider.LaunchOption) {
	if !r.wholeOption(option) {
		t.add(refereeFault{rule: RuleOffering}, func() string {
			return fmt.Sprintf("the option at index %d lacks its instance type or offering", t.option)
		})
		return
	}
	number, ok := r.locate(t.brief.pool, option)
	if !ok {
		t.add(refereeFault{rule: RuleOffering}, func() string {
			return fmt.Sprintf("option %s: %s", option.Key(), r.missing(t.brief.pool, option))
		})
		return
	}
	o := t.brief.stock.options[number]
	if !o.Offering.Launchable() {
		t.add(refereeFault{rule: RuleOffering, subject: "stock"}, func() string {
			return fmt.Sprintf("option %s is not available", o)
		})
	}
	if o.err != nil {
		t.add(refereeFault{rule: RuleResources}, func() string {
			return fmt.Sprintf("what option %s can allocate cannot be computed: %v", o, o.err)
		})
		return
	}
	for _, name := range o.allocatable.Negative() {
		t.add(refereeFault{rule: RuleResources, subject: string(name)}, func() string {
			return fmt.Sprintf("option %s has less %s than it holds back, and takes no pod", o, name)
		})
	}
	ground := r.groundOf(t.brief, number)
	if ground == nil {
		r.judgeLabels(t, o)
		return
	}
	for _, landing := range ground.landings {
		r.judgeLanding(t, o, landing)
	}
}

// judgeLabels reports the labels of an option that contradict each other.
func (r *referee) judgeLabels(t *refereeTally, o *refereeOption) {
	for have := range r.domain(t.brief.pool, o, t.brief.asked).All() {
		if key := have.Key(); have.Impossible() {
			t.add(refereeFault{rule: RuleRequirements, subject: key}, func() string {
				return fmt.Sprintf("option %s, NodePool %s and the node's Requirements cannot agree on label %s: %s",
					o, t.brief.pool.Name, key, r.disagreement(t.brief, o, key))
			})
		}
	}
}

func (r *referee) disagreement(b *refereeBrief, o *refereeOption, key string) string {
	text := ""
	for _, side := range []struct {
		name string
		set  requirements.Set
	}{{"option", o.labels()}, {"NodePool", b.pool.labels}, {"Requirements", b.asked}} {
		if text != "" {
			text += ", "
		}
		if have, ok := side.set.Get(key); ok {
			text += fmt.Sprintf("%s says %q", side.name, have)
		} else {
			text += side.name + " does not name it"
		}
	}
	return text
}

// judgeLanding puts the pods on one node that an option may come up as.
func (r *referee) judgeLanding(t *refereeTally, o *refereeOption, landing *refereeLanding) {
	for _, s := range t.brief.selections {
		if !landing.accepts(s) {
			t.add(refereeFault{rule: RuleRequirements, selection: s}, func() string {
				return fmt.Sprintf("its node selection refuses option %s, which may come up with %s", o, s.labelText(landing.node))
			})
		}
	}
	// A resource that only DaemonSets run short of keeps no pod away.
	for name, asked := range t.requests.All() {
		daemons, have := landing.requests.Get(name), o.allocatable.Get(name)
		if asked <= 0 || have >= daemons && asked <= have-daemons {
			continue
		}
		t.add(refereeFault{rule: RuleResources, subject: string(name)}, func() string {
			return fmt.Sprintf("its pods ask for %s of %s and DaemonSets for %s, but option %s can allocate %s",
				resources.Format(name, asked), name, resources.Format(name, daemons), o, resources.Format(name, have))
		})
	}
}
