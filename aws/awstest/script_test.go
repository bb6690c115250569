package awstest_test

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func zones(s *awstest.Server, c *ec2.Client) error {
	_, err := c.DescribeAvailabilityZones(background, &ec2.DescribeAvailabilityZonesInput{})
	return err
}

// The SDK repeats what was throttled, by itself.
func TestThrottling(t *testing.T) {
	s := start(t, nil)
	require.NoError(t, s.Script(awstest.Fault{Op: "DescribeAvailabilityZones", Nth: 1, Err: awstest.ErrThrottled}))
	require.NoError(t, zones(s, client(s)))
	calls := s.Calls()
	require.Len(t, calls, 2)
	require.Equal(t, "RequestLimitExceeded", calls[0].Code)
	require.Empty(t, calls[1].Code)
	s.ForgetCalls()
	require.Empty(t, s.Calls())
}

func TestEffects(t *testing.T) {
	for _, c := range []struct {
		fault awstest.Fault
		want  string // the code; "" is a broken connection
	}{
		{awstest.Fault{Err: &smithy.GenericAPIError{Code: "Blocked", Message: "no"}}, "Blocked"},
		{awstest.Fault{Op: "DescribeAvailabilityZones", Err: awstest.ErrThrottled}, "RequestLimitExceeded"},
		{awstest.Fault{Err: awstest.ErrBroken}, "InternalError"},
		{awstest.Fault{Err: awstest.ErrDenied}, "UnauthorizedOperation"},
		{awstest.Fault{Err: awstest.ErrExpired}, "RequestExpired"},
		{awstest.Fault{Err: awstest.ErrCut}, ""},
		{awstest.Fault{Err: awstest.ErrLost}, ""},
		{awstest.Fault{Err: awstest.ErrHalf}, ""},
	} {
		t.Run(c.fault.Err.Error(), func(t *testing.T) {
			s := start(t, nil)
			require.NoError(t, s.Script(c.fault))
			err := zones(s, once(s))
			require.Error(t, err)
			require.Equal(t, c.want, code(err))
			s.ClearScript()
			require.NoError(t, zones(s, once(s)))
		})
	}
}

// What hangs is answered to nobody, and holds up nothing else.
func TestHang(t *testing.T) {
	s := start(t, nil)
	require.NoError(t, s.Script(awstest.Fault{Op: "DescribeAvailabilityZones", Err: awstest.ErrHang}))
	hanging := make(chan error)
	ctx, cancel := context.WithCancel(background)
	for range 2 {
		go func() {
			_, err := once(s).DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
			hanging <- err
		}()
	}
	_, err := once(s).DescribeSubnets(background, &ec2.DescribeSubnetsInput{})
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-hanging, context.Canceled)
	require.ErrorIs(t, <-hanging, context.Canceled)

	go func() { hanging <- zones(s, once(s)) }()
	for err = nil; err == nil; { // it may not have come yet
		s.Release()
		select {
		case err = <-hanging:
		default:
			runtime.Gosched()
		}
	}
	s.ClearScript()
	require.NoError(t, zones(s, once(s)))
}

// Each service has codes of its own for the same trouble, which the SDK knows.
func TestEffectsOfOtherServices(t *testing.T) {
	s := start(t, nil)
	require.NoError(t, s.Script(awstest.Fault{Times: 4, Err: awstest.ErrThrottled}, awstest.Fault{Nth: 5, Times: 2, Err: awstest.ErrExpired}))
	_, err := ssm.NewFromConfig(s.Config()).GetParameter(background, &ssm.GetParameterInput{Name: new("/x")})
	require.Equal(t, "ThrottlingException", code(err), "three times")
	_, err = iam.NewFromConfig(s.Config()).GetInstanceProfile(background, &iam.GetInstanceProfileInput{InstanceProfileName: new("x")})
	require.Equal(t, "ExpiredTokenException", code(err), "once throttled, and repeated")
	_, err = ssm.NewFromConfig(s.Config()).GetParameter(background, &ssm.GetParameterInput{Name: new("/x")})
	require.Equal(t, "ExpiredTokenException", code(err))
}

// A lost launch has launched: asked again by the same token, it is the same.
func TestLostLaunch(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	require.NoError(t, s.Script(awstest.Fault{Op: "CreateFleet", Nth: 1, Err: awstest.ErrLost}))
	in := fleet(1, false, "m5.large")
	in.ClientToken = new("claim-1")
	_, err := once(s).CreateFleet(background, in)
	require.Error(t, err)
	require.Equal(t, 1, s.Running())
	require.Len(t, launched(launch(t, s, in)), 1)
	require.Equal(t, 1, s.Running())
	require.Equal(t, 2, s.Count("CreateFleet"))
}

func TestDripAndDelay(t *testing.T) {
	s := start(t, nil)
	before := s.Now()
	require.NoError(t, s.Script(awstest.Fault{Err: awstest.Drip(7)}, awstest.Fault{Err: awstest.Delay(time.Minute)}))
	require.NoError(t, zones(s, once(s)))
	require.Equal(t, before.Add(time.Minute), s.Now())
}

