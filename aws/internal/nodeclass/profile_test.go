package nodeclass_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clock "k8s.io/utils/clock/testing"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

type entry struct {
	path, role string
	created    time.Time
	tags       map[string]string
}

// cloud is instance profiles in memory.
type cloud struct {
	*clock.FakeClock

	mu       sync.Mutex
	roles    []string
	profiles map[string]*entry
	calls    []string
	fail     map[string]string // code by call, once
	text     string            // of the next failure
	lose     map[string]bool   // carry it out, and fail
}

func newCloud() *cloud {
	return &cloud{FakeClock: clock.NewFakeClock(time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)), roles: []string{"NodeRole", "Other"},
		profiles: map[string]*entry{}, fail: map[string]string{}, lose: map[string]bool{}}
}

func failure(code string) error { return &smithy.GenericAPIError{Code: code, Message: "no"} }

// call does what IAM does for a call, unless it is to fail.
func (c *cloud) call(name string, do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, name)
	if code := c.fail[name]; code != "" {
		delete(c.fail, name)
		return &smithy.GenericAPIError{Code: code, Message: cmp.Or(c.text, "no")}
	}
	if err := do(); err != nil {
		return err
	}
	if c.lose[name] {
		delete(c.lose, name)
		return context.DeadlineExceeded
	}
	return nil
}

func (c *cloud) count(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, one := range c.calls {
		if one == name {
			n++
		}
	}
	return n
}

func (c *cloud) names() []string {
	var out []string
	for name := range c.profiles {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (e *entry) profile(name string) *iamtypes.InstanceProfile {
	p := &iamtypes.InstanceProfile{InstanceProfileName: &name, Path: &e.path, CreateDate: &e.created}
	if e.role != "" {
		p.Roles = []iamtypes.Role{{RoleName: &e.role}}
	}
	return p
}

func (c *cloud) find(name string) (*entry, error) {
	if e := c.profiles[name]; e != nil {
		return e, nil
	}
	return nil, failure("NoSuchEntity")
}

func (c *cloud) GetInstanceProfile(_ context.Context, in *iam.GetInstanceProfileInput, _ ...func(*iam.Options)) (out *iam.GetInstanceProfileOutput, err error) {
	err = c.call("Get", func() error {
		e, err := c.find(*in.InstanceProfileName)
		if err == nil {
			out = &iam.GetInstanceProfileOutput{InstanceProfile: e.profile(*in.InstanceProfileName)}
		}
		return err
	})
	return out, err
}

func (c *cloud) CreateInstanceProfile(_ context.Context, in *iam.CreateInstanceProfileInput, _ ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error) {
	return &iam.CreateInstanceProfileOutput{}, c.call("Create", func() error {
		if c.profiles[*in.InstanceProfileName] != nil {
			return failure("EntityAlreadyExists")
		}
		e := &entry{path: *in.Path, created: c.Now(), tags: map[string]string{}}
		for _, t := range in.Tags {
			e.tags[*t.Key] = *t.Value
		}
		c.profiles[*in.InstanceProfileName] = e
		return nil
	})
}

func (c *cloud) AddRoleToInstanceProfile(_ context.Context, in *iam.AddRoleToInstanceProfileInput, _ ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error) {
	return &iam.AddRoleToInstanceProfileOutput{}, c.call("AddRole", func() error {
		e, err := c.find(*in.InstanceProfileName)
		switch {
		case err != nil:
			return err
		case !slices.Contains(c.roles, *in.RoleName):
			return failure("NoSuchEntity")
		case e.role != "":
			return failure("LimitExceeded")
		}
		e.role = *in.RoleName
		return nil
	})
}

func (c *cloud) RemoveRoleFromInstanceProfile(_ context.Context, in *iam.RemoveRoleFromInstanceProfileInput, _ ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	return &iam.RemoveRoleFromInstanceProfileOutput{}, c.call("RemoveRole", func() error {
		e, err := c.find(*in.InstanceProfileName)
		if err == nil {
			e.role = ""
		}
		return err
	})
}

func (c *cloud) DeleteInstanceProfile(_ context.Context, in *iam.DeleteInstanceProfileInput, _ ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error) {
	return &iam.DeleteInstanceProfileOutput{}, c.call("Delete", func() error {
		e, err := c.find(*in.InstanceProfileName)
		if err == nil && e.role != "" {
			return failure("DeleteConflict")
		}
		delete(c.profiles, *in.InstanceProfileName)
		return err
	})
}

func (c *cloud) ListInstanceProfiles(_ context.Context, in *iam.ListInstanceProfilesInput, _ ...func(*iam.Options)) (*iam.ListInstanceProfilesOutput, error) {
	out := &iam.ListInstanceProfilesOutput{}
	return out, c.call("List", func() error {
		for _, name := range c.names() {
			if strings.HasPrefix(c.profiles[name].path, *in.PathPrefix) {
				out.InstanceProfiles = append(out.InstanceProfiles, *c.profiles[name].profile(name))
			}
		}
		return nil
	})
}

func profileClass(role string) *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1"}, Spec: awsv1.EC2NodeClassSpec{Role: role},
	}
}

