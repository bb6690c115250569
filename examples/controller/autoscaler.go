package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
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
	passEvery   = 200 * time.Millisecond // shortest time between passes
	passAtLeast = time.Second            // longest time between passes, because time alone can change decisions
	lookEvery   = 10 * time.Second       // time between requests for what the cloud does not report by itself
	retryIn     = 20 * time.Second       // time until pods without a place are planned again
	steerEvery  = time.Minute            // time between rounds of steer without a proposal
	steerAtOnce = 200                    // number of changed pods after which steer runs at once
	stuckAfter  = 5 * time.Minute        // time without a pass
	sliceOfPass = time.Second            // time after which a part of a pass begins no further write of a pod
)

// autoscaler is one reconciler for the whole cluster: every change leads to a pass. All state that
// must survive is stored in the cluster; the fields are only caches.
type autoscaler struct {
	client.Client
	cloud                      cloudprovider.CloudProvider
	stock                      *availability.Cache // offerings that the cloud lacked
	events                     events.EventRecorder
	log                        *slog.Logger
	proposeEvery, confirmAfter time.Duration
	consolidation              disruption.ConsolidationOptions
	slice                      time.Duration // see some
	beside                     background    // calls that launch and end machines

	changes  atomic.Int64 // number of changes in the cluster
	lastPass atomic.Int64 // in nanoseconds; zero before the first

	versions    versions // nil without an API server to ask
	nextVersion time.Time
	kubernetes  string // version of the API server; empty while unknown

	last   *fleet.Fleet   // fleet of the previous pass
	window batcher.Window // window in which pods are collected for one plan
	owed   []owed         // planned NodeClaims that could not be stored yet

	nextLook    time.Time
	notices     []cloudprovider.Interruption
	instances   []*cloudprovider.Instance // of this pass; nil if the cloud was not asked
	drift       map[string]cloudprovider.Drift
	nextPropose time.Time
	nextChange  time.Time // first instant at which time alone may change a decision about nodes
	proposedAt  int64     // value of changes at the last proposal
	proposing   chan proposed
	catalogs    *disruption.CatalogCache
	decided     []decision
	unneeded    []string // nodes that the last proposal would remove if nothing held it back
	nextSteer   time.Time
	commands    command.Book

	figures *collectors
	pods    map[types.UID]*corev1.Pod // pods of the previous pass; nil before the first
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
	cloud = metrics.Provider(time.Now, guard.New(cloud), "cluster", func(list []metrics.Sample) { figures.take("cloud", list) })
	return &autoscaler{Client: c, cloud: cloud, figures: figures, stock: stock, events: recorder, log: log, last: &fleet.Fleet{}, slice: sliceOfPass}, nil
}

// Reconcile runs one pass. Disruption comes first: a node is closed before it could be opened.
// Machines are launched before pods are changed, because changing pods can take longer than
// booting. So that a pass stays short, no part waits for the cloud to launch or to end a machine,
// and none writes pods for longer than a slice. If a part fails, the error is logged, the other
// parts still run, and the next pass tries again.
func (a *autoscaler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	now := time.Now()
	if wait := passEvery - now.Sub(time.Unix(0, a.lastPass.Load())); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	a.lastPass.Store(now.UnixNano())
	a.beside.finish()
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

// safely turns a panic into an error, so that the other parts of the pass still run.
func safely(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	return do()
}

// alive returns an error if passes have begun and then stopped.
func (a *autoscaler) alive(now time.Time) error {
	last := a.lastPass.Load()
	if last == 0 || now.Sub(time.Unix(0, last)) < stuckAfter {
		return nil // it may not be the leader
	}
	return fmt.Errorf("the last pass began at %s", time.Unix(0, last).Format(time.RFC3339))
}

// look reads the notices of the cloud, and from time to time its machines and which of them have
// drifted. If one request fails, the others are still made. A machine that cannot be checked keeps
// its last result.
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
	claims := slices.DeleteFunc(slices.Clone(s.NodeClaims), func(c *v1.NodeClaim) bool { return c.Status.ProviderID == "" || c.DeletionTimestamp != nil })
	drifts := make([]cloudprovider.Drift, len(claims))
	errs = append(errs, each(len(claims), func(i int) (err error) {
		drifts[i], err = cloudprovider.IsDrifted(ctx, a.cloud, claims[i])
		if err == nil || errors.Is(err, cloudprovider.ErrNotFound) || errors.Is(err, cloudprovider.ErrUnsupported) {
			return nil
		}
		drifts[i] = a.drift[claims[i].Name]
		return err
	}))
	drift := make(map[string]cloudprovider.Drift, len(claims))
	for i, claim := range claims {
		drift[claim.Name] = drifts[i]
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

// keeper is a cloud with objects of its own, which are updated as often as its machines are read.
type keeper interface {
	keep(context.Context, *autoscaler, *snapshot) error
}

// annotator is a cloud that detects drift by annotations of NodeClaims.
type annotator interface {
	ClaimAnnotations(ctx context.Context, nodeClass string) (map[string]string, error)
}
