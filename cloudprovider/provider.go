package cloudprovider

import (
	"context"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// CloudProvider manages the machines of one cluster in one cloud account. The method set is frozen:
// later additions are abilities (see the package comment). A wrapper around another CloudProvider
// should have a method
//
//	Unwrap() CloudProvider
//
// so that the abilities of the inner provider stay visible; see [As].
//
// Rules for all methods:
//
//   - Concurrency: any number of calls may run at once.
//   - Context: a method returns soon after ctx is done, with an error that wraps ctx.Err(), even if
//     it has the answer. The cloud may still carry out the operation.
//   - Ownership: arguments are read-only, and not kept after the call, except
//     that a LaunchRequest's Options may be. Results are read-only for caller
//     and provider alike; the provider may hand out the same pointers again.
//   - Retries: a provider does not repeat calls beyond the retries of its client library. The
//     caller decides by the Kind of the error.
//   - Errors are *Error or wrap one, whatever the cause; see Kind for how to react to each kind. A
//     malformed argument is KindDenied.
type CloudProvider interface {
	// InstanceTypes returns every instance type that the node class of pool, which is
	// pool.Spec.Template.Spec.NodeClassRef, can boot, sorted by name, each with its offerings in
	// the order of OfferingKey. Types and offerings that cannot be launched now are included, with
	// Available false, because drift and pricing need them. The requirements of pool do not filter
	// the result; the caller does that.
	//
	// It is called often, so a provider answers from a cache and picks up changed prices and stock
	// within minutes. Order and content must depend only on the state of the cloud.
	//
	// Errors: KindNotFound if the node class does not exist, KindNotReady if it is not ready,
	// KindUnsupported if its group or kind belongs to another provider, KindDenied if pool names
	// none or is nil. An incomplete catalog is an error, not a short list.
	InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*InstanceType, error)

	// Create launches one machine by one of req.Options and returns it as soon as the cloud has
	// accepted and named it. It does not wait for the machine to boot.
	//
	// Options are in order of preference. A provider may pass several to the cloud at once and let
	// it choose, and may leave out options from the end that exceed the limit of one call. It never
	// launches anything that is not in Options; an unknown option is an error.
	//
	// Create is idempotent on req.Token: a repeated call with the same token, concurrent, later, or
	// after a restart of the provider, returns the instance of the first, even if other fields of
	// req differ. No token ever has two machines at a time. So the token is stored with the
	// machine, as a tag, and not in memory; a cloud with client tokens gets it too. After an error
	// of KindUnknown or a cancelled context a machine may exist; repeat with the same token to find
	// out. Once the instance of a token is deleted, a repeated call may return KindNotFound or
	// launch a new machine.
	//
	// Errors: KindInsufficientCapacity if every option tried was refused for
	// lack of stock or quota, with Error.Offerings naming those refused;
	// KindNotReady and KindNotFound for the node class; KindDenied for a
	// request that will never work as it is; KindThrottled.
	Create(ctx context.Context, req LaunchRequest) (*Instance, error)

	// Delete asks the cloud to terminate the instance and returns nil once the cloud has accepted.
	// It does not wait. While the instance is going down further calls return nil; once it is gone,
	// and for an id that never existed or belongs to another cluster, they return KindNotFound. So
	// deletion is complete exactly when Delete (or Get) returns ErrNotFound.
	Delete(ctx context.Context, id string) error

	// Get returns the instance as the cloud sees it now, not from a cache, with Deleting set while
	// it goes down. Once it is gone, and for an id that never existed or belongs to another
	// cluster, the error is KindNotFound. An instance just returned by Create is found, even if the
	// cloud lists it late.
	Get(ctx context.Context, id string) (*Instance, error)

	// List returns every instance of the cluster, sorted by ID, including those that are going down
	// (Deleting) and excluding those that are gone. An instance is of the cluster if any process of
	// this provider has created it for the cluster at any time: the machines that Create tagged
	// with the name of the cluster. An instance just created may be missing for some seconds, so a
	// garbage collector must keep NodeClaims that are younger than that. A list that cannot be
	// completed is an error, never a short list: the caller deletes the NodeClaims of instances
	// that are missing.
	List(ctx context.Context) ([]*Instance, error)
}
