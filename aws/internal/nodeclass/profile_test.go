package nodeclass_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// iamCloud is a cloud with three IAM roles, and a client of its IAM that repeats no call.
type iamCloud struct {
	*awstest.Server
	t      testing.TB
	client *iam.Client
}

func newIAMCloud(t testing.TB) *iamCloud {
	t.Helper()
	server, err := awstest.Start(&awstest.Options{Roles: []string{"NodeRole", "Other", "Late"}})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	config := server.Config()
	config.Retryer = func() sdk.Retryer { return sdk.NopRetryer{} }
	return &iamCloud{server, t, iam.NewFromConfig(config)}
}

// fail has the next call of an action fail.
func (c *iamCloud) fail(action string, err error) {
	c.t.Helper()
	require.NoError(c.t, c.Script(awstest.Fault{Op: action, Nth: 1, Err: err}))
}

func refused(code string) error { return &smithy.GenericAPIError{Code: code, Message: "no"} }

// noRole is what IAM says if it has no such role.
var noRole = &smithy.GenericAPIError{Code: "NoSuchEntity", Message: "The role with name Late cannot be found."}

// add adds a profile that the keeper did not make.
func (c *iamCloud) add(name, path, role string) {
	c.AddInstanceProfile(awstest.InstanceProfile{Name: name, Path: path, Role: role})
}

// remove deletes a profile, as a user does.
func (c *iamCloud) remove(name string) {
	c.t.Helper()
	_, err := c.client.RemoveRoleFromInstanceProfile(bg, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: new(c.profile(name).Role)})
	require.NoError(c.t, err)
	_, err = c.client.DeleteInstanceProfile(bg, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
	require.NoError(c.t, err)
}

func (c *iamCloud) profile(name string) awstest.InstanceProfile {
	c.t.Helper()
	all := c.InstanceProfiles()
	i := slices.IndexFunc(all, func(p awstest.InstanceProfile) bool { return p.Name == name })
	require.GreaterOrEqual(c.t, i, 0, name)
	return all[i]
}

func (c *iamCloud) names() (out []string) {
	for _, p := range c.InstanceProfiles() {
		out = append(out, p.Name)
	}
	return out
}

func (c *iamCloud) keeper() *nodeclass.Keeper {
	return nodeclass.NewKeeper(c.client, "demo", "us-east-1", c.Now, cache.NewAsking())
}

func profileClass(role string) *awsv1.EC2NodeClass {
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-1"}, Spec: awsv1.EC2NodeClassSpec{Role: role},
	}
}

// ensured returns the profile that a class has.
func ensured(t *testing.T, k *nodeclass.Keeper, c *awsv1.EC2NodeClass) string {
	t.Helper()
	name, err := k.Ensure(t.Context(), c)
	require.NoError(t, err)
	return name
}

func TestEnsureMakesOneProfile(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			name := ensured(t, k, profileClass("NodeRole"))
			require.Equal(t, k.Name(profileClass("NodeRole")), name)
		})
	}
	wg.Wait()
	require.Equal(t, 1, c.Count("CreateInstanceProfile"))
	require.Equal(t, 1, c.Count("GetInstanceProfile"))
	e := c.profile(k.Name(profileClass("NodeRole")))
	require.Equal(t, "NodeRole", e.Role)
	require.Equal(t, "/karpenter/us-east-1/demo/uid-1/", e.Path)
	require.Equal(t, map[string]string{
		"kubernetes.io/cluster/demo": "owned", "eks:eks-cluster-name": "demo",
		"karpenter.k8s.aws/ec2nodeclass": "default", "topology.kubernetes.io/region": "us-east-1",
	}, e.Tags)
	c.Advance(15 * time.Minute)
	ensured(t, k, profileClass("NodeRole"))
	require.Eventually(t, func() bool { return c.Count("GetInstanceProfile") == 2 }, time.Minute, time.Millisecond)
	require.Equal(t, 1, c.Count("CreateInstanceProfile"))
}

func TestARoleWithItsPathIsTheSameRole(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	one := ensured(t, k, profileClass("/team/a/NodeRole"))
	for range 3 { // after the cache has ended too
		c.Advance(time.Hour)
		again := ensured(t, k, profileClass("/team/a/NodeRole"))
		require.Equal(t, one, again)
	}
	require.Len(t, c.InstanceProfiles(), 1)
}

func TestTheProfileInTheStatusIsKept(t *testing.T) {
	c := newIAMCloud(t)
	c.add("demo_by_karpenter", "/karpenter/us-east-1/demo/uid-1/", "NodeRole")
	k := c.keeper()
	one := profileClass("NodeRole")
	one.Status.InstanceProfile = "demo_by_karpenter"
	for range 2 {
		name := ensured(t, k, one)
		require.Equal(t, "demo_by_karpenter", name)
	}
	require.Zero(t, c.Count("CreateInstanceProfile"))
	require.Equal(t, 1, c.Count("GetInstanceProfile"), "it is taken for granted for a while")

	// With another role it is not taken for granted.
	two := profileClass("Other")
	two.Status.InstanceProfile = "demo_by_karpenter"
	name := ensured(t, k, two)
	require.Equal(t, k.Name(two), name)
}

