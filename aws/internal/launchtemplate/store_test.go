package launchtemplate_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const keep = 10 * time.Minute

func built(t *testing.T, change ...func(*launchtemplate.Input)) launchtemplate.Template {
	t.Helper()
	got, err := launchtemplate.Build(input(change...))
	require.NoError(t, err)
	return got
}

func use(t *testing.T, s *launchtemplate.Store, one launchtemplate.Template) func() {
	t.Helper()
	done, err := s.Use(t.Context(), one)
	require.NoError(t, err)
	return done
}

func TestUseMakesATemplateOnce(t *testing.T) {
	c := newCloud(t)
	s := c.store()
	one := built(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { use(t, s, one)() })
	}
	wg.Wait()
	require.Equal(t, 1, c.Count("CreateLaunchTemplate"))
	require.Equal(t, 1, c.Count("DescribeLaunchTemplates"))
	require.Equal(t, []string{one.Name}, c.names())
	c.Advance(keep)
	use(t, s, one)()
	require.Equal(t, 2, c.Count("DescribeLaunchTemplates"), "after a while it is looked at again")
	require.Equal(t, 1, c.Count("CreateLaunchTemplate"))
}

func TestTemplatesDoNotWaitForEachOther(t *testing.T) {
	c := newCloud(t)
	reached, release := c.hold()
	alsoReached, alsoRelease := c.hold()
	s := c.store()
	started := make(chan error, 2)
	for _, tenancy := range []string{"default", "dedicated"} {
		one := built(t, func(in *launchtemplate.Input) { in.Tenancy = tenancy })
		go func() {
			_, err := s.Use(t.Context(), one)
			started <- err
		}()
	}
	<-reached
	<-alsoReached
	release()
	alsoRelease()
	require.NoError(t, <-started)
	require.NoError(t, <-started)
}

func TestAWaiterLeavesWhenItsContextEnds(t *testing.T) {
	c := newCloud(t)
	reached, release := c.hold()
	s := c.store()
	one := built(t)
	first := make(chan error)
	go func() {
		_, err := s.Use(t.Context(), one)
		first <- err
	}()
	<-reached
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Use(ctx, one)
	require.ErrorIs(t, err, context.Canceled)
	release()
	require.NoError(t, <-first)
}

func TestFailuresAreErrorsAndNotRemembered(t *testing.T) {
	for _, call := range []string{"DescribeLaunchTemplates", "CreateLaunchTemplate"} {
		c := newCloud(t)
		c.fail(call, "RequestLimitExceeded")
		s := c.store()
		_, err := s.Use(t.Context(), built(t))
		require.Equal(t, cloudprovider.KindThrottled, cloudprovider.KindOf(err), call)
		use(t, s, built(t))()
		require.Len(t, c.names(), 1)
	}
}

func TestOneThatIsThereAlready(t *testing.T) {
	c := newCloud(t)
	one := built(t)
	c.add(one.Name, one.Tags)
	use(t, c.store(), one)()
	require.Zero(t, c.Count("CreateLaunchTemplate"))
	c = newCloud(t)
	c.fail("CreateLaunchTemplate", "InvalidLaunchTemplateName.AlreadyExistsException")
	use(t, c.store(), one)()
}

func TestForget(t *testing.T) {
	c := newCloud(t)
	s := c.store()
	one := built(t)
	use(t, s, one)()
	_, err := c.client.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &one.Name})
	require.NoError(t, err)
	use(t, s, one)()
	require.Empty(t, c.names(), "it is taken to be there")
	c.Advance(time.Second) // a request at the same instant has the same client token
	s.Forget(one.Name, "other")
	use(t, s, one)()
	require.Len(t, c.names(), 1)
}