func keeper(c *cloud) *nodeclass.Keeper {
	return nodeclass.NewKeeper(c, "demo", "us-east-1", c.Now, cache.NewAsking())
}

// ensured returns the profile that a class has.
func ensured(t *testing.T, k *nodeclass.Keeper, c *awsv1.EC2NodeClass) string {
	t.Helper()
	name, err := k.Ensure(t.Context(), c)
	require.NoError(t, err)
	return name
}

func TestEnsureMakesOneProfile(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			name := ensured(t, k, profileClass("NodeRole"))
			require.Equal(t, k.Name(profileClass("NodeRole")), name)
		})
	}
	wg.Wait()
	require.Equal(t, 1, c.count("Create"))
	require.Equal(t, 1, c.count("Get"))
	e := c.profiles[k.Name(profileClass("NodeRole"))]
	require.Equal(t, "NodeRole", e.role)
	require.Equal(t, "/karpenter/us-east-1/demo/uid-1/", e.path)
	require.Equal(t, map[string]string{
		"kubernetes.io/cluster/demo": "owned", "eks:eks-cluster-name": "demo",
		"karpenter.k8s.aws/ec2nodeclass": "default", "topology.kubernetes.io/region": "us-east-1",
	}, e.tags)
	c.Step(15 * time.Minute)
	ensured(t, k, profileClass("NodeRole"))
	require.Eventually(t, func() bool { return c.count("Get") == 2 }, time.Minute, time.Millisecond)
	require.Equal(t, 1, c.count("Create"))
}

func TestARoleWithItsPathIsTheSameRole(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	one := ensured(t, k, profileClass("/team/a/NodeRole"))
	for range 3 { // after the cache has ended too
		c.Step(time.Hour)
		again := ensured(t, k, profileClass("/team/a/NodeRole"))
		require.Equal(t, one, again)
	}
	require.Len(t, c.profiles, 1)
}

func TestAnotherRoleIsAnotherProfile(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	one := ensured(t, k, profileClass("NodeRole"))
	other := profileClass("Other")
	other.Status.InstanceProfile = one
	two := ensured(t, k, other)
	require.NotEqual(t, one, two)
	require.Equal(t, "NodeRole", c.profiles[one].role, "nodes that run keep theirs")
}

func TestTheProfileInTheStatusIsKept(t *testing.T) {
	c := newCloud()
	c.profiles["demo_by_karpenter"] = &entry{path: "/karpenter/us-east-1/demo/uid-1/", role: "NodeRole"}
	k := keeper(c)
	one := profileClass("NodeRole")
	one.Status.InstanceProfile = "demo_by_karpenter"
	for range 2 {
		name := ensured(t, k, one)
		require.Equal(t, "demo_by_karpenter", name)
	}
	require.Zero(t, c.count("Create"))
	require.Equal(t, 1, c.count("Get"), "it is taken for granted for a while")

	// With another role it is not taken for granted.
	two := profileClass("Other")
	two.Status.InstanceProfile = "demo_by_karpenter"
	name := ensured(t, k, two)
	require.Equal(t, k.Name(two), name)
}