func TestHold(t *testing.T) {
	s := start(t, nil)
	reached, release, err := s.Hold("DescribeAvailabilityZones")
	require.NoError(t, err)
	var wait sync.WaitGroup
	wait.Go(func() { require.NoError(t, zones(s, once(s))) })
	<-reached
	require.NoError(t, zones(s, once(s)), "the next call is not held")
	release()
	release()
	wait.Wait()

	reached, _, err = s.Hold()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(background)
	wait.Go(func() {
		_, err := once(s).DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
		require.ErrorIs(t, err, context.Canceled)
	})
	<-reached
	cancel()
	wait.Wait()
	_, _, err = s.Hold("Nonsense")
	require.Error(t, err)
}

func TestScriptFaults(t *testing.T) {
	s := start(t, nil)
	err := s.Script(awstest.Fault{}, awstest.Fault{Op: "CreateFleets", Nth: -1, Err: awstest.ErrThrottled},
		awstest.Fault{Op: "x", Err: &smithy.GenericAPIError{}}, awstest.Fault{Err: errors.New("boom")})
	for _, want := range []string{
		"fault 0: Err: missing; say what becomes of the call", "fault 1: Nth: -1; use zero or more", `"CreateFleets"`, `"x"`,
		"fault 2: Err: no service answers with", `fault 3: Err: no service answers with "boom"`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, zones(s, once(s)), "none was added")
}

// A call names a pool or a zone by the value of a parameter, a zone also by a subnet.
func TestFaultsOfAPoolAndAZone(t *testing.T) {
	s := start(t, nil)
	denied := func(f awstest.Fault, in *ec2.DescribeSubnetsInput) bool {
		f.Err = awstest.ErrDenied
		require.NoError(t, s.Script(f))
		defer s.ClearScript()
		_, err := once(s).DescribeSubnets(background, in)
		return code(err) == "UnauthorizedOperation"
	}
	out, err := once(s).DescribeSubnets(background, &ec2.DescribeSubnetsInput{})
	require.NoError(t, err)
	subnet := out.Subnets[0]
	byTag := &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: new("tag:karpenter.sh/nodepool"), Values: []string{"web"}}}}
	byZone := &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: new("availability-zone"), Values: []string{*subnet.AvailabilityZone}}}}
	require.True(t, denied(awstest.Fault{Pool: "web"}, byTag))
	require.False(t, denied(awstest.Fault{Pool: "we"}, byTag))
	require.True(t, denied(awstest.Fault{Zone: *subnet.AvailabilityZone}, byZone))
	require.True(t, denied(awstest.Fault{Zone: *subnet.AvailabilityZone}, &ec2.DescribeSubnetsInput{SubnetIds: []string{*subnet.SubnetId}}))
	require.False(t, denied(awstest.Fault{Zone: "nowhere"}, byZone))
	require.False(t, denied(awstest.Fault{Zone: *subnet.AvailabilityZone}, byTag))
}

func TestOptionsFaults(t *testing.T) {
	_, err := awstest.Start(&awstest.Options{
		Account: "12", Zones: []awstest.Zone{{Name: "a"}}, TypeZones: map[string][]string{"m5.large": {"z"}}, Boot: -1,
		PageSizes: map[string]int{"DescribeInstances": 0}, Subnets: []ec2types.Subnet{{}}, Types: append(awstest.InstanceTypes(), awstest.InstanceTypes()[0]),
	})
	for _, want := range []string{"Account", "Zones[0]", "TypeZones", "Boot", "PageSizes", "Subnets[0]", "Types["} {
		require.ErrorContains(t, err, "Options."+want)
	}
}

// A call without a signature, or with another key, is refused; so is what is
// no call of any service.
func TestStrangers(t *testing.T) {
	cloud, err := awstest.New(nil)
	require.NoError(t, err)
	for _, c := range []struct{ method, path, target, auth, body, want string }{
		{"POST", "/", "", "", "Action=DescribeInstances&Version=2016-11-15", "MissingAuthenticationToken"},
		{"POST", "/", "", "AWS4-HMAC-SHA256 Credential=OTHER/x", "Action=DescribeInstances&Version=2016-11-15", "AuthFailure"},
		{"POST", "/", "", "", "Action=RebootInstances&Version=2016-11-15", "InvalidAction"},
		{"POST", "/", "AmazonSSM.GetParameter", "", "{", "InvalidAction"},
		{"POST", "/", "AmazonS3.GetObject", "", "{}", "InvalidAction"},
		{"GET", "/clusters/", "", "", "", "InvalidAction"},
		{"DELETE", "/", "", "", "", "InvalidAction"},
	} {
		r := httptest.NewRequest(c.method, "/", bytes.NewBufferString(c.body))
		r.URL.Path, r.URL.RawPath = c.path, ""
		r.Header.Set("X-Amz-Target", c.target)
		r.Header.Set("Authorization", c.auth)
		w := httptest.NewRecorder()
		cloud.ServeHTTP(w, r)
		require.GreaterOrEqual(t, w.Code, 400)
		require.Contains(t, w.Body.String(), c.want)
	}
	require.Equal(t, "", cloud.Calls()[3].Action)
}
