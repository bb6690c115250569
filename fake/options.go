package fake

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Options configure a Cloud. The zero value, and nil, mean the defaults: machines are ready at
// once, stock is unlimited, and nothing fails.
type Options struct {
	// InstanceTypes is the catalog of the cloud. Default Catalog. New copies it.
	InstanceTypes []*cloudprovider.InstanceType

	// Now tells the time. It may be called by several goroutines at once. Advance adds to it, and
	// due events run before the next call is carried out. Default: a clock that stands still at 1
	// January 2026, 00:00 UTC.
	Now func() time.Time

	// Seed determines all random events. Those of one machine or one price do not depend on the
	// others.
	Seed uint64

	// Timing is how long machines take to start, to restart and to go down.
	Timing Timing

	// ListLag is the delay of List: an instance is missing from it for that long after Create,
	// which the contract of a CloudProvider allows, and still in it for that long after it is gone.
	// Zero or more. Default: no delay.
	ListLag time.Duration

	// Stock is the stock of the offerings. Default: unlimited. Of several that cover an offering
	// the last one counts.
	Stock []Stock

	// Spot is the market for spot capacity.
	Spot Spot

	// Images are the images published at the start. Default, for nil: one for each architecture
	// of the catalog, named image-amd64 and image-arm64 and made a day before the start.
	Images []Image

	// NodeClasses are the node classes that exist. With nil, every one that a request names
	// exists and is ready, until the first Action.NodeClass. They are found by name; group and
	// kind must be among NodeClassKinds.
	NodeClasses []NodeClass

	// NodeClassKinds are the kinds of node classes that the cloud launches from. Default:
	// EC2NodeClass in the group karpenter.k8s.aws.
	NodeClassKinds []schema.GroupKind

	// Unregistered leaves the role of the autoscaler to the caller. Nodes then stay as kubelets
	// make them: they never have the labels karpenter.sh/registered and karpenter.sh/initialized,
	// always have the taint karpenter.sh/unregistered, and become ready Timing.Initialization after
	// they have joined, without an EventRegistered. The caller keeps its own Nodes, and copies into
	// them what kubelets report in Cloud.Nodes. Default: the cloud registers Nodes itself.
	Unregistered bool

	// Redelivery is how long Interruptions leaves out a notice after returning it. Zero or more.
	Redelivery time.Duration
}

// complete copies the data that the options share with the caller, sets defaults, and returns the
// faults of options that do not depend on the catalog.
func (o *Options) complete() (errs []error) {
	o.Stock, o.Images, o.NodeClasses = slices.Clone(o.Stock), slices.Clone(o.Images), slices.Clone(o.NodeClasses)
	o.NodeClassKinds = slices.Clone(o.NodeClassKinds)
	if len(o.NodeClassKinds) == 0 {
		o.NodeClassKinds = []schema.GroupKind{{Group: awsv1.Group, Kind: "EC2NodeClass"}}
	}
	if o.Spot.Warning == 0 {
		o.Spot.Warning = 2 * time.Minute // as EC2 does
	}
	errs = append(errs, o.Timing.check()...)
	for _, f := range []struct {
		field string
		d     time.Duration
	}{{"ListLag", o.ListLag}, {"Redelivery", o.Redelivery}} {
		if f.d < 0 {
			errs = append(errs, fault.Wrong(f.field, "%v; use zero or more", f.d))
		}
	}
	return append(errs, o.Spot.check()...)
}

// Span is a range of durations. The cloud draws one of them, uniformly, in whole milliseconds above
// Min. The zero Span is no time.
type Span struct {
	// Min is the shortest. Zero or more.
	Min time.Duration
	// Max is the longest. Zero means Min; otherwise not below it.
	Max time.Duration
}

// Exactly returns the span with a single duration.
func Exactly(d time.Duration) Span { return Span{Min: d, Max: d} }

// Timing is how long the stages in the life of a machine take. The zero value takes no time: a
// machine is a ready node as soon as Create returns, and gone as soon as Delete does.
type Timing struct {
	// Launch is from Create until the machine has booted and its kubelet has made the Node
	// object.
	Launch Span
	// Registration is from then until the Node is matched with its NodeClaim, and the taint
	// karpenter.sh/unregistered is removed.
	Registration Span
	// Initialization is from then until the Node is ready, without its startup taints and with
	// all its resources.
	Initialization Span
	// Shutdown is from Delete, or from the deadline of an interruption, until the machine is
	// gone. Until then it is Deleting.
	Shutdown Span
	// Reboot is from Reboot until the Node is ready again.
	Reboot Span
}

func (t *Timing) check() (errs []error) {
	for _, f := range []struct {
		field string
		Span
	}{{"Launch", t.Launch}, {"Registration", t.Registration}, {"Initialization", t.Initialization}, {"Shutdown", t.Shutdown}, {"Reboot", t.Reboot}} {
		if f.Min < 0 || f.Max < 0 || f.Max != 0 && f.Max < f.Min {
			errs = append(errs, fault.Wrong("Timing."+f.field, "%v to %v; use zero or more, and no Max below Min except zero", f.Min, f.Max))
		}
	}
	return errs
}
