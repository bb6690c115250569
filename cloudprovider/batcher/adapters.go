package batcher

import (
	"context"
	"errors"
	"fmt"
)

// ErrMissing is wrapped by the error of an item that the cloud's answer did not
// have.
var ErrMissing = errors.New("not in the answer")

// Distinct returns a Backend for a call that takes a list of ids and answers by
// id, such as one that describes or terminates instances. An id that several
// callers ask for is asked for once, at its first place, and all get the answer.
//
// A caller whose id is not in the map gets the error of missing, or one that
// wraps ErrMissing if missing is nil. If the call returns an error along with a
// map, ids in the map count as answered and the others get the error.
func Distinct[K, I comparable, R any](
	call func(ctx context.Context, key K, ids []I) (map[I]R, error), missing func(key K, id I) error,
) Backend[K, I, R] {
	if missing == nil {
		missing = func(_ K, id I) error { return fmt.Errorf("%v: %w", id, ErrMissing) }
	}
	return func(ctx context.Context, key K, items []I) ([]Outcome[R], error) {
		seen := make(map[I]bool, len(items))
		ids := make([]I, 0, len(items))
		for _, id := range items {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		answers, err := call(ctx, key, ids)
		outcomes := make([]Outcome[R], len(items))
		for i, id := range items {
			result, found := answers[id]
			switch {
			case found:
				outcomes[i].Result = result
			case err != nil:
				outcomes[i].Err = err
			default:
				outcomes[i].Err = missing(key, id)
			}
		}
		return outcomes, nil
	}
}
