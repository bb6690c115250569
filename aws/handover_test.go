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

		got := s.launchAll(tokens(12), large)
		require.Equal(t, 12, s.cloud.Running())

		s.p = next
		s.cloud.ForgetCalls()
		again := s.launchAll(tokens(12)[2:5], large)
		require.Equal(t, 12, s.cloud.Running(), "nothing more was launched")
		requireSame(t, again, got)
		listed := s.cloud.Count("DescribeInstances")
		s.launchAll(tokens(12)[:1], large)
		require.Equal(t, listed, s.cloud.Count("DescribeInstances"), "it is read once, not for each launch")
	})
}
