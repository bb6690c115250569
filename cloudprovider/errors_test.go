package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

var sentinels = []struct {
	kind     cloudprovider.Kind
	sentinel error
	text     string
}{
	{cloudprovider.KindNotFound, cloudprovider.ErrNotFound, "not found"},
	{cloudprovider.KindInsufficientCapacity, cloudprovider.ErrInsufficientCapacity, "insufficient capacity"},
	{cloudprovider.KindNotReady, cloudprovider.ErrNotReady, "not ready"},
	{cloudprovider.KindDenied, cloudprovider.ErrDenied, "denied"},
	{cloudprovider.KindThrottled, cloudprovider.ErrThrottled, "throttled"},
	{cloudprovider.KindUnsupported, errors.ErrUnsupported, "unsupported"},
}

func TestErrorIsItsSentinelAndNoOther(t *testing.T) {
	for _, of := range sentinels {
		err := fmt.Errorf("while at it: %w", &cloudprovider.Error{Kind: of.kind})
		for _, other := range sentinels {
			require.Equal(t, of.kind == other.kind, errors.Is(err, other.sentinel), "%s is %s", of.kind, other.kind)
		}
		require.Equal(t, of.text, of.kind.String())
		require.Equal(t, of.kind, cloudprovider.KindOf(err))
		require.Equal(t, of.kind, cloudprovider.KindOf(fmt.Errorf("bare: %w", of.sentinel)))
	}
	unknown := &cloudprovider.Error{}
	for _, other := range sentinels {
		require.NotErrorIs(t, unknown, other.sentinel)
	}
	require.NotErrorIs(t, unknown, nil)
	require.Equal(t, "unknown failure", unknown.Error())
	require.Equal(t, "Odd", cloudprovider.Kind("Odd").String())
}

func TestKindOf(t *testing.T) {
	wrap := func(kind cloudprovider.Kind, err error) error { return &cloudprovider.Error{Kind: kind, Err: err} }
	var typedNil *cloudprovider.Error
	tests := []struct {
		name string
		err  error
		want cloudprovider.Kind
	}{
		{"nil", nil, cloudprovider.KindUnknown},
		{"somebody else's", errors.New("boom"), cloudprovider.KindUnknown},
		{"context", context.Canceled, cloudprovider.KindUnknown},
		{"outer wins over inner", wrap(cloudprovider.KindDenied, wrap(cloudprovider.KindNotFound, nil)), cloudprovider.KindDenied},
		{"outer that does not know asks inner", wrap("", wrap(cloudprovider.KindNotFound, nil)), cloudprovider.KindNotFound},
		{"unknown outer over a sentinel", wrap("", cloudprovider.ErrThrottled), cloudprovider.KindThrottled},
		{"first of joined", errors.Join(errors.New("x"), wrap("", nil), wrap(cloudprovider.KindNotReady, nil), wrap(cloudprovider.KindDenied, nil)), cloudprovider.KindNotReady},
		{"sentinels in the order of the kinds", errors.Join(cloudprovider.ErrThrottled, cloudprovider.ErrNotFound), cloudprovider.KindNotFound},
		{"a typed nil", error(typedNil), cloudprovider.KindUnknown},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, cloudprovider.KindOf(tt.err), tt.name)
		if tt.err != nil {
			require.NotEmpty(t, tt.err.Error())
		}
	}
}

func TestErrorText(t *testing.T) {
	key := func(name string) cloudprovider.OfferingKey {
		return cloudprovider.OfferingKey{InstanceType: name, Zone: "zone-a", CapacityType: "spot"}
	}
	tests := []struct {
		err  cloudprovider.Error
		want string
	}{
		{cloudprovider.Error{Op: "Get", Kind: cloudprovider.KindNotFound, Object: "i-1"}, "Get i-1: not found"},
		{cloudprovider.Error{Op: "List", Err: context.Canceled}, "List: unknown failure: context canceled"},
		{cloudprovider.Error{Object: "i-1", Kind: cloudprovider.KindDenied}, "i-1: denied"},
		{cloudprovider.Error{Kind: cloudprovider.KindThrottled, RetryAfter: 90 * time.Second}, "throttled; retry after 1m30s"},
		{cloudprovider.Error{Op: "Delete", Kind: cloudprovider.KindNotFound, Err: cloudprovider.ErrNotFound}, "Delete: not found"},
		{cloudprovider.Error{Kind: cloudprovider.KindDenied, Err: errors.Join(errors.New("one"), errors.New("two"))}, "denied: one; two"},
		{
			cloudprovider.Error{
				Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Object: "web-x7", Reason: "NoStock",
				Offerings: []cloudprovider.OfferingKey{key("d"), key("b"), key("a"), key("c"), key("b")},
				Scopes:    []cloudprovider.Scope{{CapacityType: "spot"}},
				Err:       errors.New("sorry"), RetryAfter: time.Minute,
			},
			"Create web-x7: insufficient capacity: NoStock: a/zone-a/spot, b/zone-a/spot, c/zone-a/spot and 1 more: capacity-type=spot: sorry; retry after 1m0s",
		},
	}
	for _, tt := range tests {
		offerings := append([]cloudprovider.OfferingKey(nil), tt.err.Offerings...)
		require.EqualError(t, &tt.err, tt.want)
		require.Equal(t, offerings, tt.err.Offerings, "writing the text changed the error")
	}
}

func TestErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	err := fmt.Errorf("outer: %w", &cloudprovider.Error{Kind: cloudprovider.KindDenied, Err: cause})
	require.ErrorIs(t, err, cause)
	var e *cloudprovider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, cloudprovider.KindDenied, e.Kind)
	require.NoError(t, (&cloudprovider.Error{}).Unwrap())
}

func TestRetryAfter(t *testing.T) {
	after := func(d time.Duration, err error) error { return &cloudprovider.Error{RetryAfter: d, Err: err} }
	require.Zero(t, cloudprovider.RetryAfter(nil))
	require.Zero(t, cloudprovider.RetryAfter(errors.New("x")))
	require.Equal(t, 3*time.Second, cloudprovider.RetryAfter(after(time.Second, after(3*time.Second, nil))))
	require.Equal(t, 3*time.Second, cloudprovider.RetryAfter(errors.Join(after(time.Second, nil), after(3*time.Second, nil), after(2*time.Second, nil))))
}
