package cloudprovider

import (
	"context"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// CloudProvider is one cloud, account and cluster as far as nodes go. The
// method set is frozen: what comes later comes as a further ability (see the
// package comment). A wrapper around another CloudProvider should have a method
//
//	Unwrap() CloudProvider
//
// so that abilities of the inner one stay visible; see [As].
//
// Rules for all methods:
//
//   - Concurrency: any number of calls may run at once.
//   - Context: a method returns soon after ctx is done, with an error that
//     wraps ctx.Err(), also where it has the answer at hand. What it had
//     asked of the cloud may happen all the same.
//   - Ownership: arguments are read-only, and not kept after the call, except
//     that a LaunchRequest's Options may be. Results are read-only for caller
//     and provider alike; the provider may hand out the same pointers again.
//   - Retries: a provider retries what its client library retries by itself,
//     and no more. The caller decides on the rest by the Kind of the error.
//   - Errors are *Error or wrap one, whatever the cause; see Kind for what each
//     kind asks of the caller. A broken argument is KindDenied.
type CloudProvider interface {
	// InstanceTypes returns every instance type that the node class of pool, which
	// is pool.Spec.Template.Spec.NodeClassRef, can boot, sorted by name, each with
	// its offerings in the order of OfferingKey. Types and offerings that cannot be
	// had now are included, with Available false: drift and pricing look them up.
	// The requirements of pool do not filter the result; that is the caller's part.
	//
	// It is called often, so a provider answers from a cache and picks up
	// changed prices and stock within minutes. The order and content must not
	// depend on anything but the state of the cloud.
	//
	// Errors: KindNotFound if the node class does not exist, KindNotReady if
	// it is not ready, KindUnsupported if its group or kind belongs to another
	// provider, KindDenied if pool names none or is nil. A catalog that is
	// incomplete is an error, not a short list.
	InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*InstanceType, error)

	// Create launches one machine by one of req.Options and returns it, at the
	// latest when the cloud has accepted it and named it. It does not wait for
	// the machine to boot.
	//
	// Options are in order of preference. A provider may pass several to the
	// cloud at once and let it choose, and may leave out options beyond what
	// the cloud takes in one call, from the end. It never launches anything
	// that is not in Options, and an option that the cloud does not have is an error.
	//
	// Create is idempotent on req.Token: a repeated call with the same token,
	// concurrent, later, or after a restart of the provider, returns the
	// instance of the first, even if other fields of req differ. No token ever
	// has two machines at a time. So the token is kept with the machine, as a
	// tag, and not in memory; a cloud that takes tokens of its own gets it too.
	// After an error of KindUnknown or a cancelled context a machine may exist;
	// repeat with the same token to learn. Once the instance of a token is deleted,
	// a repeated call may return KindNotFound or launch afresh.
	//
	// Errors: KindInsufficientCapacity if every option tried was refused for
	// lack of stock or quota, with Error.Offerings naming those refused;
	// KindNotReady and KindNotFound for the node class; KindDenied for a
	// request that will never work as it is; KindThrottled.
	Create(ctx context.Context, req LaunchRequest) (*Instance, error)

	// Delete asks the cloud to terminate the instance and returns nil once
	// the cloud has accepted. It does not wait. While the instance is going
	// down further calls return nil; once it is gone, and for an id that never
	// existed or is not ours, they return KindNotFound. So deletion is complete
	// exactly when Delete (or Get) says ErrNotFound.
	Delete(ctx context.Context, id string) error

	// Get returns the instance as the cloud sees it now, not as a cache does,
	// with Deleting set while it goes down. Once it is gone, and for an id that
	// never existed or is not ours, the error is KindNotFound. An instance
	// just returned by Create is found, even where the cloud is slow to list
	// it.
	Get(ctx context.Context, id string) (*Instance, error)

	// List returns every instance of ours, sorted by ID, including those that
	// are going down (Deleting) and excluding those gone. Ours means created by
	// this provider for this cluster, by any process at any time: the machines
	// that Create tagged with the name of the cluster. An instance just created
	// may be missing for some seconds, so a collector of garbage must spare
	// NodeClaims that are younger than that. A list that cannot be
	// completed is an error, never a short list: the caller deletes the
	// NodeClaims of instances that are missing.
	List(ctx context.Context) ([]*Instance, error)
}
