package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/metrics"
)

const (
	passEvery   = 200 * time.Millisecond // at the most
	passAtLeast = time.Second            // even if nothing has changed: time passes
	lookEvery   = 10 * time.Second       // at what the cloud does not tell by itself
	retryIn     = 20 * time.Second       // for pods that found no place
	steerEvery  = time.Minute            // the pods that come and go by themselves
	steerAtOnce = 200                    // pods
	stuckAfter  = 5 * time.Minute        // without a pass
)

// autoscaler is one reconciler for the whole cluster: every change leads to a pass.
// What must not be lost is in the cluster. The fields may be lost at any moment.
type autoscaler struct {
	client.Client
	cloud                      cloudprovider.CloudProvider
	stock                      *availability.Cache // what the cloud was out of
	events                     events.EventRecorder
	log                        *slog.Logger
	proposeEvery, confirmAfter time.Duration

	changes  atomic.Int64 // in the cluster
	lastPass atomic.Int64 // in nanoseconds; zero before the first

	versions    versions // nil without an API server to ask
	nextVersion time.Time
	kubernetes  string // the version of the API server; empty while it is not known

	last   *fleet.Fleet   // of the pass before
	window batcher.Window // of pods that wait for a plan
	owed   []owed         // NodeClaims of plans that could not be stored

	nextLook    time.Time
	notices     []cloudprovider.Interruption
	instances   []*cloudprovider.Instance // of this pass; nil if the cloud was not asked
	drift       map[string]cloudprovider.Drift
	nextPropose time.Time
	nextChange  time.Time // when time alone may change what to do with nodes
	proposedAt  int64     // changes by then
	proposing   chan proposed
	catalogs    *disruption.CatalogCache
	decided     []decision
	nextSteer   time.Time
	commands    command.Book

	figures *collectors
	pods    map[types.UID]*corev1.Pod // of the pass before; nil before the first
}

func newAutoscaler(c client.Client, cloud cloudprovider.CloudProvider, recorder events.EventRecorder, registry prometheus.Registerer, log *slog.Logger) (*autoscaler, error) {
	stock, err := availability.New(time.Now, nil)
	if err != nil {
		return nil, err
	}
	figures, err := newCollectors(registry)
	if err != nil {
		return nil, err
	}
	cloud = metrics.Provider(guard.New(cloud), "cluster", time.Now, func(list []metrics.Sample) { figures.take("cloud", list) })
	return &autoscaler{Client: c, cloud: cloud, figures: figures, stock: stock, events: recorder, log: log, last: &fleet.Fleet{}}, nil
}

// Reconcile is a pass. What ends comes first: a node is closed before it could be opened.
// Machines are launched before their pods are written to, which can take longer than they
// do to boot. A part that fails is logged, and keeps no other from its work: the next pass
// tries again.
func (a *autoscaler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	now := time.Now()
	if wait := passEvery - now.Sub(time.Unix(0, a.lastPass.Load())); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	a.lastPass.Store(now.UnixNano())
	s, err := a.snapshot(ctx, now)
	if err != nil {
		a.failed(ctx, "snapshot", err)
		return ctrl.Result{RequeueAfter: passAtLeast}, nil
	}
	a.watchStarts(s)
	for _, part := range []struct {
		name string
		do   func(context.Context, *snapshot) error
	}{
		{"version", a.askVersion}, {"look", a.look}, {"terminate", a.terminate}, {"launch", a.launch}, {"keep promises", a.keepPromises}, {"provision", a.provision},
		{"join", a.join}, {"propose", a.propose}, {"confirm", a.confirm}, {"advance", a.advance}, {"steer", a.steer}, {"status", a.status},
	} {
		started := time.Now()
		if err := safely(func() error { return part.do(ctx, s) }); err != nil {
			a.failed(ctx, part.name, err)
		}
		if took := time.Since(started); took > time.Second {
			a.log.Debug("slow", "part", part.name, "took", took)
		}
	}
	return ctrl.Result{RequeueAfter: passAtLeast}, nil
}

func (a *autoscaler) failed(ctx context.Context, part string, err error) {
	if ctx.Err() == nil && !errors.Is(err, errStale) {
		a.log.Warn("failed", "part", part, "error", err)
	}
}

// safely makes an error of a panic: one in a part keeps no other from its work.
func safely(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	return do()
}

// alive says what is wrong if passes have begun and do not come any more.
func (a *autoscaler) alive(now time.Time) error {
	last := a.lastPass.Load()
	if last == 0 || now.Sub(time.Unix(0, last)) < stuckAfter {
		return nil // it may not be the leader
	}
	return fmt.Errorf("the last pass began at %s", time.Unix(0, last).Format(time.RFC3339))
}

// look asks the cloud for its notices, and now and then for its machines and for what
// has drifted. What cannot be asked keeps nothing else from being asked, and a machine of
// which it cannot be known has drifted if it had before.
func (a *autoscaler) look(ctx context.Context, s *snapshot) error {
	var errs []error
	var err error
	a.instances = nil
	a.notices, err = cloudprovider.Interruptions(ctx, a.cloud)
	if err != nil && !errors.Is(err, cloudprovider.ErrUnsupported) {
		errs = append(errs, err)
	}
	s.Input.Interruptions = a.notices
	if s.Now.Before(a.nextLook) {
		return errors.Join(errs...)
	}
	a.nextLook = s.Now.Add(lookEvery)
	drift := map[string]cloudprovider.Drift{}
	for _, claim := range s.NodeClaims {
		if claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil {
			continue
		}
		d, err := cloudprovider.IsDrifted(ctx, a.cloud, claim)
		if err != nil && !errors.Is(err, cloudprovider.ErrNotFound) && !errors.Is(err, cloudprovider.ErrUnsupported) {
			errs, d = append(errs, err), a.drift[claim.Name]
		}
		drift[claim.Name] = d
	}
	a.drift = drift
	// Machines are listed after the NodeClaims were read, so one of a claim that is
	// newer looks like garbage: only what is older than a minute counts as such.
	if a.instances, err = a.cloud.List(ctx); err == nil && a.instances == nil {
		a.instances = []*cloudprovider.Instance{}
	}
	errs = append(errs, err)
	s.Input.Drift, s.Input.Instances, s.Input.InstancesAt = a.drift, a.instances, s.Now
	if k, ok := cloudprovider.As[keeper](a.cloud); ok {
		errs = append(errs, k.keep(ctx, a, s))
	}
	return errors.Join(errs...)
}

// keeper is a cloud with objects of its own, which are looked at as often as its machines.
type keeper interface {
	keep(context.Context, *autoscaler, *snapshot) error
}

// annotator is a cloud that knows a drifted machine by annotations of its NodeClaim.
type annotator interface {
	ClaimAnnotations(ctx context.Context, nodeClass string) (map[string]string, error)
}
