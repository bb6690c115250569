package availability_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
)

var start = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

func newClock() *clock.FakeClock { return clock.NewFakeClock(start) }

type (
	scope = cloudprovider.Scope
	key   = cloudprovider.OfferingKey
)

func newCache(t testing.TB, c *clock.FakeClock, opts *availability.Options) *availability.Cache {
	t.Helper()
	a, err := availability.New(c.Now, opts)
	require.NoError(t, err)
	return a
}

func TestMarkEnds(t *testing.T) {
	c := newClock()
	a := newCache(t, c, nil)
	k := key{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	other := key{InstanceType: "m5.large", Zone: "zone-b", CapacityType: "spot"}
	_, marked := a.Unavailable(k)
	require.False(t, marked)

	want := availability.Mark{Scope: k.Scope(), Reason: "no stock", Since: start, Until: start.Add(3 * time.Minute)}
	require.Equal(t, want, a.MarkUnavailable(k.Scope(), "no stock"))
	m, marked := a.Unavailable(k)
	require.True(t, marked)
	require.Equal(t, want, m)
	require.Equal(t, "m5.large/zone-a/spot unavailable until 2026-01-02T15:03:00Z: no stock", m.String())
	_, marked = a.Unavailable(other)
	require.False(t, marked)

	c.Step(3*time.Minute - 1)
	_, marked = a.Unavailable(k)
	require.True(t, marked, "the last moment")
	c.Step(1)
	_, marked = a.Unavailable(k)
	require.False(t, marked, "the end itself")
	require.Empty(t, a.Marks())
	c.Step(-time.Hour)
	_, marked = a.Unavailable(k)
	require.False(t, marked, "a clock that steps back revives nothing")
}

func TestTimeToLive(t *testing.T) {
	hour := map[string]time.Duration{"QuotaExceeded": time.Hour}
	tests := []struct {
		name   string
		opts   availability.Options
		reason string
		want   time.Duration
	}{
		{"default", availability.Options{}, "x", 3 * time.Minute},
		{"own default", availability.Options{TTL: time.Minute, TTLByReason: hour}, "x", time.Minute},
		{"by reason", availability.Options{TTL: time.Minute, TTLByReason: hour}, "QuotaExceeded", time.Hour},
	}
	for _, tt := range tests {
		a := newCache(t, newClock(), &tt.opts)
		require.Equal(t, start.Add(tt.want), a.MarkUnavailable(scope{Zone: "zone-a"}, tt.reason).Until, tt.name)
	}
}

func TestOptionsAreCopied(t *testing.T) {
	opts := &availability.Options{TTLByReason: map[string]time.Duration{"x": time.Hour}}
	a := newCache(t, newClock(), opts)
	require.Equal(t, &availability.Options{TTLByReason: map[string]time.Duration{"x": time.Hour}}, opts)
	opts.TTL, opts.TTLByReason["x"] = time.Second, time.Second
	require.Equal(t, start.Add(time.Hour), a.MarkUnavailable(scope{Zone: "a"}, "x").Until)
	require.Equal(t, start.Add(3*time.Minute), a.MarkUnavailable(scope{Zone: "b"}, "y").Until)
}

func TestNewRefuses(t *testing.T) {
	a, err := availability.New(nil, &availability.Options{
		TTL: -1, TTLByReason: map[string]time.Duration{"b": 0, "a": -1, "c": 1}, MaxMarks: -1,
	})
	require.Nil(t, a)
	require.EqualError(t, err, `availability: now: nil; pass the clock, such as time.Now
availability: ttl: -1ns; use a time above zero, or zero for the default
availability: ttlByReason: a: -1ns; use a time above zero
availability: ttlByReason: b: 0s; use a time above zero
availability: maxMarks: -1; use a number above zero, or zero for the default`)
}

func TestMarkingAgain(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{TTLByReason: map[string]time.Duration{"long": time.Hour}})
	s := scope{Zone: "zone-a"}
	a.MarkUnavailable(s, "short")
	c.Step(time.Minute)
	require.Equal(t, availability.Mark{Scope: s, Reason: "long", Since: start, Until: start.Add(61 * time.Minute)}, a.MarkUnavailable(s, "long"))
	c.Step(time.Minute)
	require.Equal(t, availability.Mark{Scope: s, Reason: "long", Since: start, Until: start.Add(61 * time.Minute)}, a.MarkUnavailable(s, "short"), "the later end stays")
	require.Len(t, a.Marks(), 1)
	c.Step(59 * time.Minute)
	require.Empty(t, a.Marks())
}

