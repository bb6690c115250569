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

// Harness connects the suite with one provider and its cloud. The first two fields are required.
// Each hook enables checks that cannot run without it. Hooks are called by the goroutine of the
// test, so that they may use testing.TB.Fatal.
//
// A hook need not undo its change of the cloud, because the next check opens a new Harness. If all
// checks share a cloud, undo the change in a cleanup of the test.
type Harness struct {
	// Provider is the provider under test. Required.
	Provider cloudprovider.CloudProvider

	// Pool is a valid NodePool with a name, whose spec.template.spec.nodeClassRef is set to a node
	// class that exists and is ready, and for which a machine can be launched. Required.
	Pool *v1.NodePool

	// Prefix begins the tokens and names that the suite uses. Two runs on one
	// cloud that remembers tokens need different ones. Default: "conformance".
	Prefix string

	// Only restricts the machines that are launched, for example to small ones of a real cloud.
	// Default: all that the pool allows. The ten cheapest offerings are used.
	Only requirements.Set

	// WellKnownLabels are the labels that the provider's vocabulary adds to v1.WellKnownLabels.
	// Well-known labels that an instance type names need not be listed.
	WellKnownLabels []string

	// TooSmall names the instance types in the catalog on which overhead leaves nothing for pods.
	TooSmall []string

	// Tries is the least number of options of one request that the provider asks the cloud for
	// before it gives up. Zero means all options of one capacity type.
	Tries int

	// Patience is how long slow changes may take by the cloud's clock: until a deleted machine is
	// gone, and a launched one is listed. Zero means one minute.
	Patience time.Duration

	// Advance lets time pass in the cloud. If nil, the suite waits. The suite
	// calls it with a fraction of Patience at a time.
	Advance func(time.Duration)

	// Claim completes the NodeClaim of a machine that was just launched, as the provider's
	// controllers do: with the hash of the node class in an annotation, for example. It is called
	// once for each NodeClaim that is passed to IsDrifted. May be nil.
	Claim func(*v1.NodeClaim)

	// Machines returns the number of machines of the cluster that are not going down, counted
	// without the provider. If nil, List is used, and a machine that the provider does not list is
	// not detected.
	Machines func() int

	// Restart returns a provider for the same cloud and cluster without any state in memory, as
	// after a restart of the process.
	Restart func() cloudprovider.CloudProvider

	// Neighbor returns a provider for another cluster in the same account.
	Neighbor func() cloudprovider.CloudProvider

	// Prices are the prices of some offerings in the cloud's price list, in USD per hour. If
	// empty, the suite compares prices only with the usual range.
	Prices map[cloudprovider.OfferingKey]float64

	// RunDry makes the cloud refuse these offerings for lack of stock from now on. The catalog may
	// show it or not.
	RunDry func(keys ...cloudprovider.OfferingKey)

	// Restock makes the cloud sell these offerings again, after RunDry. It needs Advance, which
	// must move the provider's clock as well: the suite lets up to an hour pass.
	Restock func(keys ...cloudprovider.OfferingKey)

	// Fail makes the cloud fail the next call that this method of the provider makes: by throttling
	// it for KindThrottled, with a server error or a broken connection for KindUnknown. If the
	// cloud lists in pages, the last call of a List is the best to fail.
	Fail func(method string, kind cloudprovider.Kind)

	// Lose makes the cloud carry out the next launch and loses the answer. Called several times it
	// must lose as many answers: a client library may repeat a call by itself, as net/http does
	// with a POST that has an Idempotency-Key, and then the provider never sees that one answer was
	// lost.
	Lose func()

	// Hang delays the cloud's answer to the next call of this method of the provider until the
	// suite calls release. The channel is closed when that call has reached the cloud.
	Hang func(method string) (reached <-chan struct{}, release func())

	// Unready makes the node class of Pool not ready.
	Unready func()

	// Drift changes the node class, or the image that it selects, so that the instance has drifted.
	Drift func(id string)

	// Terminate ends the instance as a user of the cloud's console would.
	Terminate func(id string)

	// Interrupt makes the cloud issue a notice about the instance, and returns
	// its kind. The machine should run on for at least Patience.
	Interrupt func(id string) cloudprovider.InterruptionKind

	// Reboots returns how often the instance was restarted.
	Reboots func(id string) int
}

// defaultPatience is Harness.Patience unless it is set.
const defaultPatience = time.Minute

// complete sets the defaults. The error says why no check can run with the harness.
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

// poolFaults returns the faults of the pool that do not depend on the provider.
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

// classFault returns an error if the provider says that the pool's node class cannot be used. The
// checks find other faults of the provider.
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

// able reports whether a need of a check is met: a hook, which is a field of Harness, or an
// ability, an interface of package cloudprovider.
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
