package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// judgeOption puts the pods of a node on what one option would become.
func (r *referee) judgeOption(t *faultTally, option cloudprovider.LaunchOption) {
	if !r.wholeOption(option) {
		t.add(faultKey{rule: RuleOffering}, func() string {
			return fmt.Sprintf("the option at index %d lacks its instance type or offering", t.option)
		})
		return
	}
	number, ok := r.locate(t.brief.pool, option)
	if !ok {
		t.add(faultKey{rule: RuleOffering}, func() string {
			return fmt.Sprintf("option %s: %s", option.Key(), r.missing(t.brief.pool, option))
		})
		return
	}
	o := t.brief.stock.options[number]
	if !o.Offering.Launchable() {
		t.add(faultKey{rule: RuleOffering, subject: "stock"}, func() string {
			return fmt.Sprintf("option %s is not available", o)
		})
	}
	if o.err != nil {
		t.add(faultKey{rule: RuleResources}, func() string {
			return fmt.Sprintf("what option %s can allocate cannot be computed: %v", o, o.err)
		})
		return
	}
	for _, name := range o.allocatable.Negative() {
		t.add(faultKey{rule: RuleResources, subject: string(name)}, func() string {
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
func (r *referee) judgeLabels(t *faultTally, o *optionInfo) {
	for have := range r.domain(t.brief.pool, o, t.brief.asked).All() {
		if key := have.Key(); have.Impossible() {
			t.add(faultKey{rule: RuleRequirements, subject: key}, func() string {
				return fmt.Sprintf("option %s, NodePool %s and the node's Requirements cannot agree on label %s: %s",
					o, t.brief.pool.Name, key, r.disagreement(t.brief, o, key))
			})
		}
	}
}

func (r *referee) disagreement(b *labelQuestion, o *optionInfo, key string) string {
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
func (r *referee) judgeLanding(t *faultTally, o *optionInfo, landing *launchOutcome) {
	for _, s := range t.brief.selections {
		if !landing.accepts(s) {
			t.add(faultKey{rule: RuleRequirements, selection: s}, func() string {
				return fmt.Sprintf("its node selection refuses option %s, which may come up with %s", o, s.Mentions.Text(landing.node))
			})
		}
	}
	// A resource that only DaemonSets run short of keeps no pod away.
	for name, asked := range t.requests.All() {
		daemons, have := landing.requests.Get(name), o.allocatable.Get(name)
		if asked <= 0 || have >= daemons && asked <= have-daemons {
			continue
		}
		t.add(faultKey{rule: RuleResources, subject: string(name)}, func() string {
			return fmt.Sprintf("its pods ask for %s of %s and DaemonSets for %s, but option %s can allocate %s",
				resources.Format(name, asked), name, resources.Format(name, daemons), o, resources.Format(name, have))
		})
	}
}

// listID tells lists of options apart by where they are in memory. The
// nodes of a plan share few lists, and each is judged once. Those that share
// none are judged one by one: that takes longer, and comes to the same.
type listID struct {
	first  *cloudprovider.LaunchOption
	length int
}

// listDigest is what lists with the same options have in common.
type listDigest struct {
	first, middle, last cloudprovider.LaunchOption
	length              int
}

// maxLookalikes bounds how many different lists that look the same are
// remembered.
const maxLookalikes = 8

// idOf is the identity of a list, or of the first one seen with the same
// options.
func (r *referee) idOf(list []cloudprovider.LaunchOption) listID {
	if len(list) == 0 {
		return listID{}
	}
	id := listID{&list[0], len(list)}
	if known, ok := r.same[id]; ok {
		return known
	}
	look := listDigest{list[0], list[len(list)/2], list[len(list)-1], len(list)}
	for _, other := range r.looks[look] {
		if slices.Equal(list, other) {
			r.same[id] = listID{&other[0], len(other)}
			return r.same[id]
		}
	}
	if len(r.looks[look]) < maxLookalikes {
		r.looks[look] = append(r.looks[look], list)
	}
	r.same[id] = id
	return id
}

// optionList is what is said of a list of options by itself.
type optionList struct {
	price  float64 // of the cheapest option, wherever it stands
	priced bool    // there is an option with a price
	// misplaced counts the options that may not follow the one before them, of
	// which the first is at index first.
	misplaced, first int
}

// list looks at a list of options once.
func (r *referee) list(options []cloudprovider.LaunchOption) optionList {
	id := r.idOf(options)
	if known, ok := r.lists[id]; ok {
		return known
	}
	l := optionList{price: math.Inf(1)}
	for i, option := range options {
		if option.Offering != nil {
			l.price, l.priced = math.Min(l.price, option.Offering.Price), true
		}
		if i == 0 || r.follows(options[i-1], option) {
			continue
		}
		if l.misplaced == 0 {
			l.first = i
		}
		l.misplaced++
	}
	r.lists[id] = l
	return l
}

// follows says whether an option may stand right after another.
func (r *referee) follows(before, after cloudprovider.LaunchOption) bool {
	if !r.wholeOption(before) || !r.wholeOption(after) {
		return true
	}
	c := r.compareOptions(before, after)
	return c < 0 || c == 0 && before.Offering.ID != after.Offering.ID
}

func (*referee) compareOptions(a, b cloudprovider.LaunchOption) int {
	return cmp.Or(
		cmp.Compare(a.Offering.Price, b.Offering.Price),
		cmp.Compare(a.InstanceType.Name, b.InstanceType.Name),
		cmp.Compare(a.Offering.Zone, b.Offering.Zone),
		cmp.Compare(a.Offering.CapacityType, b.Offering.CapacityType),
		cmp.Compare(a.Offering.ReservationID, b.Offering.ReservationID),
	)
}
