package life

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Figures are the measurements of one play of a trace: see the package comment for how they are
// made.
type Figures struct {
	Length time.Duration
	// Bill is the cost of all machines, FromEmpty that of plans without existing nodes, and Bound the
	// lower bound of these plans; in USD.
	Bill, FromEmpty, Bound float64
	// Launches and Interruptions count machines.
	Launches, Interruptions int
	// Evictions counts pods; Lost counts pods that ended with their machine.
	Evictions, Lost, Preemptions int
	// PodDays is the total time of all pods, in days.
	PodDays float64
	// Pods is the number of pods that were bound or are pending at the end, and Pending the number of
	// those that are pending.
	Pods, Pending int
	// Median and P99 are quantiles of the waits.
	Median, P99 time.Duration
	// NodeHours is the total time of all machines, in hours, and EndNodes their number at the end.
	NodeHours float64
	EndNodes  int
	// EndRate and EndFromEmpty are the cost of the cluster and of the plan from empty at the end,
	// in USD per hour.
	EndRate, EndFromEmpty float64
}

// EvictionsPerPodDay returns the number of evictions and preemptions per pod and day.
func (f *Figures) EvictionsPerPodDay() float64 {
	if f.PodDays == 0 {
		return 0
	}
	return float64(f.Evictions+f.Preemptions) / f.PodDays
}

// Mean returns the mean of the figures of several plays: of each field by itself, so that the
// quantiles are means of quantiles. Counts are rounded. It panics if there are none.
func Mean(plays []*Figures) *Figures {
	out := *plays[0]
	to := reflect.ValueOf(&out).Elem()
	for i := range to.NumField() {
		sum := 0.0
		for _, f := range plays {
			sum += reflect.ValueOf(f).Elem().Field(i).Convert(reflect.TypeFor[float64]()).Float()
		}
		switch mean := sum / float64(len(plays)); to.Field(i).Kind() {
		case reflect.Int:
			to.Field(i).SetInt(int64(math.Round(mean)))
		default:
			to.Field(i).Set(reflect.ValueOf(mean).Convert(to.Field(i).Type()))
		}
	}
	return &out
}

// meter measures a play.
type meter struct {
	trace   *Trace
	cluster *simcluster.Cluster
	out     Figures

	began      time.Time
	waitsAt    int // waitsAt to hoursAt: the counters when measuring began
	evictedAt  int
	lostAt     int
	launchedAt int
	brokenAt   int // of interruptions
	hoursAt    float64

	prices     map[cloudprovider.OfferingKey]float64
	nextSample time.Time
	lastSample string // key of the pods and prices of the last plan from empty
	empty      float64
	bound      float64
}

func newMeter(t *Trace, c *simcluster.Cluster) *meter { return &meter{trace: t, cluster: c} }

// begin starts measuring.
func (m *meter) begin() {
	c, stats := m.cluster, m.cluster.Cloud.Stats()
	m.began, m.nextSample = c.Now(), c.Now()
	m.waitsAt, m.evictedAt, m.lostAt = len(c.Waits), c.Evicted, c.Lost
	m.launchedAt, m.brokenAt, m.hoursAt = stats.Launched, stats.Interrupted, stats.Hours
}

// look makes a plan from empty if one is due. It runs before the contender's turn: by then the
// controllers of workloads have replaced the pods evicted in the turn before.
func (m *meter) look(ctx context.Context) error {
	if m.cluster.Now().Before(m.nextSample) {
		return nil
	}
	m.nextSample = m.nextSample.Add(m.trace.Sample)
	return m.sample(ctx)
}

// turn adds the turn that has ended to the totals.
func (m *meter) turn(ctx context.Context) error {
	machines, err := m.cluster.Cloud.List(ctx)
	if err != nil {
		return err
	}
	rate := 0.0
	for _, i := range machines {
		rate += m.prices[i.OfferingKey()]
	}
	pods := 0
	for _, p := range m.cluster.Pods.All() {
		if p.Work != nil && p.DeletionTimestamp == nil {
			pods++
		}
	}
	m.out.Bill += rate * m.trace.tick().Hours()
	m.out.FromEmpty += m.empty * m.trace.tick().Hours()
	m.out.Bound += m.bound * m.trace.tick().Hours()
	m.out.PodDays += float64(pods) * m.trace.tick().Hours() / 24
	m.out.EndRate, m.out.EndFromEmpty, m.out.EndNodes = rate, m.empty, len(machines)
	return nil
}

// sample makes a plan from empty for the pods that should run now.
func (m *meter) sample(ctx context.Context) error {
	in, err := m.cluster.Emptied(ctx, m.trace.Pools)
	if err != nil {
		return err
	}
	types := in.InstanceTypes[m.trace.Pools[0].Name] // all pools have the same
	m.prices = simcluster.Prices(types)
	counts := map[string]int{}
	for _, p := range m.cluster.Pods.All() {
		if p.Work != nil && p.DeletionTimestamp == nil {
			counts[p.Work.Name+" "+p.Labels[simcluster.RevisionLabel]]++
		}
	}
	key := ""
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		key += fmt.Sprintln(name, counts[name])
	}
	for _, t := range types {
		for i := range t.Offerings {
			key += fmt.Sprintln(t.Offerings[i].Price, t.Offerings[i].Available)
		}
	}
	if key == m.lastSample {
		return nil
	}
	m.lastSample = key
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return err
	}
	m.empty, m.bound = plan.Cost, plan.LowerBound
	return nil
}

// figures returns the measurements.
func (m *meter) figures() *Figures {
	c, stats, out := m.cluster, m.cluster.Cloud.Stats(), m.out
	out.Length = c.Now().Sub(m.began)
	out.Launches, out.Interruptions, out.NodeHours = stats.Launched-m.launchedAt, stats.Interrupted-m.brokenAt, stats.Hours-m.hoursAt
	out.Evictions, out.Lost = c.Evicted-m.evictedAt, c.Lost-m.lostAt
	pending := c.Waiting()
	waits := slices.Concat(c.Waits[m.waitsAt:], pending)
	slices.Sort(waits)
	out.Pods, out.Pending = len(waits), len(pending)
	if len(waits) > 0 {
		out.Median, out.P99 = waits[(len(waits)-1)/2], waits[(len(waits)-1)*99/100]
	}
	return &out
}