func TestWidestKnowledgeWins(t *testing.T) {
	c := newClock()
	a := newCache(t, c, nil)
	k := key{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	a.MarkUnavailable(k.Scope(), "offering")
	m, _ := a.Unavailable(k)
	require.Equal(t, "offering", m.Reason)
	a.MarkUnavailable(scope{CapacityType: "spot"}, "capacity type")
	m, _ = a.Unavailable(k)
	require.Equal(t, "capacity type", m.Reason, "of one end, the first by scope")
	a.MarkUnavailable(scope{InstanceType: "m5.large"}, "type")
	m, _ = a.Unavailable(k)
	require.Equal(t, "capacity type", m.Reason, "whatever the order of marking")
	c.Step(time.Second)
	a.MarkUnavailable(scope{Zone: "zone-a"}, "zone")
	m, _ = a.Unavailable(k)
	require.Equal(t, "zone", m.Reason, "the last to end")
}

func TestMarkFromError(t *testing.T) {
	keyA := key{InstanceType: "a", Zone: "z", CapacityType: "spot"}
	keyB := key{InstanceType: "b", Zone: "z", CapacityType: "reserved", ReservationID: "cr-1"}
	full := func(reason string, after time.Duration, keys ...key) *cloudprovider.Error {
		return &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: reason, RetryAfter: after, Offerings: keys}
	}
	mark := func(s scope, reason string, ttl time.Duration) availability.Mark {
		return availability.Mark{Scope: s, Reason: reason, Since: start, Until: start.Add(ttl)}
	}
	account := full("Quota", 0, keyA)
	account.Scopes = []scope{{CapacityType: "spot"}}
	tests := []struct {
		name string
		err  error
		want []availability.Mark
	}{
		{"nil", nil, nil},
		{"another error", errors.New("x"), nil},
		{"the bare sentinel names nothing", cloudprovider.ErrInsufficientCapacity, nil},
		{"another kind", &cloudprovider.Error{Kind: cloudprovider.KindDenied, Offerings: []key{keyA}}, nil},
		{"one", full("NoStock", 0, keyA), []availability.Mark{mark(keyA.Scope(), "NoStock", 3*time.Minute)}},
		{"no reason", full("", 0, keyA), []availability.Mark{mark(keyA.Scope(), "InsufficientCapacity", 3*time.Minute)}},
		{"the cloud asks for more", full("NoStock", time.Hour, keyA), []availability.Mark{mark(keyA.Scope(), "NoStock", time.Hour)}},
		{"the cloud asks for less", full("NoStock", time.Second, keyA), []availability.Mark{mark(keyA.Scope(), "NoStock", 3*time.Minute)}},
		{"the cloud asks for ever", full("NoStock", math.MaxInt64, keyA), []availability.Mark{mark(keyA.Scope(), "NoStock", 24*time.Hour)}},
		{"keys that name half an offering", full("NoStock", 0, key{}, key{InstanceType: "a"}, key{Zone: "z", CapacityType: "spot"}, keyB),
			[]availability.Mark{mark(keyB.Scope(), "NoStock", 3*time.Minute)}},
		{"scopes too", account, []availability.Mark{mark(scope{CapacityType: "spot"}, "Quota", time.Hour), mark(keyA.Scope(), "Quota", time.Hour)}},
		{"wrapped and joined", fmt.Errorf("x: %w", errors.Join(full("NoStock", 0, keyB), errors.New("y"), &cloudprovider.Error{Err: full("Quota", 0, keyA, keyB)})),
			[]availability.Mark{mark(keyA.Scope(), "Quota", time.Hour), mark(keyB.Scope(), "Quota", time.Hour)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newCache(t, newClock(), &availability.Options{TTLByReason: map[string]time.Duration{"Quota": time.Hour}})
			require.Equal(t, tt.want, a.MarkFromError(tt.err))
			require.ElementsMatch(t, tt.want, a.Marks())
		})
	}
}

func TestApply(t *testing.T) {
	c := newClock()
	a := newCache(t, c, nil)
	small, big := large(), large()
	big.Name = "m5.xlarge"
	types := []*cloudprovider.InstanceType{small, big, nil}

	applied := a.Apply(types)
	require.Equal(t, types, applied)
	applied[0] = nil
	require.NotNil(t, types[0], "the slice is the caller's")

	a.MarkUnavailable(small.Offerings[2].Key(small.Name).Scope(), "")
	applied = a.Apply(types)
	require.Equal(t, large(), small, "input modified")
	require.Same(t, big, applied[1], "what is not marked is shared")
	require.Nil(t, applied[2])
	want := large()
	want.Offerings[2].Available = false
	require.Equal(t, want, applied[0])

	a.MarkUnavailable(scope{Zone: "zone-b"}, "")
	applied = a.Apply(types)
	require.Equal(t, []bool{true, true, false, false, false}, sold(applied[0]))
	require.Equal(t, []bool{true, true, true, false, false}, sold(applied[1]))

	c.Step(time.Hour)
	require.Same(t, small, a.Apply(types)[0])
	require.Empty(t, a.Apply(nil))

	a.MarkUnavailable(big.Offerings[4].Key(big.Name).Scope(), "")
	require.Same(t, big, a.Apply(types)[1], "it was not available anyhow")
}