func TestCollect(t *testing.T) {
	c := newCloud(t)
	s := c.store()
	idle, busy := built(t), built(t, func(in *launchtemplate.Input) { in.Tenancy = "dedicated" })
	foreign := built(t, func(in *launchtemplate.Input) { in.ImageID = "ami-of-before" })
	c.add(foreign.Name, foreign.Tags)
	c.add("not-by-our-name", foreign.Tags)
	c.add("karpenter.k8s.aws/1", map[string]string{"eks:eks-cluster-name": "another"})
	use(t, s, idle)()
	done := use(t, s, busy)
	deleted, err := s.Collect(t.Context())
	require.NoError(t, err)
	require.Empty(t, deleted)
	c.Advance(keep)
	deleted, err = s.Collect(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{idle.Name, foreign.Name}, deleted)
	require.Contains(t, c.names(), busy.Name)
	require.Len(t, c.names(), 3)
	done()
	done()
	deleted, err = s.Collect(t.Context())
	require.NoError(t, err)
	require.Empty(t, deleted, "it was used until just now")
	c.Advance(keep)
	deleted, err = s.Collect(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{busy.Name}, deleted)
	use(t, s, idle)()
	require.Contains(t, c.names(), idle.Name, "what was deleted is made anew")
}

func TestCollectGoesOnAfterAFailure(t *testing.T) {
	c := newCloud(t)
	s := c.store()
	use(t, s, built(t))()
	use(t, s, built(t, func(in *launchtemplate.Input) { in.Tenancy = "dedicated" }))()
	c.Advance(keep)
	c.fail("DeleteLaunchTemplate", "UnauthorizedOperation")
	deleted, err := s.Collect(t.Context())
	require.Equal(t, cloudprovider.KindDenied, cloudprovider.KindOf(err))
	require.Len(t, deleted, 1)
	c.fail("DescribeLaunchTemplates", "RequestLimitExceeded")
	_, err = s.Collect(t.Context())
	require.Error(t, err)
	deleted, err = s.Collect(t.Context())
	require.NoError(t, err)
	require.Len(t, deleted, 1)
}

// The error says that some templates are left because the time was up.
func TestADeletionThatIsBrokenOffIsAnError(t *testing.T) {
	for name, remove := range map[string]func(*launchtemplate.Store, context.Context) ([]string, error){
		"collect": (*launchtemplate.Store).Collect,
		"class": func(s *launchtemplate.Store, ctx context.Context) ([]string, error) {
			return s.DeleteClass(ctx, "default")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t)
			stopped := errors.New("the controller stops")
			ctx, cancel := context.WithCancelCause(t.Context())
			s := launchtemplate.NewStore(ending{c.client, func() { cancel(stopped) }}, "demo", c.Now, keep)
			use(t, s, built(t))()
			use(t, s, built(t, func(in *launchtemplate.Input) { in.Tenancy = "dedicated" }))()
			c.Advance(keep)
			deleted, err := remove(s, ctx)
			require.ErrorIs(t, err, stopped)
			require.Len(t, deleted, 1)
			require.Len(t, c.names(), 1)
			deleted, err = remove(s, t.Context())
			require.NoError(t, err)
			require.Len(t, deleted, 1)
		})
	}
}

// ending calls end when a template was deleted.
type ending struct {
	*ec2.Client
	end func()
}

func (e ending) DeleteLaunchTemplate(ctx context.Context, in *ec2.DeleteLaunchTemplateInput, opts ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
	out, err := e.Client.DeleteLaunchTemplate(ctx, in, opts...)
	e.end()
	return out, err
}

func TestDeleteClass(t *testing.T) {
	c := newCloud(t)
	s := c.store()
	one := built(t)
	other := built(t, func(in *launchtemplate.Input) {
		in.Tags = map[string]string{"eks:eks-cluster-name": "demo", "karpenter.k8s.aws/ec2nodeclass": "other"}
	})
	use(t, s, one)()
	use(t, s, other)()
	deleted, err := s.DeleteClass(t.Context(), "default")
	require.NoError(t, err)
	require.Equal(t, []string{one.Name}, deleted)
	require.Equal(t, []string{other.Name}, c.names())
}
