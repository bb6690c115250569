package cloudprovider

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// LaunchOption is one way to launch a machine: an instance type and one of its offerings. Both
// pointers are set, and their objects are read-only.
type LaunchOption struct {
	InstanceType *InstanceType
	Offering     *Offering
}

// Key returns the identity of the offering.
func (o LaunchOption) Key() OfferingKey { return o.Offering.Key(o.InstanceType.Name) }

// String returns the key and the price, as in "m5.large/zone-a/spot at 0.04 USD/h". It is for
// people; Key identifies options. A nil pointer is shown as "?".
func (o LaunchOption) String() string {
	if o.InstanceType == nil || o.Offering == nil {
		return "?"
	}
	return fmt.Sprintf("%s at %v USD/h", o.Key(), o.Offering.Price)
}

// Compare orders options by price, then by key. It returns -1, 0 or +1. A price
// that is not a number sorts last.
func (o LaunchOption) Compare(other LaunchOption) int {
	return compareOfferings(o.InstanceType, o.Offering, other.InstanceType, other.Offering)
}

// compareOfferings orders by price, then by key.
func compareOfferings(s *InstanceType, a *Offering, t *InstanceType, b *Offering) int {
	if c := cmp.Compare(sortPrice(a), sortPrice(b)); c != 0 {
		return c
	}
	return a.Key(s.Name).Compare(b.Key(t.Name))
}

// sortPrice sorts NaN last.
func sortPrice(o *Offering) float64 {
	if math.IsNaN(o.Price) {
		return math.Inf(1)
	}
	return o.Price
}

// Requirements returns the labels that a node launched by this option can have:
// those of the instance type, narrowed to those of the offering.
func (o LaunchOption) Requirements() requirements.Set {
	return o.InstanceType.Requirements.Intersect(o.Offering.Labels())
}

// NodeLabels returns the labels that a node launched by this option is sure to
// have: those of Requirements with exactly one value. It is what a provider puts
// into Instance.Labels. The caller owns the map.
func (o LaunchOption) NodeLabels() map[string]string {
	labels := make(map[string]string)
	for r := range o.Requirements().All() {
		if values, finite := r.Values(); finite && len(values) == 1 {
			labels[r.Key()] = values[0]
		}
	}
	return labels
}

// LaunchRequest asks for one machine. It is read-only for the provider.
type LaunchRequest struct {
	// Token makes the request repeatable: of all calls with the same token at most one launches a
	// machine. Required. Choose a new token for each wanted machine, such as the UID of the
	// NodeClaim, and keep it over retries and restarts. Every provider accepts up to 64 printable
	// ASCII characters and distinguishes all of them; a provider whose cloud accepts fewer passes
	// on a hash.
	Token string

	// Name is the name of the NodeClaim, if there is one. Instance.Name has it.
	Name string

	// NodePool is the name of the pool of the machine. Instance.NodePool has it.
	NodePool string

	// NodeClassRef names the provider's configuration for the machine.
	NodeClassRef v1.NodeClassReference

	// Requirements are the requirements on the node's labels, for providers that configure the
	// machine by them. Each of Options satisfies them.
	Requirements requirements.Set

	// Requests are the resources that the node must have room for, including DaemonSets.
	Requests resources.List

	// Options are the allowed ways to launch the machine, best first. At least one.
	Options []LaunchOption

	// Labels and Annotations are for the Node object, in addition to the labels of the option.
	Labels, Annotations map[string]string

	// Taints stay on the node; StartupTaints are removed by the program that they wait for.
	Taints, StartupTaints []corev1.Taint
}

// Validate returns nil if the request is complete, and otherwise an Error of
// KindDenied that lists every fault: no token, no node class, no options, an
// option without type or offering. Providers call it first in Create.
func (r *LaunchRequest) Validate() error {
	f := faults{prefix: "launch request"}
	if r.Name != "" {
		f.prefix += " " + r.Name
	}
	if r.Token == "" {
		f.add("token: empty; set one that is unique to this machine, or a retry may launch a second")
	}
	if r.NodeClassRef.Name == "" {
		remedy := "name the node class to launch with"
		if r.NodePool != "" {
			remedy = fmt.Sprintf("NodePool %q names no node class in spec.template.spec.nodeClassRef; set it", r.NodePool)
		}
		f.add("nodeClassRef.name: empty; %s", remedy)
	}
	if len(r.Options) == 0 {
		f.add("options: none; give at least one offering to launch")
	}
	for i, o := range r.Options {
		if o.InstanceType == nil || o.Offering == nil {
			f.add("options[%d]: instance type or offering is nil; set both", i)
		}
	}
	if len(f.errs) == 0 {
		return nil
	}
	return &Error{Op: "Create", Kind: KindDenied, Object: r.Name, Err: errors.Join(f.errs...)}
}