func sold(t *cloudprovider.InstanceType) (all []bool) {
	for _, o := range t.Offerings {
		all = append(all, o.Available)
	}
	return all
}

func TestMemoryIsBounded(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{MaxMarks: 3, TTLByReason: map[string]time.Duration{"short": time.Second, "long": time.Hour}})
	for _, zone := range []string{"d", "b", "c"} {
		a.MarkUnavailable(scope{Zone: zone}, "")
	}
	a.MarkUnavailable(scope{Zone: "a"}, "long")
	require.Equal(t, []string{"zone=a", "zone=c", "zone=d"}, scopes(a), "the first to end goes; of one end, the first by scope")
	a.MarkUnavailable(scope{Zone: "e"}, "short")
	require.Equal(t, []string{"zone=a", "zone=c", "zone=d"}, scopes(a), "be it the new one")
	c.Step(10 * time.Minute)
	a.MarkUnavailable(scope{Zone: "f"}, "")
	require.Equal(t, []string{"zone=a", "zone=f"}, scopes(a), "what has ended makes room first")
}

func scopes(a *availability.Cache) (all []string) {
	for _, m := range a.Marks() {
		all = append(all, m.Scope.String())
	}
	return all
}

// model is a Cache written for plainness: a list of marks, gone through
// in full each time.
type model struct {
	marks []availability.Mark
	max   int
}

func (m *model) expire(now time.Time) {
	var rest []availability.Mark
	for _, mark := range m.marks {
		if mark.Until.After(now) {
			rest = append(rest, mark)
		}
	}
	m.marks = rest
}

func (m *model) mark(s scope, now, until time.Time) {
	for i := range m.marks {
		if m.marks[i].Scope == s {
			if until.After(m.marks[i].Until) {
				m.marks[i].Until = until
			}
			return
		}
	}
	m.marks = append(m.marks, availability.Mark{Scope: s, Since: now, Until: until})
	if len(m.marks) <= m.max {
		return
	}
	first := 0
	for i, mark := range m.marks {
		if c := mark.Until.Compare(m.marks[first].Until); c < 0 || c == 0 && mark.Scope.Compare(m.marks[first].Scope) < 0 {
			first = i
		}
	}
	m.marks = append(m.marks[:first:first], m.marks[first+1:]...)
}

func (m *model) unavailable(k key) bool {
	for _, mark := range m.marks {
		s := mark.Scope
		if (s.InstanceType == "" || s.InstanceType == k.InstanceType) && (s.Zone == "" || s.Zone == k.Zone) &&
			(s.CapacityType == "" || s.CapacityType == k.CapacityType) && (s.ReservationID == "" || s.ReservationID == k.ReservationID) {
			return true
		}
	}
	return false
}

// Whatever is marked, the answers are those of the model.
func TestCacheAgainstModel(t *testing.T) {
	reasons := map[string]time.Duration{"short": 2 * time.Second, "long": 20 * time.Second}
	for seed := range int64(20) {
		r := rand.New(rand.NewSource(seed))
		c := newClock()
		m := &model{max: 1 + r.Intn(20)}
		a := newCache(t, c, &availability.Options{TTL: 7 * time.Second, TTLByReason: reasons, MaxMarks: m.max})
		for range 200 {
			k := allKeys()[r.Intn(16)]
			s := k.Scope()
			if r.Intn(3) > 0 {
				s = scope{}
				for _, part := range []struct{ to, from *string }{{&s.InstanceType, &k.InstanceType}, {&s.Zone, &k.Zone}, {&s.CapacityType, &k.CapacityType}, {&s.ReservationID, &k.ReservationID}} {
					if r.Intn(2) == 0 {
						*part.to = *part.from
					}
				}
			}
			c.Step(time.Duration(r.Intn(3)) * time.Second)
			m.expire(c.Now())
			reason := []string{"", "short", "long"}[r.Intn(3)]
			ttl := max(reasons[reason], 7*time.Second)
			if reason == "short" {
				ttl = reasons[reason]
			}
			a.MarkUnavailable(s, reason)
			m.mark(s, c.Now(), c.Now().Add(ttl))
			compare(t, a, m)
		}
	}
}

