package aws_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// Whatever goes wrong, and in whatever order: no token has two instances, and in the
// end each has one, which is its own.
func TestNoTokenEverHasTwoInstances(t *testing.T) {
	for seed := range uint64(testlong.Seeds(2, 6)) {
		inBubble(t, fmt.Sprint(seed), func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	const lag = 4 * time.Second
	r, faults := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	var mu sync.Mutex // for what is below
	calm := false
	s := newScene(t, func(s *scene) {
		s.world.Lag = lag
		s.world.Seed = seed
		s.wrap = func(c aws.Clients) aws.Clients {
			c.EC2 = &fleets{c.EC2, func(ctx context.Context, _ *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
				mu.Lock()
				fault := faults.IntN(8)
				if calm {
					fault = 7
				}
				mu.Unlock()
				switch fault {
				case 0:
					return nil, errLost
				case 1, 2:
					_, _ = call()
					return nil, errLost
				case 3:
					return nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "slow down"}
				case 4:
					_, _ = call()
					return nil, &smithy.GenericAPIError{Code: "InternalError", Message: "oops"}
				}
				return call()
			}}
			return c
		}
	})
	_ = s.request("", large)
	s.cloud.Advance(time.Minute)
	all := tokens(8)
	for range 12 {
		n := 1 + r.IntN(len(all))
		some := make([]string, 0, n)
		for _, i := range r.Perm(len(all))[:n] {
			some = append(some, all[i])
		}
		_, _ = s.createAll(some, large)
		require.LessOrEqual(t, s.cloud.Running(), len(all))
		switch r.IntN(4) {
		case 0: // a process takes longer to come back than EC2 to list what it launched
			s.cloud.Advance(lag + time.Second)
			s.p = s.provider()
		case 1:
			s.cloud.Advance(time.Duration(r.IntN(10)) * time.Second)
		}
	}
	mu.Lock()
	calm = true
	mu.Unlock()
	var got map[string]*cloudprovider.Instance
	for range 10 {
		s.cloud.Advance(10 * time.Second)
		var errs []error
		if got, errs = s.createAll(all, large); len(errs) == 0 {
			break
		}
	}
	require.Len(t, got, len(all))
	require.Equal(t, len(all), s.cloud.Running())
	ids := map[string]bool{}
	for token, i := range got {
		require.Equal(t, "general-"+token, i.Name)
		require.False(t, ids[i.ID], "one instance for two tokens")
		ids[i.ID] = true
	}
	// A process that knows nothing finds the same.
	s.cloud.Advance(lag + time.Second)
	s.p = s.provider()
	again := s.launchAll(all, large)
	require.Equal(t, len(all), s.cloud.Running())
	requireSame(t, got, again)
}
