package aws_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// fleets puts a hook around CreateFleet.
type fleets struct {
	aws.EC2API
	hook func(ctx context.Context, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error)
}

func (f *fleets) CreateFleet(ctx context.Context, in *ec2.CreateFleetInput, opts ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	call := func() (*ec2.CreateFleetOutput, error) { return f.EC2API.CreateFleet(ctx, in, opts...) }
	if in.DryRun != nil && *in.DryRun {
		return call()
	}
	return f.hook(ctx, in, call)
}

// errLost is what a caller sees whose connection broke.
var errLost = errors.New("connection reset by peer")

// fleetCall sends a request for a fleet to EC2.
type fleetCall = func() (*ec2.CreateFleetOutput, error)

// fleetHook answers a request in place of EC2. The number of the request begins at 1.
type fleetHook = func(n int, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error)

// refusing answers the first requests with an error.
func refusing(most int, err error) fleetHook {
	return func(n int, _ *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
		if n <= most {
			return nil, err
		}
		return call()
	}
}

// losing carries out all requests, and loses the answers to the first.
func losing(most int) fleetHook {
	return func(n int, _ *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
		out, err := call()
		if n <= most {
			return nil, errLost
		}
		return out, err
	}
}

// hooked sets a hook. Each provider counts its requests.
func hooked(hook fleetHook) func(*scene) {
	return func(s *scene) {
		var mu sync.Mutex
		n := 0
		s.wrap = func(c aws.Clients) aws.Clients {
			c.EC2 = &fleets{c.EC2, func(_ context.Context, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
				mu.Lock()
				n++
				number := n
				mu.Unlock()
				return hook(number, in, call)
			}}
			return c
		}
	}
}

func TestACrashAtAnyStepOfALaunchLeaksNothing(t *testing.T) {
	never, after := refusing(1, errLost), losing(1)
	for name, step := range map[string]func(*scene){
		"before the fleet":            hooked(never),
		"after the fleet":             hooked(after),
		"template described":          func(s *scene) {},
		"template made":               func(s *scene) {},
		"instance profile half made":  func(s *scene) {},
		"after the fleet, lagging":    func(s *scene) { hooked(after)(s); s.world.Lag = 10 * time.Second },
		"before the fleet, lagging":   func(s *scene) { hooked(never)(s); s.world.Lag = 10 * time.Second },
		"after Create, before record": func(s *scene) {},
	} {
		for _, restart := range []bool{false, true} {
			inBubble(t, fmt.Sprintf("%s/restart=%v", name, restart), func(t *testing.T) {
				s := newScene(t, step)
				if s.world.Lag > 0 { // EC2 gets to know the instance profile
					_ = s.request("", large)
					s.cloud.Advance(time.Minute)
				}
				req := s.request("one", large)
				switch name {
				case "template described":
					s.script(awstest.Fault{Op: "DescribeLaunchTemplates", Times: 3, Err: awstest.ErrCut})
				case "template made":
					s.script(awstest.Fault{Op: "CreateLaunchTemplate", Times: 3, Err: awstest.ErrLost})
				case "instance profile half made":
					s.script(awstest.Fault{Op: "AddRoleToInstanceProfile", Times: 3, Err: awstest.ErrCut})
				}
				first, err := s.p.Create(t.Context(), req)
				if name != "after Create, before record" && err == nil {
					t.Log("the step did not fail")
				}
				if restart {
					s.p = s.provider()
				}
				var i *cloudprovider.Instance
				for range 10 {
					if i, err = s.p.Create(t.Context(), req); err == nil {
						break
					}
					require.Contains(t, []cloudprovider.Kind{cloudprovider.KindUnknown, cloudprovider.KindNotReady}, cloudprovider.KindOf(err), "%v", err)
					s.cloud.Advance(10 * time.Second)
				}
				require.NoError(t, err)
				if first != nil {
					require.Equal(t, first.ID, i.ID)
				}
				require.Equal(t, 1, s.cloud.Running())
			})
		}
	}
}

