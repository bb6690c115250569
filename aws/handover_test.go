package aws_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that waits for its turn lists what there is, long before it launches.
// What the one before it has launched meanwhile, it must find.
func TestAProcessThatTakesOverFindsWhatWasLaunchedAfterItListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t, func(s *scene) { s.opts.Batch.Idle = 30 * time.Millisecond })
		next := s.provider()
		_, err := next.List(t.Context())
		require.NoError(t, err)

		got, errs := s.createAll(tokens(12), large)
		require.Empty(t, errs)
		require.Equal(t, 12, s.cloud.Running())

		s.p = next
		s.cloud.ForgetCalls()
		again, errs := s.createAll(tokens(12)[2:5], large)
		require.Empty(t, errs)
		require.Equal(t, 12, s.cloud.Running(), "nothing more was launched")
		for token, i := range again {
			require.Equal(t, got[token].ID, i.ID)
		}
		listed := s.cloud.Count("DescribeInstances")
		_, errs = s.createAll(tokens(12)[:1], large)
		require.Empty(t, errs)
		require.Equal(t, listed, s.cloud.Count("DescribeInstances"), "it is read once, not for each launch")
	})
}