// A profile that EC2 does not know is looked up, and made again if it is gone.
func TestAProfileThatSomebodyDeletedIsMadeAgain(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	name := ensured(t, k, profileClass("NodeRole"))
	delete(c.profiles, name)
	k.Forget(name)
	k.Forget("another")
	again := ensured(t, k, profileClass("NodeRole"))
	require.Equal(t, name, again)
	require.Equal(t, "NodeRole", c.profiles[name].role)
}

// hangingIAM answers GetInstanceProfile when the caller has gone.
type hangingIAM struct {
	*cloud
	hang, reached chan struct{}
}

func (h hangingIAM) GetInstanceProfile(ctx context.Context, in *iam.GetInstanceProfileInput, opts ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error) {
	select {
	case <-h.hang:
		h.reached <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return h.cloud.GetInstanceProfile(ctx, in, opts...)
	}
}

// A profile that was seen is looked at again beside the callers, who get it at once;
// and it stays while that fails.
func TestAProfileThatWasSeenHoldsUpNobody(t *testing.T) {
	for _, code := range []string{"InternalFailure", "AccessDenied"} {
		c := newCloud()
		k := keeper(c)
		name := ensured(t, k, profileClass("NodeRole"))
		asked := c.count("Get")
		c.Step(16 * time.Minute)
		c.mu.Lock()
		c.fail["Get"] = code
		c.mu.Unlock()
		ensure := func() {
			got := ensured(t, k, profileClass("NodeRole"))
			require.Equal(t, name, got)
		}
		ensure()
		require.Eventually(t, func() bool { return c.count("Get") == asked+1 }, time.Minute, time.Millisecond)
		for range 5 {
			ensure()
		}
		require.Equal(t, asked+1, c.count("Get"), "it is not asked again at once")
		// The pause begins at the end of the attempt.
		require.Eventually(t, func() bool {
			c.Step(time.Minute)
			ensure()
			return c.count("Get") > asked+1
		}, time.Minute, time.Millisecond)
	}
}

func TestAnIAMThatHangsHoldsUpNobody(t *testing.T) {
	c := newCloud()
	h := hangingIAM{c, make(chan struct{}), make(chan struct{}, 1)}
	asking := cache.NewAsking()
	k := nodeclass.NewKeeper(h, "demo", "us-east-1", c.Now, asking)
	name := ensured(t, k, profileClass("NodeRole"))
	close(h.hang)
	c.Step(16 * time.Minute)
	for range 5 {
		got := ensured(t, k, profileClass("NodeRole"))
		require.Equal(t, name, got)
	}
	<-h.reached
	require.NoError(t, asking.Close(t.Context()), "which ends it")
}

// That a role is gone is an answer, and so is that a profile is.
func TestWhatIsGoneIsNotTakenForGrantedForEver(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	name := ensured(t, k, profileClass("NodeRole"))
	c.mu.Lock()
	delete(c.profiles, name)
	c.mu.Unlock()
	c.Step(16 * time.Minute)
	ensure := func() error { _, err := k.Ensure(t.Context(), profileClass("NodeRole")); return err }
	require.NoError(t, ensure())
	require.Eventually(t, func() bool { return c.count("AddRole") == 2 }, time.Minute, time.Millisecond, "it is made again")

	c.mu.Lock()
	delete(c.profiles, name)
	c.roles = nil
	c.mu.Unlock()
	require.Eventually(t, func() bool {
		c.Step(16 * time.Minute)
		return errors.Is(ensure(), cloudprovider.ErrNotFound)
	}, time.Minute, time.Millisecond)
}

