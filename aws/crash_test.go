package aws_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// late is an EC2 whose launches fail for their callers while crash.hold is set. EC2 carries
// them out when crash.land is called.
type late struct {
	aws.EC2API
	crash *crash
}

func (l late) CreateFleet(ctx context.Context, in *ec2.CreateFleetInput, opts ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	if in.DryRun != nil && *in.DryRun || !l.crash.holding() {
		return l.EC2API.CreateFleet(ctx, in, opts...)
	}
	l.crash.mu.Lock()
	defer l.crash.mu.Unlock()
	l.crash.held = append(l.crash.held, func() { _, _ = l.EC2API.CreateFleet(context.Background(), in) })
	return nil, errLost
}

func (l late) DescribeLaunchTemplates(ctx context.Context, in *ec2.DescribeLaunchTemplatesInput, opts ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	l.crash.mu.Lock()
	defer l.crash.mu.Unlock()
	if len(in.LaunchTemplateNames) == 0 && l.crash.unlisted > 0 {
		l.crash.unlisted--
		return &ec2.DescribeLaunchTemplatesOutput{}, nil
	}
	return l.EC2API.DescribeLaunchTemplates(ctx, in, opts...)
}

// crash is a scene with two processes: the first ends with launches under way, and the
// second asks for them again.
type crash struct {
	*scene
	mu   sync.Mutex
	hold bool
	held []func()
	// unlisted is the number of further calls that list no launch template.
	unlisted int
}

func (c *crash) holding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hold
}

// newCrash makes a scene in which launches share a call if each is asked for within idle of
// the one before.
func newCrash(t *testing.T, idle time.Duration) *crash {
	c := &crash{}
	c.scene = newScene(t, func(s *scene) {
		s.world.Types = some("m5.large")
		s.opts.Batch.Idle = idle
		s.wrap = func(all aws.Clients) aws.Clients {
			all.EC2 = late{all.EC2, c}
			return all
		}
	})
	for _, subnet := range c.cloud.Options().Subnets {
		c.cloud.SetAddresses(*subnet.SubnetId, 60_000)
	}
	return c
}

// what is the state of a token's launch when its process ends.
type what int

const (
	unasked what = iota
	done
	underWay
	states
)

// begin launches the tokens whose state is done, and leaves the launches of those whose
// state is underWay held by EC2.
func (c *crash) begin(tokens []string, state func(i int) what) {
	c.Helper()
	var finished, begun []string
	for i, token := range tokens {
		switch state(i) {
		case done:
			finished = append(finished, token)
		case underWay:
			begun = append(begun, token)
		}
	}
	c.launchAll(finished, large)
	c.mu.Lock()
	c.hold = true
	c.mu.Unlock()
	_, errs := c.createAll(begun, large)
	require.Len(c, errs, len(begun))
	c.mu.Lock()
	c.hold = false
	c.mu.Unlock()
}

// land has EC2 carry out the launches that it holds.
func (c *crash) land() {
	for _, call := range c.held {
		call()
	}
	c.held = nil
}

// end starts a new process that asks for the tokens group by group, in rounds, until each
// token has its instance. EC2 carries out the held launches in the given round, or after the
// last one.
func (c *crash) end(groups [][]string, total, round int) {
	c.Helper()
	before := c.cloud.Running()
	var mine int // instances of these tokens that run already
	c.p = c.provider()
	all := slices.Concat(groups...)
	list, err := c.p.List(c.Context())
	require.NoError(c, err)
	for _, i := range list {
		if slices.Contains(all, i.Name[len("general-"):]) {
			mine++
		}
	}
	limit := before - mine + total
	got := map[string]*cloudprovider.Instance{}
	for n := 0; len(got) < total; n++ {
		require.Less(c, n, 12, "tokens without an instance are left after 12 rounds")
		if n == round {
			c.land()
		}
		for _, group := range groups {
			some, _ := c.createAll(group, large)
			for token, i := range some {
				if got[token] != nil {
					require.Equal(c, got[token].ID, i.ID)
				}
				got[token] = i
			}
			require.LessOrEqual(c, c.cloud.Running(), limit, "a token has two instances")
		}
		c.cloud.Advance(15 * time.Second)
	}
	c.land()
	require.Equal(c, limit, c.cloud.Running(), "each token has one instance")
	ids := map[string]bool{}
	for token, i := range got {
		require.Equal(c, "general-"+token, i.Name)
		require.False(c, ids[i.ID], "one instance for two tokens")
		ids[i.ID] = true
	}
}

