package nodeclaim_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// A NodeClaim may be written by hand. Whatever it says, it is refused with a typed
// error, or asked for with options that do.
func FuzzRequest(f *testing.F) {
	for _, c := range []*v1.NodeClaim{asking("cpu=1, memory=1Gi", in(v1.CapacityTypeLabelKey, "spot")), asking("cpu=64"), {}} {
		text, err := json.Marshal(c)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"metadata":{"uid":"u"},"spec":{"nodeClassRef":{"name":"x"},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"Exists","minValues":3}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var c v1.NodeClaim
		if json.Unmarshal(text, &c) != nil {
			return
		}
		before := c.DeepCopy()
		req, err := nodeclaim.Request(&c, shelf(), nil)
		require.Equal(t, before, &c)
		if err != nil {
			var typed *cloudprovider.Error
			require.True(t, errors.As(err, &typed))
			require.NotEqual(t, cloudprovider.KindUnknown, typed.Kind)
			return
		}
		require.NoError(t, req.Validate())
		for i, o := range req.Options {
			room, err := o.InstanceType.AllocatableFor(o.Offering)
			require.NoError(t, err)
			require.True(t, req.Requests.Fits(room))
			require.True(t, o.Offering.Launchable())
			require.True(t, i == 0 || req.Options[i-1].Compare(o) < 0)
		}
	})
}
