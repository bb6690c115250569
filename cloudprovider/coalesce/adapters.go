package coalesce

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

// Deal returns a Backend for a call whose results are as good as each other,
// such as one that launches as many machines of one shape as there are items.
// The results are dealt to the callers in the order in which they came.
//
// Callers for whom none is left get the error of the call, or one that wraps
// ErrMissing if the call returned fewer results and no error. What is left over
// when all callers have one goes to surplus, so that it can be given back; nil
// drops it.
func Deal[K comparable, I, R any](
	call func(ctx context.Context, key K, items []I) ([]R, error), surplus func(key K, left []R),
) Backend[K, I, R] {
	return func(ctx context.Context, key K, items []I) ([]Outcome[R], error) {
		count := len(items)
		results, err := call(ctx, key, items)
		if err == nil && len(results) < count {
			err = fmt.Errorf("%d of %d: %w", len(results), count, ErrMissing)
		}
		outcomes := make([]Outcome[R], count)
		for i := range outcomes {
			if i < len(results) {
				outcomes[i].Result = results[i]
			} else {
				outcomes[i].Err = err
			}
		}
		if len(results) > count && surplus != nil {
			surplus(key, results[count:])
		}
		return outcomes, nil
	}
}