// Whether the profile of the class has the role is not known, so no other is made.
func TestAProfileThatCannotBeReadIsNotReplaced(t *testing.T) {
	c := newCloud()
	c.profiles["demo_by_karpenter"] = &entry{path: "/karpenter/us-east-1/demo/uid-1/", role: "NodeRole"}
	k := keeper(c)
	one := profileClass("NodeRole")
	one.Status.InstanceProfile = "demo_by_karpenter"
	c.fail["Get"] = "ServiceUnavailable"
	_, err := k.Ensure(t.Context(), one)
	require.ErrorContains(t, err, "ServiceUnavailable")
	require.Zero(t, c.count("Create"))
	name := ensured(t, k, one)
	require.Equal(t, "demo_by_karpenter", name)
}

func TestACrashAtAnyStepGivesOneProfile(t *testing.T) {
	for _, step := range []string{"Create", "AddRole"} {
		c := newCloud()
		c.lose[step] = true
		_, err := keeper(c).Ensure(t.Context(), profileClass("NodeRole"))
		require.Error(t, err, step)
		name := ensured(t, keeper(c), profileClass("NodeRole"))
		require.Equal(t, "NodeRole", c.profiles[name].role)
		require.Len(t, c.profiles, 1)
	}
}

func TestAProfileWithAForeignRoleIsMended(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	name := k.Name(profileClass("NodeRole"))
	c.profiles[name] = &entry{path: "/karpenter/us-east-1/demo/uid-1/", role: "Other"}
	ensured(t, k, profileClass("NodeRole"))
	require.Equal(t, "NodeRole", c.profiles[name].role)
}

// A class that named an instance profile names a role: the profile in its status is
// not its own, whichever role that has.
func TestTheProfileOfAUserIsNotGivenOutForARole(t *testing.T) {
	legacy := awsv1.LegacyInstanceProfileName("demo", "us-east-1", "default")
	cases := []struct {
		name, profile, path string
		own                 bool
	}{
		{"by hand", "nodes", "/", false},
		{"of another cluster", "nodes", "/karpenter/us-east-1/other/uid-1/", false},
		{"in another region", "nodes", "/karpenter/eu-west-1/demo/uid-1/", false},
		{"of another class", "nodes", "/karpenter/us-east-1/demo/uid-2/", false},
		{"of another class with a longer uid", "nodes", "/karpenter/us-east-1/demo/uid-1/2/", false},
		{"of the class", "nodes", "/karpenter/us-east-1/demo/uid-1/", true},
		{"of Karpenter before 1.7", legacy, "/", true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCloud()
			c.profiles[tc.profile] = &entry{path: tc.path, role: "NodeRole"}
			before := *c.profiles[tc.profile]
			k := keeper(c)
			one := profileClass("NodeRole")
			one.Status.InstanceProfile = tc.profile
			name := ensured(t, k, one)
			want := k.Name(one)
			if tc.own {
				want = tc.profile
			}
			require.Equal(t, want, name)
			require.Equal(t, "NodeRole", c.profiles[name].role)
			require.Equal(t, before, *c.profiles[tc.profile])
		})
	}
}

// The profile of another class is known by name and role, and still not this one's.
func TestTheProfileOfAnotherClassIsNotGivenOut(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	other := profileClass("NodeRole")
	other.Name, other.UID = "other", "uid-2"
	theirs := ensured(t, k, other)
	one := profileClass("NodeRole")
	one.Status.InstanceProfile = theirs
	name := ensured(t, k, one)
	require.Equal(t, k.Name(one), name)
}

func TestAProfileOfOurNameOnAnotherPathIsLeftAlone(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	name := k.Name(profileClass("NodeRole"))
	c.profiles[name] = &entry{path: "/team/", role: "Other"}
	_, err := k.Ensure(t.Context(), profileClass("NodeRole"))
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.ErrorContains(t, err, `spec.role: "NodeRole": an instance profile `+name+
		` is there already, on the path /team/ and not on /karpenter/us-east-1/demo/uid-1/; delete it, or name it in spec.instanceProfile`)
	require.Equal(t, "Other", c.profiles[name].role)
}