// partitions returns all ways to divide tokens into groups.
func partitions(tokens []string) [][][]string {
	if len(tokens) == 0 {
		return [][][]string{nil}
	}
	var out [][][]string
	for _, p := range partitions(tokens[1:]) {
		for i := range p {
			q := slices.Clone(p)
			q[i] = append([]string{tokens[0]}, q[i]...)
			out = append(out, q)
		}
		out = append(out, append(slices.Clone(p), tokens[:1]))
	}
	return out
}

// A process ends with any set of launches under way. The next one asks for them in any
// grouping, before EC2 carries them out, afterwards, or in between. Each token gets one
// instance.
func TestACrashWithLaunchesUnderWayInEveryRegrouping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrash(t, 10*time.Millisecond)
		first, r, number := c.p, rand.New(rand.NewPCG(1, 2)), 0
		require.Len(t, partitions(tokens(4)), 15)
		of := 12
		if testlong.UnderRace {
			of = 24
		}
		for n := 1; n <= 4; n++ {
			for all := range pow(int(states), n) {
				state := func(i int) what { return what(all / pow(int(states), i) % int(states)) }
				for way := range partitions(tokens(n)) {
					// Every case of one or two tokens, every case of four tokens that are all under
					// way, and a sample of the others. The sample is three times as large in the
					// long run and half as large under the race detector.
					whole := n <= 2 || n == 4 && all == pow(int(states), n)-1 && !testlong.UnderRace
					if sample := r.IntN(of * n); !whole && sample > testlong.Seeds(0, 2) {
						continue
					}
					if number%8 == 7 { // a new cloud, because listing many machines is slow
						c = newCrash(t, 10*time.Millisecond)
						first = c.p
					}
					number++
					mine := make([]string, n)
					for i := range mine {
						mine[i] = fmt.Sprintf("c%d-%d", number, i)
					}
					c.p = first
					c.begin(mine, state)
					c.end(partitions(mine)[way], n, number%4)
				}
			}
		}
	})
}

func pow(base, n int) int {
	out := 1
	for range n {
		out *= base
	}
	return out
}

// A process ends with so many launches under way that they share calls. With a long idle time
// all of them are in one call, with a short one they are in several. Each token gets one instance.
func TestACrashWithABatchUnderWay(t *testing.T) {
	for seed := range uint64(6) {
		inBubble(t, fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			c := newCrash(t, []time.Duration{250 * time.Millisecond, time.Millisecond}[seed%2])
			all := tokens(11 + r.IntN(20))
			finished := r.IntN(3)
			c.begin(all, func(i int) what {
				if i%12 < finished {
					return done
				}
				return underWay
			})
			groups := make([][]string, 1+r.IntN(4))
			for _, token := range all {
				g := r.IntN(len(groups))
				groups[g] = append(groups[g], token)
			}
			c.end(groups, len(all), int(seed))
		})
	}
}

// A process ends with up to four launches under way, each in a call of its own. The process after
// it, or the one after that, asks for these and for twelve or more further launches, which are so many that all
// would share a call. Each token gets one instance.
func TestACrashWithSingleLaunchesUnderWayAmongMany(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for round := range 4 {
			for few := 1; few <= 4; few++ {
				c := newCrash(t, 20*time.Millisecond)
				all := tokens(16)
				c.begin(all[:few], func(int) what { return underWay })
				if round%2 == 1 { // a process in between also ends, with all launches under way
					c.p = c.provider()
					c.begin(all, func(int) what { return underWay })
				}
				c.end([][]string{all}, len(all), round)
			}
		}
	})
}

