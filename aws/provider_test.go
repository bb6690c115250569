package aws_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestLaunchGetListDelete(t *testing.T) {
	s := newScene(t)
	i := s.create("one", large)
	require.Equal(t, "m5.large", i.Type)
	require.Equal(t, "general-one", i.Name)
	got, err := s.p.Get(t.Context(), i.ID)
	require.NoError(t, err)
	require.Equal(t, i.OfferingKey(), got.OfferingKey())
	list, err := s.p.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, i.ID, list[0].ID)
	require.NoError(t, s.p.Delete(t.Context(), i.ID))
	_, err = s.p.Get(t.Context(), "aws:///us-east-1a/i-0000000000000dead")
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
}