// createAll calls Create for all tokens at once.
func (s *scene) createAll(tokens []string, want func(cloudprovider.LaunchOption) bool) (map[string]*cloudprovider.Instance, []error) {
	s.Helper()
	base := s.request("", want)
	var mu sync.Mutex
	out, errs := map[string]*cloudprovider.Instance{}, []error(nil)
	var wg sync.WaitGroup
	for _, token := range tokens {
		wg.Go(func() {
			req := base
			req.Token, req.Name = token, "general-"+token
			i, err := s.p.Create(s.Context(), req)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			out[token] = i
		})
	}
	wg.Wait()
	return out, errs
}

// launchAll creates a machine for each token, and none fails.
func (s *scene) launchAll(tokens []string, want func(cloudprovider.LaunchOption) bool) map[string]*cloudprovider.Instance {
	s.Helper()
	got, errs := s.createAll(tokens, want)
	require.Empty(s, errs)
	return got
}

// requireSame asks that some machines are what others by the same tokens are.
func requireSame(t testing.TB, some, others map[string]*cloudprovider.Instance) {
	t.Helper()
	for token, i := range some {
		require.Equal(t, others[token].ID, i.ID)
	}
}

func TestACrashAfterABatchLeaksNothingWhoeverComesBack(t *testing.T) {
	for _, lag := range []time.Duration{0, 5 * time.Second} {
		inBubble(t, lag.String(), func(t *testing.T) {
			s := newScene(t, func(s *scene) {
				hooked(losing(2))(s) // of the first process
				s.world.Lag = lag
				s.opts.Batch.Idle, s.opts.Batch.Max = 200*time.Millisecond, time.Second
			})
			all := tokens(16)
			_ = s.request("", large)
			s.cloud.Advance(time.Minute)
			if lag > 0 { // EC2 gets to know the launch template
				_, _ = s.createAll(all, large)
				s.cloud.Advance(10 * time.Second)
			}
			_, errs := s.createAll(all, large)
			require.Len(t, errs, 16)
			require.Equal(t, 16, s.cloud.Running())
			s.cloud.Advance(15 * time.Second) // a process takes that long to come back
			s.p = s.provider()
			got := s.launchAll(all[2:5], large)
			require.Equal(t, 16, s.cloud.Running(), "nothing more was launched")
			rest := s.launchAll(all, large)
			require.Equal(t, 16, s.cloud.Running())
			seen := map[string]bool{}
			for token, i := range rest {
				require.False(t, seen[i.ID], "each has its own")
				seen[i.ID] = true
				require.Equal(t, "general-"+token, i.Name)
				if before := got[token]; before != nil {
					require.Equal(t, before.ID, i.ID)
				}
			}
			list, err := s.p.List(t.Context())
			require.NoError(t, err)
			names := map[string]bool{}
			for _, i := range list {
				names[i.Name] = true
			}
			require.Len(t, names, 16, "List knows the names as well")
		})
	}
}

func TestALostAnswerIsAskedForAgainWordForWord(t *testing.T) {
	var inputs []*ec2.CreateFleetInput
	s := newScene(t, hooked(func(n int, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
		inputs = append(inputs, in)
		return losing(2)(n, in, call)
	}), func(s *scene) { s.world.Lag = time.Hour })
	_ = s.request("", large)
	s.cloud.Advance(2 * time.Hour) // EC2 knows the instance profile
	req := s.request("one", large)
	for range 2 {
		_, err := s.p.Create(t.Context(), req)
		require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err))
		require.ErrorContains(t, err, "repeat with the same token")
	}
	req.Options = req.Options[:1] // even if the caller asks for something else now
	i := s.launch(req)
	require.NotEmpty(t, i.ID)
	require.Equal(t, 1, s.cloud.Running())
	require.Len(t, inputs, 3)
	require.Equal(t, inputs[0], inputs[2])
}

