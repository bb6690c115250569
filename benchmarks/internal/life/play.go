package life

import (
	"context"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Tick is the default length of a turn.
const Tick = 5 * time.Second

// Contender is a node autoscaler.
type Contender interface {
	// Step runs one turn at the time of the cluster: the contender reads the cluster and acts on
	// it.
	Step(ctx context.Context) error
}

// Site is the cluster and the cloud that a contender works on.
type Site struct {
	Cluster  *simcluster.Cluster
	Provider cloudprovider.CloudProvider
	Pools    []*v1.NodePool
	// Every is Trace.Every.
	Every time.Duration
}

// Start makes a contender that has no other state than what is in the cluster.
type Start func(Site) (Contender, error)

// world is a play in progress.
type world struct {
	site      Site
	start     Start
	contender Contender
}

// Cluster returns the cluster that events change.
func (w *world) Cluster() *simcluster.Cluster { return w.site.Cluster }

// Restart replaces the contender by a new one.
func (w *world) Restart() (err error) {
	w.contender, err = w.start(w.site)
	return err
}

// Play plays a trace with a contender. scheduler binds the pods; nil is simcluster's own, which
// fills the fullest node first.
func Play(ctx context.Context, t *Trace, start Start, scheduler Scheduler) (*Figures, error) {
	cluster, err := simcluster.New(t.Cloud, t.Daemon, t.Workloads...)
	if err != nil {
		return nil, err
	}
	var fault error
	if scheduler != nil {
		cluster.Scheduler = func(c *simcluster.Cluster) {
			if err := scheduler.Schedule(c); err != nil && fault == nil {
				fault = err
			}
		}
	}
	w := &world{site: Site{Cluster: cluster, Provider: t.Provider, Pools: t.Pools, Every: t.Every}, start: start}
	if err := w.Restart(); err != nil {
		return nil, err
	}
	begin := cluster.Now()
	meter := newMeter(t, cluster)
	for events := t.Events; cluster.Now().Sub(begin) < t.Warmup+t.Length; {
		since := cluster.Now().Sub(begin)
		if since == t.Warmup {
			meter.begin()
		}
		var due []simcluster.Event
		due, events = simcluster.Due(events, since)
		for _, e := range due {
			if err := e.Happen(w); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Text, err)
			}
		}
		cluster.Advance(t.tick())
		if fault != nil {
			return nil, fault
		}
		if since >= t.Warmup {
			if err := meter.look(ctx); err != nil {
				return nil, err
			}
		}
		if err := w.contender.Step(ctx); err != nil {
			return nil, err
		}
		if since >= t.Warmup {
			if err := meter.turn(ctx); err != nil {
				return nil, err
			}
		}
	}
	return meter.figures(), nil
}
