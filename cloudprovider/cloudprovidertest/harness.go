package cloudprovidertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Harness connects the suite with one provider and its cloud. The first two
// fields are required. Of the hooks each enables checks that cannot run without
// it; they are called by one goroutine at a time, the one of the test, so that
// they may use testing.TB.Fatal.
//
// A hook that changes the cloud may leave it so: the next check opens a new
// Harness. If all of them share a cloud, undo the change in a cleanup of the
// test.
type Harness struct {
	// Provider is the provider under test. Required.
	Provider cloudprovider.CloudProvider

	// Pool is a valid NodePool with a name, whose spec.template.spec.nodeClassRef
	// is set to a node class that exists and is ready, and for which something
	// can be launched. Required.
	Pool *v1.NodePool

	// Prefix begins the tokens and names that the suite uses. Two runs on one
	// cloud that remembers tokens need different ones. Default: "conformance".
	Prefix string

	// Only narrows what is launched, as to small machines of a real cloud.
	// Default: whatever the pool admits. Of that the ten cheapest offerings are
	// used.
	Only requirements.Set

	// WellKnownLabels are the labels that the provider's vocabulary adds to
	// v1.WellKnownLabels. Labels that some instance type names and that are
	// well-known count without being listed here.
	WellKnownLabels []string

	// TooSmall names the instance types on which overhead leaves nothing for
	// pods, and that are in the catalog all the same.
	TooSmall []string

	// Tries is how many options of one request the provider asks the cloud for,
	// at least, before it gives up. Zero or more. Default and zero: all of those
	// that are of one capacity type.
	Tries int

	// Patience is how long, by the cloud's time, slow things may take: until
	// what was deleted is gone, and what was launched is listed. Zero or more.
	// Default and zero: one minute.
	Patience time.Duration

	// Advance lets time pass in the cloud. If nil, the suite waits. The suite
	// calls it with a fraction of Patience at a time.
	Advance func(time.Duration)

	// Claim completes the NodeClaim of a machine that was just launched, as
	// the provider's controllers do: with the hash of the node class in an
	// annotation, for example. It is called once for each NodeClaim that is
	// shown to IsDrifted. May be nil.
	Claim func(*v1.NodeClaim)

	// Machines returns how many machines of the cluster the cloud has that are
	// not going down, counted without the provider. If nil, List is believed,
	// and a machine that the provider lost track of is not found out.
	Machines func() int

	// Restart returns a provider for the same cloud and cluster that knows
	// nothing but what the cloud does, as after a restart of the process.
	Restart func() cloudprovider.CloudProvider

	// Neighbor returns a provider for another cluster in the same account.
	Neighbor func() cloudprovider.CloudProvider

	// Prices are what the cloud's price list says that some offerings cost, in USD per
	// hour. If empty, the suite knows only what machines cost as a rule.
	Prices map[cloudprovider.OfferingKey]float64

	// RunDry makes the cloud refuse these offerings for lack of stock from now
	// on. That the catalog shows it is neither needed nor wrong.
	RunDry func(keys ...cloudprovider.OfferingKey)

	// Restock makes the cloud sell these offerings again, after RunDry. It takes
	// Advance, which then moves the provider's clock as well: the suite lets up to an
	// hour pass.
	Restock func(keys ...cloudprovider.OfferingKey)

	// Fail makes the cloud fail the next call that this method of the provider
	// makes: by throttling it for KindThrottled, with a server error or a
	// broken connection for KindUnknown. For List it is best the last call of
	// several, if the cloud lists in pages.
	Fail func(method string, kind cloudprovider.Kind)

	// Lose makes the cloud carry out the next launch and the answer get lost. It should
	// count how often it was called, and lose so many answers: a client library may repeat
	// a call by itself, as net/http does with a POST that has an Idempotency-Key, and then
	// the provider never sees that one answer was lost.
	Lose func()

	// Hang makes the cloud not answer the next call that this method of the
	// provider makes until release is called, which the suite does. The channel
	// is closed when that call has come to the cloud.
	Hang func(method string) (reached <-chan struct{}, release func())

	// Unready makes the node class of Pool not ready.
	Unready func()

	// Drift changes the node class, or the image that it stands for, so that
	// the instance is out of date.
	Drift func(id string)

	// Terminate takes the instance away, as somebody does who uses the cloud's
	// console.
	Terminate func(id string)

	// Interrupt makes the cloud issue a notice about the instance, and returns
	// its kind. The machine should run on for at least Patience.
	Interrupt func(id string) cloudprovider.InterruptionKind

	// Reboots returns how often the instance was restarted.
	Reboots func(id string) int
}