func TestAnotherRequestUnderATokenInUseWaitsForWhatIsThere(t *testing.T) {
	s := newScene(t, hooked(losing(1)), func(s *scene) { s.world.Lag = 8 * time.Second })
	_ = s.request("", large)
	s.cloud.Advance(time.Minute)
	req := s.request("one", onDemand)
	_, err := s.p.Create(t.Context(), req)
	require.Error(t, err)
	s.p = s.provider()
	req.Options = req.Options[:3]
	_, err = s.p.Create(t.Context(), req)
	require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err))
	require.Positive(t, cloudprovider.RetryAfter(err))
	require.Equal(t, 1, s.cloud.Running())
	s.cloud.Advance(10 * time.Second)
	s.launch(req)
	require.Equal(t, 1, s.cloud.Running())
}

func TestATokenThatLaunchedNothingIsUsedUpAndLaunchesLater(t *testing.T) {
	s := newScene(t)
	req := s.request("one", large)
	s.cloud.SetStock(cloudprovider.Scope{InstanceType: "m5.large"}, 0)
	_, err := s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	s.cloud.SetStock(cloudprovider.Scope{InstanceType: "m5.large"}, -1)
	_, err = s.p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity, "it is remembered for a while")
	require.Equal(t, "RefusedLately", reason(err))
	s.cloud.Advance(4 * time.Minute)
	i := s.launch(req)
	require.Equal(t, "m5.large", i.Type)
}

func reason(err error) string {
	var e *cloudprovider.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func TestHalfAFleetIsKeptAndTheRestIsRetried(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) { s.opts.Batch.Idle = 30 * time.Millisecond })
		s.cloud.SetStock(cloudprovider.Scope{InstanceType: "m5.large"}, 3)
		all := tokens(8)
		got, errs := s.createAll(all, large)
		require.Len(t, got, 3)
		require.Len(t, errs, 5)
		for _, err := range errs {
			require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
		}
		again := s.launchAll(all, onDemand)
		requireSame(t, got, again)
		require.Equal(t, 8, s.cloud.Running())
	})
}

func TestMoreThanWasAskedForIsGivenBack(t *testing.T) {
	var warned []aws.Warning
	s := newScene(t, func(s *scene) {
		s.opts.Warn = func(w aws.Warning) { warned = append(warned, w) }
		hooked(func(_ int, in *ec2.CreateFleetInput, call fleetCall) (*ec2.CreateFleetOutput, error) {
			more := *in.TargetCapacitySpecification.TotalTargetCapacity + 2
			in.TargetCapacitySpecification.TotalTargetCapacity = &more
			return call()
		})(s)
	})
	s.create("one", large)
	require.Equal(t, 1, s.cloud.Running())
	warned = slices.DeleteFunc(warned, func(w aws.Warning) bool { return w.Reason != aws.WarnSurplus })
	require.Len(t, warned, 2)
}

func TestAThousandLaunchesTakeFewCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) { s.opts.Batch = aws.Batch{MaxItems: 50} })
		for _, subnet := range s.cloud.Options().Subnets {
			s.cloud.SetAddresses(*subnet.SubnetId, 60_000)
		}
		s.create("warm", large)
		s.cloud.ForgetCalls()
		launches := 1000
		if testlong.UnderRace {
			launches = 300 // six batches at once show it as much as twenty
		}
		got := s.launchAll(tokens(launches), large)
		require.Len(t, got, launches)
		require.Equal(t, launches+1, s.cloud.Running())
		require.LessOrEqual(t, s.cloud.Count("CreateFleet"), launches/50)
		ids := map[string]bool{}
		for _, i := range got {
			ids[i.ID] = true
		}
		require.Len(t, ids, launches)

		// A process that begins anew finds all of them, however many ask at once.
		s.p = s.provider()
		s.cloud.ForgetCalls()
		again := s.launchAll(tokens(300), large)
		requireSame(t, again, got)
		for _, call := range s.cloud.Calls() {
			require.False(t, call.Action == "CreateFleet" && !call.DryRun)
		}
	})
}
