package instancetype_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

const day = 24 * time.Hour

var (
	learnedNoon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	large       = instancetype.Nodes{InstanceType: "m5.large", Image: "ami-1"}
)

func seen(mib int64, after time.Duration) instancetype.Observation {
	return instancetype.Observation{Nodes: large, Memory: mib << 20, At: learnedNoon.Add(after)}
}

func TestObserve(t *testing.T) {
	known, verdict := instancetype.Learned{}.Observe(seen(7700, 0), 8192)
	require.Equal(t, instancetype.VerdictNew, verdict)
	for _, c := range []struct {
		name    string
		o       instancetype.Observation
		machine int64
		verdict instancetype.Verdict
		mib     int64
		at      time.Duration
	}{
		{"lower", seen(7600, time.Hour), 8192, instancetype.VerdictLower, 7600, time.Hour},
		{"lower, reported late", seen(7600, -time.Hour), 8192, instancetype.VerdictLower, 7600, 0},
		{"same, soon", seen(7700, day-1), 8192, instancetype.VerdictSame, 7700, 0},
		{"same, a day later", seen(7700, day), 8192, instancetype.VerdictSame, 7700, day},
		{"higher", seen(7701, day), 8192, instancetype.VerdictHigher, 7700, 0},
		{"higher, out of date by then", seen(7701, 60*day+1), 8192, instancetype.VerdictNew, 7701, 60*day + 1},
		{"higher, just in date", seen(7701, 60*day), 8192, instancetype.VerdictHigher, 7700, 0},
		{"zero", seen(0, 0), 8192, instancetype.VerdictImplausible, 7700, 0},
		{"negative", seen(-1, 0), 0, instancetype.VerdictImplausible, 7700, 0},
		{"above the machine", seen(8193, 0), 8192, instancetype.VerdictImplausible, 7700, 0},
		{"below half of the machine", seen(4095, 0), 8192, instancetype.VerdictImplausible, 7700, 0},
		{"half of the machine", seen(4096, 0), 8192, instancetype.VerdictLower, 4096, 0},
		{"a machine that is not known", seen(1, 0), 0, instancetype.VerdictLower, 1, 0},
		{"no image", instancetype.Observation{Nodes: instancetype.Nodes{InstanceType: "m5.large"}, Memory: 1, At: learnedNoon}, 0, instancetype.VerdictNameless, 7700, 0},
		{"no type", instancetype.Observation{Nodes: instancetype.Nodes{Image: "ami-1"}, Memory: 1, At: learnedNoon}, 0, instancetype.VerdictNameless, 7700, 0},
	} {
		got, verdict := known.Observe(c.o, c.machine)
		require.Equal(t, c.verdict, verdict, c.name)
		require.Equal(t, []instancetype.Observation{seen(c.mib, c.at)}, got.All(), c.name)
		require.Equal(t, []instancetype.Observation{seen(7700, 0)}, known.All(), "the receiver does not change")
	}
}

func TestMemoryByImage(t *testing.T) {
	l, _ := instancetype.Learned{}.Observe(seen(7700, 0), 8192)
	memory, ok := l.Memory(learnedNoon.Add(60*day), large)
	require.True(t, ok)
	require.Equal(t, int64(7700<<20), memory)
	_, ok = l.Memory(learnedNoon.Add(60*day+1), large)
	require.False(t, ok, "out of date")
	_, ok = l.Memory(learnedNoon, instancetype.Nodes{InstanceType: "m5.large", Image: "ami-2"})
	require.False(t, ok, "another image")

	require.Len(t, l.All(), 1)
	require.Equal(t, "m5.large with ami-1: 8074035200 bytes", l.All()[0].String())
}

// Whatever the order of reports within their time, the least one remains.
func TestObserveConverges(t *testing.T) {
	orders := [][]int64{{7700, 7600, 7650}, {7650, 7700, 7600}, {7600, 7650, 7700}, {7700, 7650, 7600}}
	for _, order := range orders {
		var l instancetype.Learned
		for _, mib := range order {
			l, _ = l.Observe(seen(mib, 0), 8192)
		}
		require.Equal(t, []instancetype.Observation{seen(7600, 0)}, l.All())
	}
}

func TestLearnedJSON(t *testing.T) {
	var l instancetype.Learned
	l, _ = l.Observe(instancetype.Observation{Nodes: instancetype.Nodes{InstanceType: "m5.xlarge", Image: "ami-1"}, Memory: 5, At: learnedNoon.Add(1)}, 0)
	l, _ = l.Observe(seen(7700, 0), 8192)
	text, err := json.Marshal(l)
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"nodes":[`+
		`{"instanceType":"m5.large","image":"ami-1","memoryBytes":8074035200,"at":"2026-01-02T12:00:00Z"},`+
		`{"instanceType":"m5.xlarge","image":"ami-1","memoryBytes":5,"at":"2026-01-02T12:00:00Z"}]}`, string(text))
	back, err := instancetype.ParseLearned(text)
	require.NoError(t, err)
	again, err := json.Marshal(back)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))

	empty, err := json.Marshal(instancetype.Learned{})
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"nodes":[]}`, string(empty))
}

func TestParseLearnedFaults(t *testing.T) {
	for text, want := range map[string][]string{
		``:                               {"learned memory"},
		`[]`:                             {"learned memory"},
		`{"nodes":[]}`:                   {"version: 0; use 1"},
		`{"version":2}`:                  {"version: 2; use 1"},
		`{"version":1,"Nodes":[],"x":1}`: {`"Nodes"`, `"x"`},
		`{"version":1,"nodes":[{"instanceType":"a","image":"b","memoryBytes":1,"at":"9999-12-31T23:59:59-14:00"}]}`: {"nodes[0] (a, b): at: outside of the years 1 to 9999"},
		`{"version":1,"nodes":[{}]}`: {"nodes[0] (, ): instanceType: empty", "image: empty", "memoryBytes: not above zero", "at: missing"},
		`{"version":1,"nodes":[{"instanceType":"a.b","image":"i","memoryBytes":1,"at":"2026-01-02T12:00:00Z"},` +
			`{"instanceType":"a.b","image":"i","memoryBytes":2,"at":"2026-01-02T12:00:00Z"}]}`: {"nodes[1] (a.b, i): listed twice"},
	} {
		got, err := instancetype.ParseLearned([]byte(text))
		require.Error(t, err, text)
		for _, part := range want {
			require.ErrorContains(t, err, part, text)
		}
		require.Empty(t, got.All(), text)
	}
}

func FuzzParseLearned(f *testing.F) {
	f.Add([]byte(`{"version":1,"nodes":[{"instanceType":"m5.large","image":"ami-1","memoryBytes":1,"at":"2026-01-02T12:00:00Z"}]}`))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"version":1,"nodes":[{"at":"9999-12-31T23:59:59-14:00","instanceType":"a","image":"b","memoryBytes":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := instancetype.ParseLearned(data)
		if err != nil {
			require.Empty(t, l.All())
			return
		}
		text, err := json.Marshal(l)
		require.NoError(t, err)
		back, err := instancetype.ParseLearned(text)
		require.NoError(t, err)
		require.Equal(t, l.All(), back.All())
	})
}

func FuzzParseShare(f *testing.F) {
	f.Add("0.075")
	f.Add("00000.1")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := instancetype.ParseShare(text)
		if err != nil {
			return
		}
		require.Less(t, int64(s), int64(1_000_000))
		require.GreaterOrEqual(t, int64(s), int64(0))
		back, err := instancetype.ParseShare(s.String())
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}