// A process that follows another gives each launch a call of its own at first, because
// launches of the other may still be under way. Some minutes later they cannot, and launches
// share calls again.
func TestLaunchesGoTogetherAgainSomeMinutesAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrash(t, 250*time.Millisecond)
		c.launchAll(tokens(2), large)
		c.p = c.provider()
		for _, tt := range []struct {
			from, to, calls int
			after           time.Duration
		}{{2, 32, 30, 0}, {32, 62, 1, 3 * time.Minute}} {
			c.cloud.Advance(tt.after)
			c.cloud.ForgetCalls()
			got := c.launchAll(tokens(62)[tt.from:tt.to], large)
			require.Len(t, got, tt.to-tt.from)
			calls := c.cloud.Count("CreateFleet")
			require.GreaterOrEqual(t, calls, tt.calls)
			if tt.calls == 1 {
				require.Less(t, calls, 12, "they go together")
			}
		}
		require.Equal(t, 62, c.cloud.Running())
	})
}

// When a process begins, EC2 does not list the launch templates of the process before it
// yet. The new process lists them once more before launches share a call.
func TestTemplatesThatAreListedLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrash(t, 250*time.Millisecond)
		c.begin(tokens(3), func(int) what { return underWay })
		c.p, c.unlisted = c.provider(), 1
		_, errs := c.createAll(tokens(20), large)
		require.Len(t, errs, 20)
		for _, err := range errs {
			require.ErrorIs(t, err, cloudprovider.ErrNotReady)
			require.Equal(t, time.Second, cloudprovider.RetryAfter(err))
		}
		require.Zero(t, c.cloud.Running())
		got := c.launchAll(tokens(20), large)
		require.Len(t, got, 20)
		c.land()
		require.Equal(t, 20, c.cloud.Running())
	})
}

// A process that finds no launch templates of a batch launches without waiting.
func TestANewProcessLaunchesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrash(t, 10*time.Millisecond)
		c.launchAll(tokens(4), large)
		c.p = c.provider()
		c.launchAll(tokens(8), large)
		require.Equal(t, 8, c.cloud.Running())
	})
}

// Launches that share a call wait until EC2 lists their launch template: the next process
// could not find it otherwise.
func TestABatchWaitsUntilItsTemplateIsListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) {
			s.world.Lag = 4 * time.Second
			s.opts.Batch.Idle, s.opts.Batch.Max = 200*time.Millisecond, time.Second
		})
		s.settle(s.p)
		got, errs := s.createAll(tokens(20), large)
		require.Empty(t, got)
		for _, err := range errs {
			require.ErrorIs(t, err, cloudprovider.ErrNotReady)
			require.Equal(t, 5*time.Second, cloudprovider.RetryAfter(err))
		}
		s.cloud.Advance(5 * time.Second)
		s.launchAll(tokens(20), large)
		require.Equal(t, 20, s.cloud.Running())
	})
}

// A standby process lists the instances long before it becomes the leader. It has to find
// the instances that the leader launches after that.
func TestAProcessThatTakesOverFindsWhatWasLaunchedAfterItListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) { s.opts.Batch.Idle = 30 * time.Millisecond })
		next := s.provider()
		_, err := next.List(t.Context())
		require.NoError(t, err)

		got := s.launchAll(tokens(12), large)
		require.Equal(t, 12, s.cloud.Running())

		s.p = next
		s.cloud.ForgetCalls()
		again := s.launchAll(tokens(12)[2:5], large)
		require.Equal(t, 12, s.cloud.Running(), "nothing more was launched")
		requireSame(t, again, got)
		listed := s.cloud.Count("DescribeInstances")
		s.launchAll(tokens(12)[:1], large)
		require.Equal(t, listed, s.cloud.Count("DescribeInstances"), "instances are listed once, not for each launch")
	})
}
