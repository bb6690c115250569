package main

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/edits"
)

// errStale is that somebody else has written an object meanwhile: the next pass sees it.
var errStale = errors.New("the object has changed meanwhile")

func stale(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errStale
	}
	return err
}

// store sends what differs between an object as it was read and as it should be. It is
// refused if somebody has written the object meanwhile.
func (a *autoscaler) store(ctx context.Context, before, after client.Object) error {
	requests, err := edits.Requests(before, after)
	if err != nil {
		return err
	}
	version := before.GetResourceVersion()
	for _, r := range requests {
		sent, patch := copyOf(before), client.RawPatch(types.MergePatchType, r.Patch(version))
		if r.Subresource == "" {
			err = a.Patch(ctx, sent, patch)
		} else {
			err = a.Status().Patch(ctx, sent, patch)
		}
		if err != nil {
			return stale(err)
		}
		version = sent.GetResourceVersion()
	}
	return nil
}

func copyOf(o client.Object) client.Object { return o.DeepCopyObject().(client.Object) }

// storeClaim and storeNode store what the library returned: the object itself where
// there is nothing to store.
func (a *autoscaler) storeClaim(ctx context.Context, before, after *v1.NodeClaim) error {
	if before == after || before == nil {
		return nil
	}
	return a.store(ctx, before, after)
}

func (a *autoscaler) storeNode(ctx context.Context, before, after *corev1.Node) error {
	if before == after || before == nil {
		return nil
	}
	return a.store(ctx, before, after)
}

// remove deletes an object, if it is still the one that was read.
func (a *autoscaler) remove(ctx context.Context, o client.Object) error {
	if o.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := o.GetUID()
	return stale(a.Delete(ctx, copyOf(o), client.Preconditions{UID: &uid}))
}

// release takes the finalizer off.
func (a *autoscaler) release(ctx context.Context, o client.Object) error {
	after := copyOf(o)
	after.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == v1.TerminationFinalizer }))
	if len(after.GetFinalizers()) == len(o.GetFinalizers()) {
		return nil
	}
	return a.store(ctx, o, after)
}

// each does something for each of n things, some at a time.
func each(n int, do func(int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = safely(func() error { return do(i) })
		})
	}
	wait.Wait()
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, errStale) })...)
}

// tell writes an event.
func (a *autoscaler) tell(about runtime.Object, kind, reason, action, format string, args ...any) {
	a.events.Eventf(about, nil, kind, reason, action, format, args...)
}
