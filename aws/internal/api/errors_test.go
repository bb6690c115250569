package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The clients of the SDK are what the interfaces ask for.
var (
	_ api.EC2        = (*ec2.Client)(nil)
	_ api.SSM        = (*ssm.Client)(nil)
	_ api.Pricing    = (*pricing.Client)(nil)
	_ api.SQS        = (*sqs.Client)(nil)
	_ api.IAM        = (*iam.Client)(nil)
	_ api.EKS        = (*eks.Client)(nil)
	_ api.ZonalShift = (*arczonalshift.Client)(nil)
)

// answer returns an error as the SDK returns it.
func answer(code, message string) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeSubnets", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 400}},
		Err:      &smithy.GenericAPIError{Code: code, Message: message},
	}}
}

func TestKind(t *testing.T) {
	for code, want := range map[string]cloudprovider.Kind{
		"RequestLimitExceeded":                        cloudprovider.KindThrottled,
		"ThrottlingException":                         cloudprovider.KindThrottled,
		"EC2ThrottledException":                       cloudprovider.KindThrottled,
		"InvalidInstanceID.NotFound":                  cloudprovider.KindNotFound,
		"InvalidLaunchTemplateName.NotFoundException": cloudprovider.KindNotFound,
		"NoSuchEntity":                                cloudprovider.KindNotFound,
		"ParameterNotFound":                           cloudprovider.KindNotFound,
		"QueueDoesNotExist":                           cloudprovider.KindNotFound,
		"InvalidPlacementGroup.Unknown":               cloudprovider.KindNotFound,
		"ResourceNotFoundException":                   cloudprovider.KindNotFound,
		"UnauthorizedOperation":                       cloudprovider.KindDenied,
		"AuthFailure":                                 cloudprovider.KindDenied,
		"InvalidParameterValue":                       cloudprovider.KindDenied,
		"ValidationError":                             cloudprovider.KindDenied,
		"MissingParameter":                            cloudprovider.KindDenied,
		"InsufficientInstanceCapacity":                cloudprovider.KindInsufficientCapacity,
		"VcpuLimitExceeded":                           cloudprovider.KindInsufficientCapacity,
		"Unsupported":                                 cloudprovider.KindInsufficientCapacity,
		"ExpiredToken":                                cloudprovider.KindUnknown,
		"InvalidClientTokenId":                        cloudprovider.KindUnknown,
		"RequestExpired":                              cloudprovider.KindUnknown,
		"InvalidSignatureException":                   cloudprovider.KindUnknown,
		"InternalError":                               cloudprovider.KindUnknown,
		"Unavailable":                                 cloudprovider.KindUnknown,
	} {
		require.Equal(t, want, api.Kind(answer(code, "x")), code)
		require.Equal(t, want == cloudprovider.KindNotFound, api.NotFound(answer(code, "x")), code)
		require.Equal(t, code, api.Code(fmt.Errorf("wrapped: %w", answer(code, "x"))))
	}
	// A type of the SDK's own.
	require.True(t, api.NotFound(&ssmtypes.ParameterNotFound{}))
	for _, err := range []error{nil, errors.New("connection reset"), context.DeadlineExceeded} {
		require.Empty(t, api.Code(err))
		require.Equal(t, cloudprovider.KindUnknown, api.Kind(err))
		require.False(t, api.NotFound(err))
	}
}