func TestARoleThatIsMissing(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	for range 5 {
		_, err := k.Ensure(t.Context(), profileClass("Missing"))
		require.ErrorIs(t, err, cloudprovider.ErrNotFound)
		require.ErrorContains(t, err, `EC2NodeClass default: spec.role: "Missing": IAM has no such role; create it`)
	}
	require.Equal(t, 1, c.count("Create"), "it is not tried over and over")
	require.Empty(t, c.profiles, "and leaves nothing")
	c.roles = append(c.roles, "Missing")
	c.Step(time.Minute)
	ensured(t, k, profileClass("Missing"))
}

func TestWhatCannotBeEnsured(t *testing.T) {
	_, err := nodeclass.NewKeeper(nil, "demo", "us-east-1", time.Now, cache.NewAsking()).Ensure(t.Context(), profileClass("NodeRole"))
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.ErrorContains(t, err, "name it in spec.instanceProfile")
	_, err = keeper(newCloud()).Ensure(t.Context(), profileClass(""))
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	for _, call := range []string{"Get", "Create", "AddRole"} {
		c := newCloud()
		c.fail[call] = "AccessDenied"
		_, err := keeper(c).Ensure(t.Context(), profileClass("NodeRole"))
		require.ErrorIs(t, err, cloudprovider.ErrDenied, call)
	}
}

func TestCollect(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	given := ensured(t, k, profileClass("NodeRole"))
	path := "/karpenter/us-east-1/demo/uid-2/"
	c.profiles["old"] = &entry{path: path, role: "NodeRole", created: c.Now().Add(-2 * time.Hour)}
	c.profiles["new"] = &entry{path: path, created: c.Now()}
	c.profiles["used"] = &entry{path: path, created: c.Now().Add(-2 * time.Hour)}
	c.profiles["foreign"] = &entry{path: "/karpenter/us-east-1/other/uid/", created: c.Now().Add(-2 * time.Hour)}
	deleted, err := k.Collect(t.Context(), map[string]bool{"used": true})
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, deleted)
	c.Step(time.Hour)
	c.fail["Delete"] = "AccessDenied"
	deleted, err = k.Collect(t.Context(), map[string]bool{"used": true})
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.Len(t, deleted, 1, "the others go all the same")
	_, err = k.Collect(t.Context(), map[string]bool{"used": true})
	require.NoError(t, err)
	require.Equal(t, []string{"foreign", "used"}, c.names())
	require.NotContains(t, c.names(), given)
	none, err := nodeclass.NewKeeper(nil, "demo", "us-east-1", c.Now, cache.NewAsking()).Collect(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
	c.fail["List"] = "Throttling"
	_, err = k.Collect(t.Context(), nil)
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
}

func TestDeleteClass(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	name := ensured(t, k, profileClass("NodeRole"))
	legacy := awsv1.LegacyInstanceProfileName("demo", "us-east-1", "default")
	c.profiles[legacy] = &entry{path: "/", role: "NodeRole"}
	c.profiles["other"] = &entry{path: "/karpenter/us-east-1/demo/uid-2/"}
	deleted, err := k.DeleteClass(t.Context(), profileClass("NodeRole"))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{name, legacy}, deleted)
	require.Equal(t, []string{"other"}, c.names())
	deleted, err = k.DeleteClass(t.Context(), profileClass("NodeRole"))
	require.NoError(t, err)
	require.Empty(t, deleted, "it can be repeated")
}

// A profile that was just made is not known everywhere at once. That is no reason to
// say that there is no such role, nor to delete it.
func TestAProfileThatIAMDoesNotKnowYet(t *testing.T) {
	c := newCloud()
	k := keeper(c)
	c.fail["AddRole"], c.text = "NoSuchEntity", "Instance Profile demo_1 cannot be found."
	_, err := k.Ensure(t.Context(), profileClass("NodeRole"))
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.Positive(t, cloudprovider.RetryAfter(err))
	require.NotErrorIs(t, err, cloudprovider.ErrNotFound)
	require.Zero(t, c.count("Delete"))
	name := ensured(t, k, profileClass("NodeRole"))
	require.Equal(t, "NodeRole", c.profiles[name].role)
	require.Equal(t, 1, c.count("Create"))
}
