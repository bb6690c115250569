package awstest_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
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
	require.NoError(t, s.Script(awstest.Nth(1, "DescribeAvailabilityZones").Throttle()))
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
		rule awstest.Rule
		want string // the code; "" is a broken connection
	}{
		{awstest.On().Fail("Blocked", "no"), "Blocked"},
		{awstest.On("DescribeAvailabilityZones").Throttle(), "RequestLimitExceeded"},
		{awstest.On().Break(), "InternalError"},
		{awstest.On().Deny(), "UnauthorizedOperation"},
		{awstest.On().Expire(), "RequestExpired"},
		{awstest.On().Cut(), ""},
		{awstest.On().Lose(), ""},
		{awstest.On().Half(), ""},
		{awstest.Of("ec2").Fail("Blocked", "no"), "Blocked"},
		{awstest.And(awstest.Since(0), awstest.Until(time.Hour), awstest.Not(awstest.DryRun())).Fail("Blocked", "no"), "Blocked"},
		{awstest.Or(awstest.On("GetParameter"), awstest.About("true"), awstest.Times(1)).Fail("Blocked", "no"), "Blocked"},
		{awstest.Every(1).Fail("Blocked", "no"), "Blocked"},
		{awstest.Skip(0).Fail("Blocked", "no"), "Blocked"},
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			s := start(t, nil)
			require.NoError(t, s.Script(c.rule))
			err := zones(s, once(s))
			require.Error(t, err)
			require.Equal(t, c.want, code(err))
			s.ClearScript()
			require.NoError(t, zones(s, once(s)))
		})
	}
}

// Each service has codes of its own for the same trouble, which the SDK knows.
func TestEffectsOfOtherServices(t *testing.T) {
	s := start(t, nil)
	require.NoError(t, s.Script(awstest.Times(4).Throttle(), awstest.And(awstest.Skip(4), awstest.Times(2)).Expire()))
	_, err := ssm.NewFromConfig(s.Config()).GetParameter(background, &ssm.GetParameterInput{Name: ptr("/x")})
	require.Equal(t, "ThrottlingException", code(err), "three times")
	_, err = iam.NewFromConfig(s.Config()).GetInstanceProfile(background, &iam.GetInstanceProfileInput{InstanceProfileName: ptr("x")})
	require.Equal(t, "ExpiredTokenException", code(err), "once throttled, and repeated")
	_, err = ssm.NewFromConfig(s.Config()).GetParameter(background, &ssm.GetParameterInput{Name: ptr("/x")})
	require.Equal(t, "ExpiredTokenException", code(err))
}

// A lost launch has launched: asked again by the same token, it is the same.
func TestLostLaunch(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	require.NoError(t, s.Script(awstest.Nth(1, "CreateFleet").Lose()))
	in := fleet(1, false, "m5.large")
	in.ClientToken = ptr("claim-1")
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
	require.NoError(t, s.Script(awstest.On().Drip(7), awstest.On().Delay(time.Minute)))
	require.NoError(t, zones(s, once(s)))
	require.Equal(t, before.Add(time.Minute), s.Now())
}

func TestHold(t *testing.T) {
	s := start(t, nil)
	reached, release, err := s.Hold(awstest.On("DescribeAvailabilityZones"))
	require.NoError(t, err)
	var wait sync.WaitGroup
	wait.Go(func() { require.NoError(t, zones(s, once(s))) })
	<-reached
	require.NoError(t, zones(s, once(s)), "the next call is not held")
	release()
	release()
	wait.Wait()

	reached, _, err = s.Hold(awstest.On())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(background)
	wait.Go(func() {
		_, err := once(s).DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
		require.ErrorIs(t, err, context.Canceled)
	})
	<-reached
	cancel()
	wait.Wait()
	_, _, err = s.Hold(awstest.On("Nonsense"))
	require.Error(t, err)
}

func TestRateLimits(t *testing.T) {
	s := start(t, &awstest.Options{RateLimits: map[string]awstest.RateLimit{"DescribeAvailabilityZones": {PerSecond: 0.5, Burst: 2}}})
	c := once(s)
	require.NoError(t, zones(s, c))
	require.NoError(t, zones(s, c))
	require.Equal(t, "RequestLimitExceeded", code(zones(s, c)))
	s.Advance(time.Second)
	require.Equal(t, "RequestLimitExceeded", code(zones(s, c)))
	s.Advance(time.Second)
	require.NoError(t, zones(s, c))
}

// The SDK learns of a clock that is off from the answer, and signs anew.
func TestClockSkew(t *testing.T) {
	s := start(t, &awstest.Options{Skew: 3 * time.Hour})
	require.NoError(t, zones(s, client(s)))
	require.Equal(t, "AuthFailure", s.Calls()[0].Code)
	require.Equal(t, 2, s.Count("DescribeAvailabilityZones"))
}

func TestScriptFaults(t *testing.T) {
	s := start(t, nil)
	err := s.Script(awstest.Rule{}, awstest.Nth(0, "CreateFleets").Throttle(), awstest.Of("s3").Drip(0), awstest.On("x").Fail("", ""), awstest.Times(-1).Delay(-1))
	for _, want := range []string{"rule 0: it has no effect", "0; use 1 or more", `"CreateFleets"`, `"s3"`, "one byte or more", `"x"`, "the code is empty", "-1; use 0 or more", "use zero or more"} {
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, zones(s, once(s)), "no rule was added")
}

func TestOptionsFaults(t *testing.T) {
	_, err := awstest.Start(&awstest.Options{
		Account: "12", Zones: []awstest.Zone{{Name: "a"}}, TypeZones: map[string][]string{"m5.large": {"z"}}, Boot: -1,
		RateLimits: map[string]awstest.RateLimit{"Nothing": {}}, PageSizes: map[string]int{"DescribeInstances": 0}, Subnets: []ec2types.Subnet{{}}, Types: append(awstest.InstanceTypes(), awstest.InstanceTypes()[0]),
	})
	for _, want := range []string{"Account", "Zones[0]", "TypeZones", "Boot", "RateLimits", "PageSizes", "Subnets[0]", "Types["} {
		require.ErrorContains(t, err, "Options."+want)
	}
}

// Whoever does not sign, or signs with another key, is turned away; so is what is
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