func TestWrap(t *testing.T) {
	require.NoError(t, api.Wrap("Read", "x", nil))
	done := fmt.Errorf("more: %w", &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindNotReady})
	require.Equal(t, done, api.Wrap("Read", "x", done), "once is enough")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{answer("RequestLimitExceeded", "Request limit exceeded."),
			"DescribeSubnets eu: throttled: RequestLimitExceeded: Request limit exceeded.; ask less often, or have the quota of the API raised"},
		{answer("UnauthorizedOperation", "You are not authorized."),
			"DescribeSubnets eu: denied: UnauthorizedOperation: You are not authorized.; allow the controller ec2:DescribeSubnets, as the policies in aws/iam do"},
		{answer("UnauthorizedOperation", "Not authorized, with an explicit deny in a service control policy"),
			"DescribeSubnets eu: denied: UnauthorizedOperation: Not authorized, with an explicit deny in a service control policy; have the service control policy of the organization allow it"},
		{answer("AccessDenied", "no permissions boundary allows it"),
			"DescribeSubnets eu: denied: AccessDenied: no permissions boundary allows it; widen the permissions boundary of the controller's role"},
		{&smithy.GenericAPIError{Code: "AccessDenied"},
			"DescribeSubnets eu: denied: AccessDenied: allow the controller the call, as the policies in aws/iam do"},
		{answer("ExpiredToken", "The token has expired"),
			"DescribeSubnets eu: unknown failure: ExpiredToken: The token has expired; renew the credentials of the controller"},
		{answer("RequestExpired", "Request has expired."),
			"DescribeSubnets eu: unknown failure: RequestExpired: Request has expired.; check the clock of the machine and the credentials of the controller"},
		{answer("InternalError", ""), "DescribeSubnets eu: unknown failure: InternalError: AWS gave no message"},
		{&smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeSubnets", Err: errors.New("dial tcp:\nno route")},
			"DescribeSubnets eu: unknown failure: DescribeSubnets: dial tcp:; no route"},
		{errors.New("odd"), "DescribeSubnets eu: unknown failure: odd"},
	} {
		got := api.Wrap("DescribeSubnets", "eu", tt.err)
		require.EqualError(t, got, tt.want)
		require.ErrorIs(t, got, tt.err)
		require.Equal(t, api.Code(tt.err), api.Code(got))
	}
	require.ErrorIs(t, api.Wrap("Read", "x", fmt.Errorf("call: %w", context.Canceled)), context.Canceled)
}

func TestMessage(t *testing.T) {
	require.Empty(t, api.Message(nil))
	require.Equal(t, "InternalError", api.Message(answer("InternalError", "")))
	require.Equal(t, "no", api.Message(errors.New(" no\n")))
}

// paginator is one of pages P.
type paginator[P any] struct {
	more func() bool
	next func() (P, error)
}

func (p paginator[P]) HasMorePages() bool { return p.more() }

func (p paginator[P]) NextPage(context.Context, ...func(*struct{})) (P, error) { return p.next() }

func TestPages(t *testing.T) {
	pages := [][]int{{1, 2}, {3}, nil, {4}}
	read := func(ctx context.Context, failAt int) (got []int, err error) {
		at := 0
		err = api.Pages(ctx, paginator[[]int]{func() bool { return at < len(pages) }, func() ([]int, error) {
			if at == failAt {
				return nil, errors.New("cut off")
			}
			at++
			return pages[at-1], nil
		}}, func(page []int) { got = append(got, page...) })
		return got, err
	}
	got, err := read(context.Background(), -1)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3, 4}, got)
	_, err = read(context.Background(), 2)
	require.ErrorContains(t, err, "cut off")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = read(ctx, -1)
	require.ErrorIs(t, err, context.Canceled)
	n := 0
	err = api.Pages(context.Background(), paginator[int]{func() bool { return true }, func() (int, error) { n++; return n, nil }}, func(int) {})
	require.ErrorContains(t, err, "does not end")
	require.Equal(t, 5000, n)
}

func FuzzMessage(f *testing.F) {
	f.Add("RequestLimitExceeded", "slow\ndown")
	f.Add("", "")
	f.Add(".NotFound", " \n ")
	f.Fuzz(func(t *testing.T, code, message string) {
		err := api.Wrap("DescribeSubnets", "x", answer(code, message))
		require.NotContains(t, api.Message(answer(code, message)), "\n")
		require.Equal(t, api.Kind(answer(code, message)), cloudprovider.KindOf(err))
		if api.NotFound(err) {
			require.ErrorIs(t, err, cloudprovider.ErrNotFound)
		}
	})
}
