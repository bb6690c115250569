package launch

import (
	"fmt"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Selection is what Select made of a request.
type Selection struct {
	// Options are the ones to send to the cloud: first those of machines that
	// are not out of the ordinary; within both by LaunchOption.Compare, the
	// cheapest first.
	Options []cloudprovider.LaunchOption

	// Dropped are the others, in the order of the reasons below, and of each
	// reason in the order of Options.
	Dropped []Dropped

	// Spared are the steps that were not taken, as minValues would not have
	// held after them, in the order of the steps.
	Spared []Reason

	// Unmet are the minimums of values that do not hold for Options, sorted by
	// key. Whether that is a failure is for the caller to say, who knows the
	// policy of the pool.
	Unmet []Unmet
}

// Reason says why an option is not sent.
type Reason string

const (
	// Incomplete: the instance type or the offering is nil.
	Incomplete Reason = "Incomplete"
	// Unlaunchable: the offering is not available, or its reservation is full.
	Unlaunchable Reason = "Unlaunchable"
	// Duplicate: the offering is there already.
	Duplicate Reason = "Duplicate"
	// DearSpot: it is spot capacity that costs more than the cheapest on
	// demand.
	DearSpot Reason = "DearSpot"
	// OtherCapacityType: the call is for another capacity type.
	OtherCapacityType Reason = "OtherCapacityType"
	// OutOfTheOrdinary: it is an exotic machine, and there are others.
	OutOfTheOrdinary Reason = "OutOfTheOrdinary"
	// BeyondLimit: the call takes no more instance types, and those that are
	// sent come before it.
	BeyondLimit Reason = "BeyondLimit"
)

// Dropped is an option that is not sent.
type Dropped struct {
	// Key is the offering. Of an incomplete option it has what is known.
	Key cloudprovider.OfferingKey
	// Reason is why, and Detail says it in words.
	Reason Reason
	Detail string
}

// String returns one line, as in
// "m5.large/zone-a/spot: 0.2 USD/h, more than 0.1 on demand for m5.large/zone-b/on-demand".
func (d Dropped) String() string { return d.Key.String() + ": " + d.Detail }

// Unmet is a minimum of values that does not hold.
type Unmet struct {
	// Key is the label.
	Key string
	// Need is the minimum, and Have how many values the options have.
	Need, Have int
}

// String returns one line, as in "node.kubernetes.io/instance-type: 3 of 5 values".
func (u Unmet) String() string { return fmt.Sprintf("%s: %d of %d values", u.Key, u.Have, u.Need) }

// String returns what was done, a line each: how many options are sent and were
// dropped, by reason with the first as an example, and what minValues led to.
func (s Selection) String() string {
	types := map[string]bool{}
	for _, o := range s.Options {
		types[o.InstanceType.Name] = true
	}
	lines := []string{fmt.Sprintf("%d options of %d instance types", len(s.Options), len(types))}
	for i := 0; i < len(s.Dropped); {
		j := i
		for j < len(s.Dropped) && s.Dropped[j].Reason == s.Dropped[i].Reason {
			j++
		}
		lines = append(lines, fmt.Sprintf("%d dropped for %s, as %s", j-i, s.Dropped[i].Reason, s.Dropped[i]))
		i = j
	}
	for _, r := range s.Spared {
		lines = append(lines, fmt.Sprintf("none dropped for %s, lest minValues fail", r))
	}
	for _, u := range s.Unmet {
		lines = append(lines, "minValues not met: "+u.String())
	}
	return strings.Join(lines, "\n")
}
