package nodeclaim_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

func TestTheTimeBetweenLaunchesGrowsWithWhatStandsInTheClaim(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	require.Zero(t, nodeclaim.NextLaunch(claim))
	last := time.Duration(0)
	for range 5 {
		before := claim.DeepCopy()
		next := nodeclaim.EditRetry(now, claim, errors.New("timeout"))
		require.Equal(t, before, claim, "the claim given stays as it is")
		claim = next
		pause := nodeclaim.NextLaunch(claim).Sub(now)
		require.Greater(t, pause, last)
		last = pause
	}
	require.Less(t, last, 30*time.Second)
	for range 50 {
		claim = nodeclaim.EditRetry(now, claim, errors.New("timeout"))
	}
	require.LessOrEqual(t, nodeclaim.NextLaunch(claim).Sub(now), 36*time.Second)
}

func TestWhatIsNoBackoff(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	require.Same(t, claim, nodeclaim.EditRetry(now, claim, nil))
	require.Nil(t, nodeclaim.EditRetry(now, nil, errors.New("timeout")))
	require.Zero(t, nodeclaim.NextLaunch(nil))
	denied := nodeclaim.EditRetry(now, claim, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Err: errors.New("no rights")})
	require.Equal(t, now.Add(time.Minute), nodeclaim.NextLaunch(denied))
	for _, text := range []string{"", "x", "3", "0 2026-03-02T10:00:00Z", "-1 2026-03-02T10:00:00Z", "1 yesterday"} {
		claim.Annotations = map[string]string{nodeclaim.RetryAnnotationKey: text}
		require.Zero(t, nodeclaim.NextLaunch(claim), text)
	}
}

// A launch fails twice, and the program that asks is started again in between.
func ExampleEditRetry() {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	throttled := &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindThrottled, Err: errors.New("slow down")}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-x7k2p", UID: "5d0c"}}
	claim = nodeclaim.EditRetry(now, claim, throttled)
	fmt.Println(nodeclaim.NextLaunch(claim).Sub(now).Truncate(time.Second))
	claim = nodeclaim.EditRetry(now.Add(2*time.Second), claim, throttled)
	fmt.Println(nodeclaim.NextLaunch(claim).Sub(now).Truncate(time.Second))
	// Output:
	// 1s
	// 4s
}
