package fake

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/fault"
)

// Options set up a Cloud. The zero value, and nil, mean the defaults: a cloud in which
// everything works, at once, and without end.
type Options struct {
	// InstanceTypes is what the cloud sells. Default Catalog. New copies it.
	InstanceTypes []*cloudprovider.InstanceType

	// Clock tells the time. It may be called by several goroutines at once. Advance goes ahead
	// of it, and what is due happens before the next call is carried out. Default: a clock that
	// stands still at 1 January 2026, 00:00 UTC.
	Clock func() time.Time

	// Seed decides everything that is chance. What happens to one machine or one price does not
	// depend on the others.
	Seed uint64

	// Timing is how long machines take to start, to restart and to go.
	Timing Timing

	// ListLag is the age of what List returns: an instance is missing from it for so long after
	// Create, which the contract of a CloudProvider allows, and still in it for so long after it
	// is gone. Zero or more. Default: List is up to date.
	ListLag time.Duration

	// Stock is how many machines there are. Default: without end. Of several that cover an
	// offering the last one counts.
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

	// Unregistered leaves it to the caller to play the autoscaler. Nodes then stay as kubelets
	// make them: they never have the labels karpenter.sh/registered and
	// karpenter.sh/initialized, always the taint karpenter.sh/unregistered, and become ready
	// Timing.Initialization after they have joined, without an EventRegistered. The caller keeps
	// Nodes apart from those of Cloud.Nodes, and copies from these what kubelets report.
	// Default: the cloud plays that part.
	Unregistered bool

	// Redelivery is for how long Interruptions leaves out a notice that it returned. Zero or
	// more. Default: not at all.
	Redelivery time.Duration
}

// complete copies what the options share with the caller, sets defaults, and returns what is
// wrong with the options that do not depend on the catalog.
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

// Span is a range of durations. The cloud draws one of them, all equally likely, in whole
// milliseconds above Min. The zero Span is no time at all.
type Span struct {
	// Min is the shortest. Zero or more.
	Min time.Duration
	// Max is the longest. Zero means Min; otherwise not below it.
	Max time.Duration
}

// Exactly returns the span of one duration.
func Exactly(d time.Duration) Span { return Span{Min: d, Max: d} }

// Timing is how long the stages in the life of a machine take. The zero value takes no time: a
// machine is a ready node as soon as Create returns, and gone as soon as Delete does.
type Timing struct {
	// Launch is from Create until the machine has booted and its kubelet has made the Node
	// object.
	Launch Span
	// Registration is from then until the Node is matched with its NodeClaim, and the taint
	// karpenter.sh/unregistered taken off.
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
