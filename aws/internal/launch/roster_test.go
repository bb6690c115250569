package launch_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
)

func entries(n int) []launch.Entry {
	out := make([]launch.Entry, n)
	for i := range out {
		out[i] = launch.Entry{Token: fmt.Sprintf("11111111-2222-4333-8444-%012d", i), Name: fmt.Sprintf("general-%05d", i)}
	}
	return out
}

func TestWhatIsMadeIsRead(t *testing.T) {
	for _, n := range []int{1, 2, 14, 15, 16, 30, 70} {
		list := entries(n)
		tags, taken := launch.MakeRoster("batch", "general", list, launch.MaxTags)
		require.Equal(t, n, taken)
		for key, value := range tags {
			require.LessOrEqual(t, len(value), 256, key)
		}
		r, ok := launch.ReadRoster(tags, "general")
		require.True(t, ok)
		require.Equal(t, launch.Mark("batch"), r.Batch)
		names := map[string]string{}
		for _, e := range r.Entries {
			names[e.Mark] = e.Name
		}
		require.Len(t, names, n)
		for _, e := range list {
			require.Equal(t, e.Name, names[launch.Mark(e.Token)])
		}
	}
}

func TestEveryEntryIsTakenOnceOverSeveralRosters(t *testing.T) {
	list := entries(200)
	seen := map[string]bool{}
	for len(list) > 0 {
		tags, taken := launch.MakeRoster("batch", "general", list, 2)
		require.Positive(t, taken)
		r, ok := launch.ReadRoster(tags, "general")
		require.True(t, ok)
		require.Len(t, r.Entries, taken)
		for _, e := range r.Entries {
			require.False(t, seen[e.Name])
			seen[e.Name] = true
		}
		list = slices.DeleteFunc(list, func(e launch.Entry) bool { return seen[e.Name] })
	}
	require.Len(t, seen, 200)
}

func TestOrderOfEntriesDoesNotMatter(t *testing.T) {
	list := entries(20)
	a, _ := launch.MakeRoster("batch", "general", list, 5)
	slices.Reverse(list)
	b, _ := launch.MakeRoster("batch", "general", list, 5)
	require.Equal(t, a, b)
}

func TestNoRoom(t *testing.T) {
	tags, taken := launch.MakeRoster("batch", "general", entries(3), 0)
	require.Zero(t, taken)
	require.Empty(t, tags)
	_, ok := launch.ReadRoster(tags, "general")
	require.False(t, ok)
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "general", "general-", "other-x7k2p", "a.b-c", "a:b"} {
		require.NoError(t, launch.CheckName(name))
		tags, taken := launch.MakeRoster("b", "general", []launch.Entry{{Token: "t", Name: name}}, 1)
		require.Equal(t, 1, taken)
		r, ok := launch.ReadRoster(tags, "general")
		require.True(t, ok)
		require.Equal(t, name, r.Entries[0].Name)
	}
	require.ErrorContains(t, launch.CheckName("a/b"), "use letters")
	require.ErrorContains(t, launch.CheckName(fmt.Sprintf("%0300d", 1)), "at most")
}

func TestAssignGoesByID(t *testing.T) {
	tags, _ := launch.MakeRoster("b", "general", entries(3), 1)
	r, _ := launch.ReadRoster(tags, "general")
	got := r.Assign([]string{"i-3", "i-1"})
	require.Equal(t, []string{"i-1", "i-3"}, slices.Sorted(maps.Keys(got)))
	require.Equal(t, r.Entries[0], got["i-1"])
	require.Equal(t, r.Entries[1], got["i-3"])
	require.Len(t, r.Assign([]string{"a", "b", "c", "d"}), 3, "more instances than entries")
	require.Len(t, r.Assign([]string{"a", "a"}), 1)
}

func TestWhatIsNoRosterIsNotRead(t *testing.T) {
	for _, value := range []string{"", "x", "0123456789", "0123456789/", "0123456789/0123456789", "0123456789/0123456789!a", "012345678/0123456789:a"} {
		_, ok := launch.ReadRoster(map[string]string{launch.KeyPrefix + "1": value}, "p")
		require.False(t, ok, value)
	}
}

func FuzzReadRoster(f *testing.F) {
	f.Add("0123456789/0123456789.x", "0123456789:y", "p")
	f.Fuzz(func(t *testing.T, one, two, pool string) {
		r, ok := launch.ReadRoster(map[string]string{launch.KeyPrefix + "1": one, launch.KeyPrefix + "2": two}, pool)
		if !ok {
			require.Empty(t, r.Entries)
			return
		}
		require.Len(t, r.Assign([]string{"a"}), 1)
	})
}
