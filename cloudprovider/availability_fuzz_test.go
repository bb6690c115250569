package cloudprovider_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// A snapshot may come from a file. Whatever is in it, it is refused, or restored
// to what it says.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"Marks":[{"Scope":{"Zone":"zone-a"},"Reason":"NoStock","Since":"2026-01-02T15:00:00Z","Until":"2026-01-02T15:03:00Z"}]}`))
	f.Add([]byte(`{"Refusals":[{"Scope":{"Zone":"zone-a"},"Count":3,"Until":"2026-01-02T16:00:00Z"}]}`))
	f.Add([]byte(`{"Refusals":[{"Count":9223372036854775807,"Until":"9999-01-02T16:00:00Z"}]}`))
	f.Add([]byte(`{"Marks":[{},{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s cloudprovider.AvailabilitySnapshot
		if json.Unmarshal(text, &s) != nil {
			return
		}
		c := newClock()
		a := newAvailability(t, c, &cloudprovider.AvailabilityOptions{MaxTTL: time.Hour, ProbeBudget: 1})
		if a.Restore(s) != nil {
			require.Empty(t, a.Marks())
			return
		}
		for _, m := range a.Marks() {
			require.True(t, m.Until.After(c.Now()))
			require.Contains(t, s.Marks, m)
		}
		again := a.Snapshot()
		other := newAvailability(t, c, &cloudprovider.AvailabilityOptions{MaxTTL: time.Hour, ProbeBudget: 1})
		require.NoError(t, other.Restore(again))
		require.Equal(t, again, other.Snapshot())
		a.MarkUnavailable(scope{Zone: "zone-a"}, "NoStock")
		a.Launched(spotA)
		a.Admit(optionsFor(spotA))
	})
}
