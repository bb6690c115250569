package fake_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// player does random things to a cloud.
type player struct {
	cloud  *fake.Cloud
	r      *rand.Rand
	types  []*cloudprovider.InstanceType
	tokens int

	mu   *sync.Mutex
	ids  map[string]string // token to instance, as Create said
	errs []string
}

const stockOfEach, inCatalog = 3, 2

// lawCloud returns a cloud in which everything can happen.
func lawCloud(t testing.TB, seed uint64) *fake.Cloud {
	t.Helper()
	cloud := world(t, fake.Options{
		Seed: seed,
		Timing: fake.Timing{Launch: fake.Span{Max: minute}, Registration: fake.Span{Max: 10 * second}, Initialization: fake.Span{Max: minute},
			Shutdown: fake.Span{Max: 2 * minute}, Reboot: fake.Span{Max: minute}},
		InstanceTypes: withReservation(t, inCatalog),
		Stock:         []fake.Stock{{Count: stockOfEach}},
		Spot:          fake.Spot{Every: minute, Swing: 0.3, Lifetime: time.Hour},
	})
	ice := &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity}
	require.NoError(t, cloud.Script(
		fake.Fault{Op: "create", Percent: 15, Err: fake.ErrLost}, fake.Fault{Op: "create", Percent: 10, Err: fake.ErrTwice},
		fake.Fault{Zone: "b", Every: 5, Err: ice}, fake.Fault{Op: "delete", Percent: 20, Err: fake.ErrLost},
		fake.Fault{Percent: 5, Err: fake.Delay(7 * second)}, fake.Fault{Op: "create", Every: 9, Err: fake.ErrStalled},
		fake.Fault{Op: "create", Percent: 20, Err: fake.Refusal{Scope: cloudprovider.Scope{CapacityType: "spot"}}}, fake.Fault{Op: "acknowledge", Percent: 30, Err: cloudprovider.ErrThrottled},
	))
	return cloud
}

// move does one thing.
func (p *player) move(ctx context.Context) {
	switch n := p.r.IntN(20); {
	case n < 7:
		p.create(ctx)
	case n < 10:
		p.cloud.Advance(time.Duration(p.r.IntN(300)) * second)
	case n < 13:
		if id := p.anyID(ctx); id != "" {
			_ = p.cloud.Delete(ctx, id) // also what is gone
		}
	case n == 13:
		if id := p.anyID(ctx); id != "" {
			_ = p.cloud.Reboot(ctx, id, fmt.Sprint(p.r.IntN(50)))
		}
	case n == 14:
		notices, _ := p.cloud.Interruptions(ctx)
		_ = cloudprovider.Acknowledge(ctx, p.cloud, notices...)
	case n == 15:
		p.cloud.Nodes()
	default:
		target := fake.Target{Count: p.r.IntN(3) + 1}
		actions := []fake.Action{
			{Target: target, Notice: cloudprovider.InterruptionSpot, Warning: minute}, {Target: target, Notice: cloudprovider.InterruptionStopping},
			{Target: target, Notice: cloudprovider.InterruptionMaintenance, Warning: minute}, {Target: target, Notice: cloudprovider.InterruptionRebalance},
			{Target: target, Notice: cloudprovider.InterruptionReservation}, {Target: target, Mend: true},
			{Target: target, Break: fake.NodeFault{Type: "Ready", Status: corev1.ConditionFalse, CuredByReboot: true}},
			{Reservation: fake.Reservation{ID: "cr", Capacity: inCatalog + p.r.IntN(2)}}, {Image: fake.Image{ID: fmt.Sprint("v", p.r.IntN(5)), Architecture: "x86_64"}},
		}
		if err := p.cloud.After(time.Duration(p.r.IntN(100))*second, actions[p.r.IntN(len(actions))]); err != nil {
			p.fault("%v", err)
		}
	}
}

func (p *player) create(ctx context.Context) {
	where := []string{"", m5, spotA, anySp, inReservation, inA}[p.r.IntN(6)]
	token := fmt.Sprint("t", p.r.IntN(p.tokens))
	instance, err := p.cloud.Create(ctx, cloudprovider.LaunchRequest{
		Token: token, Name: token, NodeClassRef: v1.NodeClassReference{Name: "default"}, Options: launch.Compatible(p.types, requirements.MustParse(where)),
	})
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, known := p.ids[token]; known && first != instance.ID {
		p.fault("token %s has both %s and %s", token, first, instance.ID)
	}
	p.ids[token] = instance.ID
}

func (p *player) fault(format string, args ...any) {
	p.errs = append(p.errs, fmt.Sprintf(format, args...))
}

func (p *player) anyID(ctx context.Context) string {
	list, err := p.cloud.List(ctx)
	if err != nil || len(list) == 0 {
		return ""
	}
	return list[p.r.IntN(len(list))].ID
}

