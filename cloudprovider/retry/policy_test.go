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

func plain() retry.Policy {
	p := retry.Default()
	p.Jitter = 0
	return p
}

func TestNext(t *testing.T) {
	throttled := &cloudprovider.Error{Kind: cloudprovider.KindThrottled}
	slow := &cloudprovider.Error{Kind: cloudprovider.KindThrottled, RetryAfter: 5 * time.Minute}
	broken := errors.New("connection reset")
	bounded := plain()
	bounded.Rules[cloudprovider.KindUnknown] = retry.Rule{Base: time.Second, Attempts: 3}
	only := retry.Policy{Rules: map[cloudprovider.Kind]retry.Rule{cloudprovider.KindUnknown: {Base: time.Second}}}
	for _, test := range []struct {
		name    string
		policy  retry.Policy
		attempt int
		err     error
		delay   time.Duration
		giveUp  bool
	}{
		{"no error", plain(), 1, nil, 0, true},
		{"cancelled", plain(), 1, fmt.Errorf("create: %w", context.Canceled), 0, true},
		{"timed out", plain(), 1, context.DeadlineExceeded, 500 * time.Millisecond, false},
		{"gone", plain(), 1, cloudprovider.ErrNotFound, 0, true},
		{"denied", plain(), 1, cloudprovider.ErrDenied, 0, true},
		{"unsupported", plain(), 1, errors.ErrUnsupported, 0, true},
		{"no stock", plain(), 1, cloudprovider.ErrInsufficientCapacity, 0, true},
		{"not ready", plain(), 1, cloudprovider.ErrNotReady, 5 * time.Second, false},
		{"not ready for long", plain(), 9, cloudprovider.ErrNotReady, time.Minute, false},
		{"throttled", plain(), 3, throttled, 4 * time.Second, false},
		{"the cloud asks for more", plain(), 1, slow, 5 * time.Minute, false},
		{"unknown", plain(), 2, broken, time.Second, false},
		{"attempts below one", plain(), -7, broken, 500 * time.Millisecond, false},
		{"a huge attempt", plain(), math.MaxInt, broken, 30 * time.Second, false},
		{"no bound", only, 100, broken, math.MaxInt64, false},
		{"second of three", bounded, 2, broken, 2 * time.Second, false},
		{"third of three", bounded, 3, broken, 0, true},
		{"a kind without a rule", only, 1, throttled, time.Second, false},
		{"no rules", retry.Policy{}, 1, broken, 0, true},
		{"the zero rule", retry.Policy{Rules: map[cloudprovider.Kind]retry.Rule{"": {}}}, 1000, broken, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			delay, giveUp := test.policy.Next(test.attempt, test.err)
			require.Equal(t, test.delay, delay)
			require.Equal(t, test.giveUp, giveUp)
		})
	}
}

// Jitter only lengthens, within its bound; it is the same for the same seed and
// attempt, and spread out over tokens.
func TestLawJitter(t *testing.T) {
	p := retry.Default()
	p.Jitter = 0.5
	err := errors.New("broken")
	seen := map[time.Duration]bool{}
	var sum time.Duration
	const tokens = 2000
	for i := range tokens {
		q := p.For(fmt.Sprint("claim-", i))
		delay, _ := q.Next(1, err)
		again, _ := p.For(fmt.Sprint("claim-", i)).Next(1, err)
		require.Equal(t, delay, again)
		require.GreaterOrEqual(t, delay, 500*time.Millisecond)
		require.Less(t, delay, 750*time.Millisecond)
		seen[delay] = true
		sum += delay
	}
	require.Greater(t, len(seen), tokens*99/100)
	require.InDelta(t, 625, float64(sum.Milliseconds())/tokens, 10)
	one, _ := p.Next(1, err)
	two, _ := p.Next(2, err)
	require.NotEqual(t, 2*one, two, "attempts differ")
	p.Rules[cloudprovider.KindUnknown] = retry.Rule{Base: math.MaxInt64}
	huge, _ := p.Next(1, err)
	require.Equal(t, time.Duration(math.MaxInt64), huge, "no overflow")
	slow := &cloudprovider.Error{RetryAfter: time.Hour}
	for i := range 100 {
		p := retry.Default().For(fmt.Sprint(i))
		delay, _ := p.Next(1, slow)
		require.GreaterOrEqual(t, delay, time.Hour, "never before the cloud said")
	}
}

func TestValidate(t *testing.T) {
	require.NoError(t, retry.Default().Validate())
	require.NoError(t, retry.Policy{}.Validate())
	require.EqualError(t, retry.Policy{Jitter: math.NaN(), Rules: map[cloudprovider.Kind]retry.Rule{
		cloudprovider.KindThrottled: {Base: 2, Max: 1},
		cloudprovider.KindDenied:    {Base: -1, Max: -2, Attempts: -1},
	}}.Validate(), `retry policy: denied: base: -1ns; use zero or more
retry policy: denied: max: -2ns; use at least base, -1ns, or zero for no bound
retry policy: denied: attempts: -1; use a number above zero, or zero for no bound
retry policy: throttled: max: 1ns; use at least base, 2ns, or zero for no bound
retry policy: jitter: NaN; use a fraction from 0 to 1`)
}

func Example() {
	policy := retry.Default().For("claim-7")
	policy.Jitter = 0
	calls := []error{cloudprovider.ErrThrottled, cloudprovider.ErrThrottled, errors.New("connection reset"), cloudprovider.ErrDenied}
	for i, err := range calls {
		delay, giveUp := policy.Next(i+1, err)
		fmt.Println(err, delay, giveUp)
	}
	// Output:
	// throttled 1s false
	// throttled 2s false
	// connection reset 2s false
	// denied 0s true
}

func ExamplePolicy_Next() {
	policy := retry.Default()
	policy.Rules[cloudprovider.KindUnknown] = retry.Rule{Base: time.Second, Attempts: 3}
	policy.Jitter = 0
	for attempt := 1; ; attempt++ {
		delay, giveUp := policy.Next(attempt, errors.New("connection reset"))
		if giveUp {
			fmt.Println("gave up after", attempt)
			break
		}
		fmt.Println("wait", delay)
	}
	// Output:
	// wait 1s
	// wait 2s
	// gave up after 3
}

func BenchmarkNext(b *testing.B) {
	p := retry.Default()
	err := &cloudprovider.Error{Kind: cloudprovider.KindThrottled}
	for b.Loop() {
		p.Next(5, err)
	}
}
