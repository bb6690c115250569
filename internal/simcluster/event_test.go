package simcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDue takes the events that are due, and leaves the others.
func TestDue(t *testing.T) {
	events := []Event{{After: time.Second}, {After: 2 * time.Second}, {After: 3 * time.Second}}
	due, later := Due(events, 2*time.Second)
	require.Len(t, due, 2)
	require.Equal(t, 3*time.Second, later[0].After)
	due, later = Due(later, 2*time.Second)
	require.Empty(t, due)
	require.Len(t, later, 1)
}
