package retry

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// jitter is the largest part of a pause by which the pause is lengthened.
const jitter = 0.2

// Delay says what to do after an attempt that failed with err. Attempts count from 1; smaller
// numbers count as 1. In this order:
//
//  1. It gives up for a nil err, because there is nothing to repeat, and for one that wraps
//     context.Canceled, because no caller waits.
//  2. By cloudprovider.KindOf(err), it gives up for NotFound, Denied, Unsupported and
//     InsufficientCapacity, because repeating will not work. For InsufficientCapacity mark the
//     offerings and decide the launch again.
//  3. Otherwise the first pause is 5 s for NotReady, 1 s for Throttled and 500 ms for an unknown
//     kind. It doubles with each further attempt, up to a minute, or to 30 s for an unknown kind.
//     If the cloud asks for more (cloudprovider.RetryAfter), that is the pause. The pause is
//     lengthened by up to a fifth, so that calls which failed together are not repeated together.
//
// The lengthening is a function of the token and the attempt. Pass a token that identifies the
// call: the token of a LaunchRequest, the ID of an instance. If giveUp is true, delay is zero.
func Delay(attempt int, err error, token string) (delay time.Duration, giveUp bool) {
	if err == nil || errors.Is(err, context.Canceled) {
		return 0, true
	}
	var most time.Duration
	switch cloudprovider.KindOf(err) {
	case cloudprovider.KindUnknown:
		delay, most = 500*time.Millisecond, 30*time.Second
	case cloudprovider.KindNotReady:
		delay, most = 5*time.Second, time.Minute
	case cloudprovider.KindThrottled:
		delay, most = time.Second, time.Minute
	default:
		return 0, true
	}
	attempt = max(attempt, 1)
	for i := 1; i < attempt && delay < most; i++ {
		delay = min(2*delay, most)
	}
	delay = max(delay, cloudprovider.RetryAfter(err))
	extra := float64(delay) * jitter * share(attempt, token)
	if extra >= float64(math.MaxInt64-delay) {
		return math.MaxInt64, false
	}
	return delay + time.Duration(extra), false
}

// share returns a number from 0 up to 1 that differs between attempts and tokens.
func share(attempt int, token string) float64 {
	sum := uint64(14695981039346656037) // FNV-1a
	for i := range len(token) {
		sum = (sum ^ uint64(token[i])) * 1099511628211
	}
	// One step of SplitMix64, whose outputs are spread evenly over close inputs. The
	// upper 53 bits make the number.
	z := sum + uint64(attempt)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}