// books are what the log tells.
type books struct {
	launched map[string]string // instance to offering
	gone     map[string]bool
	lost     map[string]int // places by offering that went to somebody else
}

func booksOf(t testing.TB, cloud *fake.Cloud) books {
	t.Helper()
	b := books{launched: map[string]string{}, gone: map[string]bool{}, lost: map[string]int{}}
	reason, byToken := map[string]string{}, map[string]int{}
	events := cloud.Events()
	for i, e := range events {
		require.False(t, i > 0 && e.At.Before(events[i-1].At), "events are in order: %v", e)
		switch e.Kind {
		case fake.EventLaunched:
			b.launched[e.InstanceID], _, _ = strings.Cut(e.Detail, " at ")
			byToken[e.Object]++
			require.Equal(t, 1, byToken[e.Object], "one machine for token %s", e.Object)
		case fake.EventDeleting:
			require.Empty(t, reason[e.InstanceID], "it goes down once")
			reason[e.InstanceID] = e.Detail
		case fake.EventGone:
			require.False(t, b.gone[e.InstanceID], "it is gone once")
			b.gone[e.InstanceID] = true
			if r := reason[e.InstanceID]; r != "asked for" && r != "terminated by somebody else" {
				b.lost[b.launched[e.InstanceID]]++
			}
		}
	}
	return b
}

// checkBooks compares what the cloud says with what its log tells.
func checkBooks(t *testing.T, cloud *fake.Cloud) {
	t.Helper()
	cloud.ClearScript()
	b, stats := booksOf(t, cloud), cloud.Stats()
	require.Len(t, b.launched, stats.Launched)
	require.Len(t, b.gone, stats.Terminated)

	list := listed(t, cloud)
	require.True(t, slices.IsSortedFunc(list, func(a, b *cloudprovider.Instance) int { return strings.Compare(a.ID, b.ID) }))
	require.Len(t, list, stats.Launched-stats.Terminated, "what was launched is there or gone")
	held, inReserve, names := map[string]int{}, 0, map[string]bool{}
	for n, i := range list {
		require.Equal(t, b.launched[i.ID], i.OfferingKey().String())
		require.False(t, b.gone[i.ID])
		held[b.launched[i.ID]]++
		names[i.ID[strings.LastIndex(i.ID, "/")+1:]] = true
		if i.ReservationID != "" {
			inReserve++
		}
		if n < 10 {
			got, err := cloud.Get(t.Context(), i.ID)
			require.NoError(t, err)
			require.Same(t, i, got)
		}
	}
	for _, n := range cloud.Nodes() {
		require.True(t, names[n.Name], "a node has a machine")
	}
	for _, it := range catalogOf(t, cloud) {
		for i := range it.Offerings {
			key := it.Offerings[i].Key(it.Name)
			want := stockOfEach - held[key.String()] - b.lost[key.String()]
			require.GreaterOrEqual(t, want, 0, "more were sold than there were of %s", key)
			if key.ReservationID != "" {
				left := it.Offerings[i].ReservationCapacity
				require.Contains(t, []int{max(inCatalog-inReserve, 0), max(inCatalog+1-inReserve, 0)}, left)
				want = min(want, left)
			}
			require.Equal(t, want, freeOf(t, cloud, key), key)
		}
	}
}

// Whatever is done to a cloud, in whatever order: the machines listed are those
// launched less those gone, stock is never below zero and adds up, no token has
// two machines, and the same again comes out the same.
func TestLaws(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			run := func() *player {
				p := &player{cloud: lawCloud(t, seed), r: rand.New(rand.NewPCG(seed, 1)), tokens: 60, mu: &sync.Mutex{}, ids: map[string]string{}}
				p.types = catalogOf(t, p.cloud)
				for range 200 {
					p.move(t.Context())
				}
				return p
			}
			p := run()
			require.Empty(t, p.errs)
			require.Equal(t, p.cloud.Log(), run().cloud.Log())
			checkBooks(t, p.cloud)
		})
	}
}

// The same with several at once. Run with -race.
func TestLawsAtOnce(t *testing.T) {
	for seed := range uint64(8) {
		cloud := lawCloud(t, seed)
		types := catalogOf(t, cloud)
		ids, mu := map[string]string{}, &sync.Mutex{}
		var wg sync.WaitGroup
		var players []*player
		for n := range uint64(6) {
			p := &player{cloud: cloud, types: types, r: rand.New(rand.NewPCG(seed, n)), tokens: 40, mu: mu, ids: ids}
			players = append(players, p)
			wg.Go(func() {
				for range 60 {
					p.move(t.Context())
				}
			})
		}
		wg.Wait()
		for _, p := range players {
			require.Empty(t, p.errs)
		}
		checkBooks(t, cloud)
	}
}
