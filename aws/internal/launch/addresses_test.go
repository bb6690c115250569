package launch_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
)

var t0 = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

func two(a, b int64, at time.Time) []launch.Subnet {
	return []launch.Subnet{{ID: "subnet-a", Zone: "z", Free: a, At: at}, {ID: "subnet-b", Zone: "z", Free: b, At: at}}
}

func TestMostFreeAddresses(t *testing.T) {
	var l launch.Addresses
	chosen, _ := l.Choose(t0, two(10, 20, t0), nil)
	require.Equal(t, "subnet-b", chosen["z"].ID)
	chosen, _ = l.Choose(t0, two(20, 20, t0), nil)
	require.Equal(t, "subnet-a", chosen["z"].ID, "of equal ones the smaller id")
}

func TestLaunchesThatGoTogetherSpread(t *testing.T) {
	var l launch.Addresses
	seen := map[string]int{}
	for range 10 {
		chosen, _ := l.Choose(t0, two(100, 99, t0), map[string]int64{"z": 10})
		seen[chosen["z"].ID]++
	}
	require.Equal(t, map[string]int{"subnet-a": 5, "subnet-b": 5}, seen)
	require.EqualValues(t, 50, l.Free(t0, two(100, 99, t0)[0]))
}

func TestSettleGivesBack(t *testing.T) {
	var l launch.Addresses
	_, claim := l.Choose(t0, two(100, 50, t0), map[string]int64{"z": 60})
	require.EqualValues(t, 40, l.Free(t0, two(100, 50, t0)[0]))
	claim.Settle(map[string]int64{"subnet-a": 30})
	require.EqualValues(t, 70, l.Free(t0, two(100, 50, t0)[0]))
	claim.Settle(nil)
	require.EqualValues(t, 100, l.Free(t0, two(100, 50, t0)[0]))
	(*launch.Claim)(nil).Settle(nil)
}

func TestANewerReadingHasWhatWasLaunched(t *testing.T) {
	var l launch.Addresses
	_, _ = l.Choose(t0, two(100, 50, t0), map[string]int64{"z": 60})
	early := two(100, 50, t0.Add(launch.AddressLag-time.Second))[0]
	require.EqualValues(t, 40, l.Free(t0.Add(time.Minute), early))
	late := two(40, 50, t0.Add(launch.AddressLag))[0]
	require.EqualValues(t, 40, l.Free(t0.Add(time.Minute), late))
}

func TestClaimsEnd(t *testing.T) {
	var l launch.Addresses
	_, _ = l.Choose(t0, two(100, 50, t0), map[string]int64{"z": 60})
	require.EqualValues(t, 100, l.Free(t0.Add(time.Hour), two(100, 50, t0)[0]))
}

func TestFullSubnets(t *testing.T) {
	var l launch.Addresses
	l.Full(t0, "subnet-a")
	require.False(t, l.AllFull("z", two(100, 50, t0)))
	require.False(t, l.AllFull("other", two(100, 50, t0)))
	chosen, _ := l.Choose(t0, two(100, 50, t0), nil)
	require.Equal(t, "subnet-b", chosen["z"].ID)
	require.True(t, l.Spare("z", "subnet-a", two(100, 50, t0)))
	require.False(t, l.Spare("z", "subnet-b", two(100, 50, t0)))
	require.False(t, l.Spare("other", "subnet-a", two(100, 50, t0)))
	l.Full(t0, "subnet-b")
	require.False(t, l.Spare("z", "subnet-a", two(100, 50, t0)))
	require.True(t, l.AllFull("z", two(100, 50, t0)))
	chosen, _ = l.Choose(t0, two(100, 50, t0), nil)
	require.Empty(t, chosen)
	still := two(0, 0, t0.Add(time.Second))
	chosen, _ = l.Choose(t0.Add(time.Second), still, nil)
	require.Empty(t, chosen, "a newer reading says so too")
	chosen, _ = l.Choose(t0.Add(time.Hour), still, nil)
	require.Len(t, chosen, 1, "but not for ever")
	l.Full(t0, "subnet-a")
	l.Full(t0, "subnet-b")
	newer := two(3, 2, t0.Add(time.Second))
	chosen, _ = l.Choose(t0.Add(time.Second), newer, nil)
	require.Equal(t, "subnet-a", chosen["z"].ID)
	require.Zero(t, l.Free(t0, two(1, 1, t0)[0]))
}

func TestNoRoomIsNotARefusal(t *testing.T) {
	var l launch.Addresses
	chosen, _ := l.Choose(t0, two(0, 0, t0), map[string]int64{"z": 5})
	require.Equal(t, "subnet-a", chosen["z"].ID)
}

func TestManyGoroutines(t *testing.T) {
	var l launch.Addresses
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, claim := l.Choose(t0, two(100, 100, t0), map[string]int64{"z": 1})
			claim.Settle(map[string]int64{"subnet-a": 1})
			l.Full(t0, "subnet-c")
		})
	}
	wg.Wait()
	require.GreaterOrEqual(t, l.Free(t0, two(100, 100, t0)[0]), int64(80))
}
