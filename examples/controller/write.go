package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/edits"
)

// errStale says that another writer has changed the object in the meantime: the next pass reads it.
var errStale = errors.New("the object has changed meanwhile")

func stale(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errStale
	}
	return err
}

// store sends the difference between an object as it was read and as it should be. It sends nothing
// if the two are equal. The API server refuses the write if another writer has changed the object
// in the meantime.
func store[T interface {
	client.Object
	comparable
}](ctx context.Context, api client.Client, before, after T) error {
	var none T
	if before == after || before == none {
		return nil
	}
	requests, err := edits.Requests(before, after)
	if err != nil {
		return err
	}
	version := before.GetResourceVersion()
	for _, r := range requests {
		sent, patch := copyOf(before), client.RawPatch(types.MergePatchType, r.Patch(version))
		if r.Subresource == "" {
			err = api.Patch(ctx, sent, patch)
		} else {
			err = api.Status().Patch(ctx, sent, patch)
		}
		if err != nil {
			return stale(err)
		}
		version = sent.GetResourceVersion()
	}
	return nil
}

func copyOf(o client.Object) client.Object { return o.DeepCopyObject().(client.Object) }

func (a *autoscaler) storeClaims(ctx context.Context, s *snapshot, claims []*v1.NodeClaim) error {
	return each(len(claims), func(i int) error { return store(ctx, a, s.Claim(claims[i].Name), claims[i]) })
}

// remove deletes an object, provided it is still the one that was read.
func (a *autoscaler) remove(ctx context.Context, o client.Object) error {
	if o.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := o.GetUID()
	return stale(a.Delete(ctx, copyOf(o), client.Preconditions{UID: &uid}))
}

// release removes the finalizer.
func (a *autoscaler) release(ctx context.Context, o client.Object) error {
	after := copyOf(o)
	controllerutil.RemoveFinalizer(after, v1.TerminationFinalizer)
	return store(ctx, a, o, after)
}

// each calls do for each number below n, several at the same time.
func each(n int, do func(int) error) error { return until(time.Time{}, n, do) }

// some is each for writes of which there may be thousands. It begins none after a.slice, so that other
// parts have their turn. The part that wrote decides on the others anew when it runs again.
func (a *autoscaler) some(n int, do func(int) error) error {
	return until(time.Now().Add(a.slice), n, do)
}

// until is each that begins no call but the first after an instant; zero is no limit.
func until(end time.Time, n int, do func(int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		if i > 0 && !end.IsZero() && time.Now().After(end) {
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = safely(func() error { return do(i) })
		})
	}
	wait.Wait()
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, errStale) })...)
}

// tell writes an event about an object.
func (a *autoscaler) tell(about runtime.Object, kind, reason, action, format string, args ...any) {
	a.events.Eventf(about, nil, kind, reason, action, format, args...)
}
