package nodeclaim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
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

// A claim that leaves the type open, and one of a plan, which names those it found.
func BenchmarkRequest(b *testing.B) {
	catalog := fake.Catalog()
	var names []string
	for i := 0; i < len(catalog); i += len(catalog) / 60 {
		names = append(names, catalog[i].Name)
	}
	open := asking("cpu=3, memory=5Gi, pods=7", in(v1.CapacityTypeLabelKey, "spot", "on-demand"))
	named := asking("cpu=3, memory=5Gi, pods=7", in(v1.CapacityTypeLabelKey, "spot"), in(corev1.LabelInstanceTypeStable, names...))
	for name, c := range map[string]*v1.NodeClaim{"all": open, "named": named} {
		b.Run(fmt.Sprintf("types=%d/claim=%s", len(catalog), name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := nodeclaim.Request(c, catalog, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
