package order_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/order"
)

func TestOrder(t *testing.T) {
	flags := []bool{true, false, true, false}
	slices.SortFunc(flags, order.Bools)
	require.Equal(t, []bool{false, false, true, true}, flags)

	never, soon, later := time.Time{}, time.Unix(1, 0), time.Unix(2, 0)
	instants := []time.Time{never, later, soon, never}
	slices.SortFunc(instants, order.Instants)
	require.Equal(t, []time.Time{soon, later, never, never}, instants)

	require.Equal(t, soon, order.Sooner(never, later, soon, never))
	require.Equal(t, never, order.Sooner(never, never))
	require.Equal(t, never, order.Sooner())
}
