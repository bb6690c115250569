package cache_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
)

// An answer outlives the source that gave it.
func ExampleCell() {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	zones := cache.NewCell(cache.Settings[[]string]{Name: "zones", Refresh: time.Minute, Now: func() time.Time { return now }})
	answer := func(context.Context) ([]string, error) { return []string{"a", "b"}, nil }
	failure := func(context.Context) ([]string, error) { return nil, errors.New("no route to host") }

	ctx := context.Background()
	got, reading, err := zones.Get(ctx, answer)
	fmt.Println(got, reading.Stale, err)
	now = now.Add(time.Hour)
	got, reading, err = zones.Get(ctx, failure) // it is asked beside the caller
	fmt.Println(got, reading.Stale, err)
	fmt.Println(zones.Renew(ctx)())
	got, reading, err = zones.Get(ctx, failure)
	fmt.Println(got, reading.Stale, err)
	// Output:
	// [a b] false <nil>
	// [a b] false <nil>
	// Read zones: unknown failure: no route to host
	// [a b] true <nil>
}