// A profile that EC2 does not know is looked up, and made again if it is gone.
func TestAProfileThatSomebodyDeletedIsMadeAgain(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	name := ensured(t, k, profileClass("NodeRole"))
	c.remove(name)
	k.Forget(name)
	k.Forget("another")
	again := ensured(t, k, profileClass("NodeRole"))
	require.Equal(t, name, again)
	require.Equal(t, "NodeRole", c.profile(name).Role)
}

// A profile that was seen is looked at again beside the callers, who get it at once;
// and it stays while that fails.
func TestAProfileThatWasSeenHoldsUpNobody(t *testing.T) {
	for _, code := range []string{"InternalFailure", "AccessDenied"} {
		c := newIAMCloud(t)
		k := c.keeper()
		name := ensured(t, k, profileClass("NodeRole"))
		asked := c.Count("GetInstanceProfile")
		c.Advance(16 * time.Minute)
		c.fail("GetInstanceProfile", refused(code))
		ensure := func() {
			got := ensured(t, k, profileClass("NodeRole"))
			require.Equal(t, name, got)
		}
		ensure()
		require.Eventually(t, func() bool { return c.Count("GetInstanceProfile") == asked+1 }, time.Minute, time.Millisecond)
		for range 5 {
			ensure()
		}
		require.Equal(t, asked+1, c.Count("GetInstanceProfile"), "it is not asked again at once")
		// The pause begins at the end of the attempt.
		require.Eventually(t, func() bool {
			c.Advance(time.Minute)
			ensure()
			return c.Count("GetInstanceProfile") > asked+1
		}, time.Minute, time.Millisecond)
	}
}

func TestAnIAMThatHangsHoldsUpNobody(t *testing.T) {
	c := newIAMCloud(t)
	asking := cache.NewAsking()
	k := nodeclass.NewKeeper(c.client, "demo", "us-east-1", c.Now, asking)
	name := ensured(t, k, profileClass("NodeRole"))
	reached, _, err := c.Hold("GetInstanceProfile")
	require.NoError(t, err)
	c.Advance(16 * time.Minute)
	for range 5 {
		got := ensured(t, k, profileClass("NodeRole"))
		require.Equal(t, name, got)
	}
	<-reached
	require.NoError(t, asking.Close(t.Context()), "which ends it")
}

// That a role is gone is an answer, and so is that a profile is.
func TestWhatIsGoneIsNotTakenForGrantedForEver(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	name := ensured(t, k, profileClass("NodeRole"))
	c.remove(name)
	c.Advance(16 * time.Minute)
	ensure := func() error { _, err := k.Ensure(t.Context(), profileClass("NodeRole")); return err }
	require.NoError(t, ensure())
	require.Eventually(t, func() bool { return c.Count("AddRoleToInstanceProfile") == 2 }, time.Minute, time.Millisecond, "it is made again")

	c.remove(name)
	require.NoError(t, c.Script(awstest.Fault{Op: "AddRoleToInstanceProfile", Err: noRole}))
	require.Eventually(t, func() bool {
		c.Advance(16 * time.Minute)
		return errors.Is(ensure(), cloudprovider.ErrNotFound)
	}, time.Minute, time.Millisecond)
}

// Whether the profile of the class has the role is not known, so no other is made.
func TestAProfileThatCannotBeReadIsNotReplaced(t *testing.T) {
	c := newIAMCloud(t)
	c.add("demo_by_karpenter", "/karpenter/us-east-1/demo/uid-1/", "NodeRole")
	k := c.keeper()
	one := profileClass("NodeRole")
	one.Status.InstanceProfile = "demo_by_karpenter"
	c.fail("GetInstanceProfile", refused("ServiceUnavailable"))
	_, err := k.Ensure(t.Context(), one)
	require.ErrorContains(t, err, "ServiceUnavailable")
	require.Zero(t, c.Count("CreateInstanceProfile"))
	name := ensured(t, k, one)
	require.Equal(t, "demo_by_karpenter", name)
}

func TestACrashAtAnyStepGivesOneProfile(t *testing.T) {
	for _, step := range []string{"CreateInstanceProfile", "AddRoleToInstanceProfile"} {
		c := newIAMCloud(t)
		c.fail(step, awstest.ErrLost)
		_, err := c.keeper().Ensure(t.Context(), profileClass("NodeRole"))
		require.Error(t, err, step)
		name := ensured(t, c.keeper(), profileClass("NodeRole"))
		require.Equal(t, "NodeRole", c.profile(name).Role)
		require.Len(t, c.InstanceProfiles(), 1)
	}
}