// defaultPatience is Harness.Patience unless it is set.
const defaultPatience = time.Minute

// complete sets the defaults, and says why no check can do with the harness.
func (h *Harness) complete(ctx context.Context) error {
	if h == nil {
		return errors.New("the harness is nil; return one with Provider and Pool")
	}
	var errs []error
	if h.Provider == nil {
		errs = append(errs, errors.New("Harness.Provider: nil; set the provider to test"))
	}
	errs = append(errs, h.poolFaults()...)
	if h.Tries < 0 {
		errs = append(errs, errors.New("Harness.Tries: below zero; use zero or more"))
	}
	if h.Patience < 0 {
		errs = append(errs, errors.New("Harness.Patience: below zero; use zero or more"))
	}
	h.Prefix = cmp.Or(h.Prefix, "conformance")
	h.Patience = cmp.Or(h.Patience, defaultPatience)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return h.classFault(ctx)
}

// poolFaults are those that can be seen without the provider.
func (h *Harness) poolFaults() (errs []error) {
	if h.Pool == nil {
		return []error{errors.New("Harness.Pool: nil; set a pool that something can be launched for")}
	}
	if h.Pool.Name == "" {
		errs = append(errs, errors.New("Harness.Pool: it has no name; give it one"))
	}
	pool := h.Pool.DeepCopy()
	pool.Default()
	if pool.Spec.Template.Spec.Requirements == nil {
		pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{} // as a program may leave it
	}
	if pool.Spec.Template.Spec.NodeClassRef == nil {
		errs = append(errs, errors.New("Harness.Pool: spec.template.spec.nodeClassRef: nil; set it to"+
			" &v1.NodeClassReference{Group: ..., Kind: ..., Name: ...} of a node class that is ready"))
		pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "Any", Name: "any"}
	}
	for _, fault := range pool.ValidateWith(&v1.Rules{WellKnownLabels: h.WellKnownLabels}) {
		errs = append(errs, fmt.Errorf("Harness.Pool: %w", fault))
	}
	return errs
}

// classFault says that the pool's node class is of no use, which the provider
// knows. What else may be wrong with the provider is for the checks to find.
func (h *Harness) classFault(ctx context.Context) (fault error) {
	defer func() {
		if recover() != nil {
			fault = nil
		}
	}()
	_, err := h.Provider.InstanceTypes(ctx, h.Pool)
	switch cloudprovider.KindOf(err) {
	case cloudprovider.KindNotFound, cloudprovider.KindNotReady, cloudprovider.KindUnsupported:
		return fmt.Errorf("Harness.Pool: spec.template.spec.nodeClassRef: name a node class that exists and is ready: %w", err)
	}
	return nil
}

// able reports whether what a check needs beside a provider and a pool is there: a
// hook, which is a field of Harness, or an ability, an interface of package
// cloudprovider.
func (h *Harness) able(need string) bool {
	return map[string]bool{
		"Harness.Restart":   h.Restart != nil,
		"Harness.Neighbor":  h.Neighbor != nil,
		"Harness.RunDry":    h.RunDry != nil,
		"Harness.Restock":   h.Restock != nil,
		"Harness.Advance":   h.Advance != nil,
		"Harness.Fail":      h.Fail != nil,
		"Harness.Lose":      h.Lose != nil,
		"Harness.Hang":      h.Hang != nil,
		"Harness.Unready":   h.Unready != nil,
		"Harness.Drift":     h.Drift != nil,
		"Harness.Terminate": h.Terminate != nil,
		"Harness.Interrupt": h.Interrupt != nil,
		"Harness.Reboots":   h.Reboots != nil,

		"cloudprovider.NodeClassSupporter":       able[cloudprovider.NodeClassSupporter](h.Provider),
		"cloudprovider.DriftDetector":            able[cloudprovider.DriftDetector](h.Provider),
		"cloudprovider.Repairer":                 able[cloudprovider.Repairer](h.Provider),
		"cloudprovider.Rebooter":                 able[cloudprovider.Rebooter](h.Provider),
		"cloudprovider.InterruptionSource":       able[cloudprovider.InterruptionSource](h.Provider),
		"cloudprovider.InterruptionAcknowledger": able[cloudprovider.InterruptionAcknowledger](h.Provider),
	}[need]
}

// able reports whether a provider has an ability.
func able[T any](p cloudprovider.CloudProvider) bool {
	_, ok := cloudprovider.As[T](p)
	return ok
}
