package fake

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Options set up a Cloud. The zero value, and nil, mean the defaults: a cloud
// in which everything works, at once, and without end.
type Options struct {
	// InstanceTypes is what the cloud sells. Default Catalog. New copies it.
	InstanceTypes []*cloudprovider.InstanceType

	// Clock tells the time. It may be called by several goroutines at once.
	// Default: a clock that stands still at 1 January 2026, 00:00 UTC. Advance
	// goes ahead of it. What is due happens before the next call is carried
	// out.
	Clock func() time.Time

	// Seed decides everything that is a matter of chance. The same seed leads
	// to the same course of things. What befalls one machine or one price does
	// not depend on the others.
	Seed uint64

	// Timing is how long machines take to start, to restart and to go.
	Timing Timing

	// Lag is how old the answers of List and Get are.
	Lag Lag

	// Stock is how many machines there are. Default: without end. Of several
	// that cover an offering the last one counts.
	Stock []Stock

	// Reservations are capacity that is set aside, beside the one in the
	// catalog.
	Reservations []Reservation

	// Spot is the market for spot capacity.
	Spot Spot

	// Breakdowns make nodes break by chance.
	Breakdowns []Breakdown

	// RateLimits turn calls away that come too often. A call that is subject
	// to several needs a token of each.
	RateLimits []RateLimit

	// Images are the images published at the start. Default, for nil: one for
	// each architecture of the catalog, named image-amd64 and image-arm64 and
	// made a day before the start.
	Images []Image

	// NodeClasses are the node classes that exist. With nil, every one that a
	// request names is taken to exist and be ready, until the first
	// SetNodeClass. They are found by name; group and kind must be among
	// NodeClassKinds.
	NodeClasses []NodeClass

	// NodeClassKinds are the kinds of node classes that the cloud launches
	// from. Default: EC2NodeClass in the group karpenter.k8s.aws.
	NodeClassKinds []schema.GroupKind

	// RepairPolicies are what RepairPolicies returns. Default: a set in which
	// a node that is not ready, or lacks network, storage or accelerators, is
	// replaced, and one whose kernel or container runtime is stuck restarted.
	RepairPolicies []cloudprovider.RepairPolicy

	// Unregistered leaves it to the caller to play the autoscaler. Nodes then stay
	// as kubelets make them: they never have the labels karpenter.sh/registered and
	// karpenter.sh/initialized, and always the taint karpenter.sh/unregistered, nor
	// is there an EventRegistered. They become ready Timing.Initialization after
	// they have joined; Timing.Registration has no meaning. The caller keeps
	// Nodes apart from those of Cloud.Nodes, and copies from these what kubelets
	// report.
	// Default: the cloud plays that part.
	Unregistered bool

	// LaunchLimit is how many instance types one Create looks at: the first of the
	// request, whatever they cost. The others are neither launched nor refused.
	// Zero or more. Default and zero: all of them.
	LaunchLimit int

	// Redelivery is for how long a notice that Interruptions returned is left
	// out by it, unless acknowledged. Zero or more. Default: not at all.
	Redelivery time.Duration
}

// complete copies what the options share with the caller, sets defaults, and
// returns what is wrong with those that stand for themselves.
func (o *Options) complete() (errs []error) {
	o.Stock, o.Reservations = slices.Clone(o.Stock), slices.Clone(o.Reservations)
	o.Breakdowns, o.RateLimits = slices.Clone(o.Breakdowns), slices.Clone(o.RateLimits)
	o.Images, o.NodeClasses = slices.Clone(o.Images), slices.Clone(o.NodeClasses)
	o.NodeClassKinds, o.RepairPolicies = slices.Clone(o.NodeClassKinds), slices.Clone(o.RepairPolicies)
	if len(o.NodeClassKinds) == 0 {
		o.NodeClassKinds = []schema.GroupKind{{Group: awsv1.Group, Kind: "EC2NodeClass"}}
	}
	if o.RepairPolicies == nil {
		o.RepairPolicies = defaultRepairPolicies()
	}
	if o.Spot.Warning == 0 {
		o.Spot.Warning = defaultWarning
	}
	for _, err := range o.Timing.check() {
		if err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, o.Lag.check()...)
	errs = append(errs, o.Spot.check()...)
	for i := range o.Breakdowns {
		errs = append(errs, o.Breakdowns[i].check(fmt.Sprintf("Breakdowns[%d]", i))...)
	}
	for i := range o.RateLimits {
		errs = append(errs, o.RateLimits[i].check(fmt.Sprintf("RateLimits[%d]", i))...)
	}
	if o.LaunchLimit < 0 {
		errs = append(errs, wrong("LaunchLimit", "%d; use zero or more", o.LaunchLimit))
	}
	if o.Redelivery < 0 {
		errs = append(errs, wrong("Redelivery", "%v; use zero or more", o.Redelivery))
	}
	if err := cloudprovider.ValidateRepairPolicies(o.RepairPolicies); err != nil {
		errs = append(errs, wrong("RepairPolicies", "%w", err))
	}
	return errs
}

// wrong says what is wrong with a field of the options.
func wrong(field, format string, args ...any) error {
	return fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...))
}