func TestAProfileWithAForeignRoleIsMended(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	name := k.Name(profileClass("NodeRole"))
	c.add(name, "/karpenter/us-east-1/demo/uid-1/", "Other")
	ensured(t, k, profileClass("NodeRole"))
	require.Equal(t, "NodeRole", c.profile(name).Role)
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
			c := newIAMCloud(t)
			c.add(tc.profile, tc.path, "NodeRole")
			before := c.profile(tc.profile)
			k := c.keeper()
			one := profileClass("NodeRole")
			one.Status.InstanceProfile = tc.profile
			name := ensured(t, k, one)
			want := k.Name(one)
			if tc.own {
				want = tc.profile
			}
			require.Equal(t, want, name)
			require.Equal(t, "NodeRole", c.profile(name).Role)
			require.Equal(t, before, c.profile(tc.profile))
		})
	}
}

func TestAProfileOfOurNameOnAnotherPathIsLeftAlone(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	name := k.Name(profileClass("NodeRole"))
	c.add(name, "/team/", "Other")
	_, err := k.Ensure(t.Context(), profileClass("NodeRole"))
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.ErrorContains(t, err, `spec.role: "NodeRole": an instance profile `+name+
		` is there already, on the path /team/ and not on /karpenter/us-east-1/demo/uid-1/; delete it, or name it in spec.instanceProfile`)
	require.Equal(t, "Other", c.profile(name).Role)
}

func TestARoleThatIsMissing(t *testing.T) {
	c := newIAMCloud(t)
	require.NoError(t, c.Script(awstest.Fault{Op: "AddRoleToInstanceProfile", Err: noRole}))
	k := c.keeper()
	for range 5 {
		_, err := k.Ensure(t.Context(), profileClass("Late"))
		require.ErrorIs(t, err, cloudprovider.ErrNotFound)
		require.ErrorContains(t, err, `EC2NodeClass default: spec.role: "Late": IAM has no such role; create it`)
	}
	require.Equal(t, 1, c.Count("CreateInstanceProfile"), "it is not tried over and over")
	require.Empty(t, c.InstanceProfiles(), "and leaves nothing")
	c.ClearScript()
	c.Advance(time.Minute)
	ensured(t, k, profileClass("Late"))
}

func TestWhatCannotBeEnsured(t *testing.T) {
	_, err := nodeclass.NewKeeper(nil, "demo", "us-east-1", time.Now, cache.NewAsking()).Ensure(t.Context(), profileClass("NodeRole"))
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.ErrorContains(t, err, "name it in spec.instanceProfile")
	_, err = newIAMCloud(t).keeper().Ensure(t.Context(), profileClass(""))
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	for _, call := range []string{"GetInstanceProfile", "CreateInstanceProfile", "AddRoleToInstanceProfile"} {
		c := newIAMCloud(t)
		c.fail(call, refused("AccessDenied"))
		_, err := c.keeper().Ensure(t.Context(), profileClass("NodeRole"))
		require.ErrorIs(t, err, cloudprovider.ErrDenied, call)
	}
}

func TestCollect(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	given := ensured(t, k, profileClass("NodeRole"))
	path := "/karpenter/us-east-1/demo/uid-2/"
	for _, p := range []awstest.InstanceProfile{
		{Name: "old", Path: path, Role: "NodeRole", CreatedAt: c.Now().Add(-2 * time.Hour)},
		{Name: "new", Path: path},
		{Name: "used", Path: path, CreatedAt: c.Now().Add(-2 * time.Hour)},
		{Name: "foreign", Path: "/karpenter/us-east-1/other/uid/", CreatedAt: c.Now().Add(-2 * time.Hour)},
	} {
		c.AddInstanceProfile(p)
	}
	deleted, err := k.Collect(t.Context(), map[string]bool{"used": true})
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, deleted)
	c.Advance(time.Hour)
	c.fail("DeleteInstanceProfile", refused("AccessDenied"))
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
	c.fail("ListInstanceProfiles", refused("Throttling"))
	_, err = k.Collect(t.Context(), nil)
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
}

func TestDeleteClass(t *testing.T) {
	c := newIAMCloud(t)
	k := c.keeper()
	name := ensured(t, k, profileClass("NodeRole"))
	legacy := awsv1.LegacyInstanceProfileName("demo", "us-east-1", "default")
	c.add(legacy, "/", "NodeRole")
	c.add("other", "/karpenter/us-east-1/demo/uid-2/", "")
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
	c := newIAMCloud(t)
	k := c.keeper()
	c.fail("AddRoleToInstanceProfile", &smithy.GenericAPIError{Code: "NoSuchEntity", Message: "Instance Profile demo_1 cannot be found."})
	_, err := k.Ensure(t.Context(), profileClass("NodeRole"))
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.Positive(t, cloudprovider.RetryAfter(err))
	require.NotErrorIs(t, err, cloudprovider.ErrNotFound)
	require.Zero(t, c.Count("DeleteInstanceProfile"))
	name := ensured(t, k, profileClass("NodeRole"))
	require.Equal(t, "NodeRole", c.profile(name).Role)
	require.Equal(t, 1, c.Count("CreateInstanceProfile"))
}