// compare asks both everything.
func compare(t *testing.T, a *availability.Cache, m *model) {
	t.Helper()
	types := catalogOf(allKeys())
	applied := a.Apply(types)
	for _, k := range allKeys() {
		want := m.unavailable(k)
		mark, got := a.Unavailable(k)
		if want != got || got && !mark.Scope.Covers(k) {
			t.Fatalf("%s unavailable: %t for %v, want %t with %v", k, got, mark, want, m.marks)
		}
		for _, it := range applied {
			if o, found := it.Offering(k); found && o.Available == want {
				t.Fatalf("%s applied: available %t with %v", k, o.Available, m.marks)
			}
		}
	}
	marks := a.Marks()
	require.Len(t, marks, len(m.marks))
	for i, mark := range marks {
		mark.Reason = ""
		if i > 0 && marks[i-1].Scope.Compare(mark.Scope) >= 0 || !slices.Contains(m.marks, mark) {
			t.Fatalf("mark %d of %v, want the marks %v by scope", i, marks, m.marks)
		}
	}
}

// catalogOf returns one instance type for each name among the keys.
func catalogOf(keys []key) (types []*cloudprovider.InstanceType) {
	byName := map[string]*cloudprovider.InstanceType{}
	for _, k := range keys {
		it := byName[k.InstanceType]
		if it == nil {
			it = &cloudprovider.InstanceType{Name: k.InstanceType}
			byName[k.InstanceType] = it
			types = append(types, it)
		}
		it.Offerings = append(it.Offerings, cloudprovider.Offering{
			Zone: k.Zone, CapacityType: k.CapacityType, ReservationID: k.ReservationID, Price: 1, Available: true,
		})
	}
	return types
}

func TestCacheConcurrently(t *testing.T) {
	c := newClock()
	a := newCache(t, c, &availability.Options{TTL: time.Second, MaxMarks: 8})
	types := catalogOf(allKeys())
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(worker)))
			for range 300 {
				k := allKeys()[r.Intn(16)]
				switch r.Intn(8) {
				case 0:
					a.MarkFromError(&cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Offerings: []key{k}})
				case 1:
					a.MarkUnavailable(scope{Zone: k.Zone}, "x")
				case 2:
					a.Launched(k)
					a.Admit(optionsFor(k))
				case 3:
					c.Step(100 * time.Millisecond)
				}
				a.Unavailable(k)
				if len(a.Apply(types)) != len(types) || len(a.Marks()) > 8 {
					t.Error("wrong size")
				}
			}
		})
	}
	wg.Wait()
	c.Step(time.Hour)
	require.Empty(t, a.Marks())
	require.Equal(t, types[0], a.Apply(types)[0])
}

// A look-up after the end of a mark removes the mark, even if the clock steps back afterwards.
func TestLookUpEndsMarks(t *testing.T) {
	c := newClock()
	a := newCache(t, c, nil)
	k := key{InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}
	a.MarkUnavailable(k.Scope(), "")
	c.Step(3 * time.Minute)
	_, marked := a.Unavailable(k)
	require.False(t, marked)
	c.Step(-time.Minute)
	_, marked = a.Unavailable(k)
	require.False(t, marked, "the clock stepped back")
}

// large returns a type with an offering of each kind.
func large() *cloudprovider.InstanceType {
	return &cloudprovider.InstanceType{
		Name: "m5.large",
		Offerings: []cloudprovider.Offering{
			{Zone: "zone-a", CapacityType: "on-demand", Price: 0.096, Available: true},
			{Zone: "zone-a", CapacityType: "reserved", ReservationID: "cr-1", Price: 0.0000001, Available: true, ReservationCapacity: 2},
			{Zone: "zone-a", CapacityType: "spot", Price: 0.035, Available: true},
			{Zone: "zone-b", CapacityType: "on-demand", Price: 0.096, Available: true},
			{Zone: "zone-b", CapacityType: "spot", Price: 0.033, Available: false},
		},
	}
}

// allKeys returns all keys of two names for each part.
func allKeys() (keys []key) {
	for i := range 16 {
		part := func(name string, bit int) string { return fmt.Sprint(name, i>>bit&1) }
		keys = append(keys, key{InstanceType: part("t", 0), Zone: part("z", 1), CapacityType: part("c", 2), ReservationID: part("r", 3)})
	}
	return keys
}
