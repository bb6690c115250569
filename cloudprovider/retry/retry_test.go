package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
)

func TestNext(t *testing.T) {
	throttled := &cloudprovider.Error{Kind: cloudprovider.KindThrottled}
	slow := &cloudprovider.Error{Kind: cloudprovider.KindThrottled, RetryAfter: 5 * time.Minute}
	broken := errors.New("connection reset")
	for _, test := range []struct {
		name    string
		attempt int
		err     error
		delay   time.Duration // before it is lengthened
		giveUp  bool
	}{
		{"no error", 1, nil, 0, true},
		{"cancelled", 1, fmt.Errorf("create: %w", context.Canceled), 0, true},
		{"timed out", 1, context.DeadlineExceeded, 500 * time.Millisecond, false},
		{"gone", 1, cloudprovider.ErrNotFound, 0, true},
		{"denied", 1, cloudprovider.ErrDenied, 0, true},
		{"unsupported", 1, errors.ErrUnsupported, 0, true},
		{"no stock", 1, cloudprovider.ErrInsufficientCapacity, 0, true},
		{"not ready", 1, cloudprovider.ErrNotReady, 5 * time.Second, false},
		{"not ready for long", 9, cloudprovider.ErrNotReady, time.Minute, false},
		{"throttled", 3, throttled, 4 * time.Second, false},
		{"the cloud asks for more", 1, slow, 5 * time.Minute, false},
		{"unknown", 2, broken, time.Second, false},
		{"attempts below one", -7, broken, 500 * time.Millisecond, false},
		{"a huge attempt", math.MaxInt, broken, 30 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			delay, giveUp := retry.Delay(test.attempt, test.err, "claim-7")
			require.GreaterOrEqual(t, delay, test.delay)
			require.LessOrEqual(t, delay, test.delay*6/5)
			require.Equal(t, test.giveUp, giveUp)
		})
	}
}

// Jitter only lengthens, within its bound; it is the same for the same token and
// attempt, and spread out over tokens.
func TestLawJitter(t *testing.T) {
	err := errors.New("broken")
	seen := map[time.Duration]bool{}
	var sum time.Duration
	const tokens = 2000
	for i := range tokens {
		token := fmt.Sprint("claim-", i)
		delay, _ := retry.Delay(1, err, token)
		again, _ := retry.Delay(1, err, token)
		require.Equal(t, delay, again)
		require.GreaterOrEqual(t, delay, 500*time.Millisecond)
		require.Less(t, delay, 600*time.Millisecond)
		seen[delay] = true
		sum += delay
		slow, _ := retry.Delay(1, &cloudprovider.Error{RetryAfter: time.Hour}, token)
		require.GreaterOrEqual(t, slow, time.Hour, "never before the cloud said")
	}
	require.Greater(t, len(seen), tokens*99/100)
	require.InDelta(t, 550, float64(sum.Milliseconds())/tokens, 5)
	one, _ := retry.Delay(1, err, "")
	two, _ := retry.Delay(2, err, "")
	require.NotEqual(t, 2*one, two, "attempts differ")
	huge, _ := retry.Delay(1, &cloudprovider.Error{RetryAfter: math.MaxInt64}, "x")
	require.Equal(t, time.Duration(math.MaxInt64), huge, "no overflow")
}

func ExampleDelay() {
	calls := []error{cloudprovider.ErrThrottled, cloudprovider.ErrThrottled, errors.New("connection reset"), cloudprovider.ErrDenied}
	for i, err := range calls {
		delay, giveUp := retry.Delay(i+1, err, "claim-7")
		fmt.Println(err, delay.Round(time.Second), giveUp)
	}
	// Output:
	// throttled 1s false
	// throttled 2s false
	// connection reset 2s false
	// denied 0s true
}
