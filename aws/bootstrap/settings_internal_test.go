package bootstrap

import (
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func settingsOf(t require.TestingT, text string) map[string]any {
	var m map[string]any
	require.NoError(t, toml.Unmarshal([]byte(text), &m))
	return m
}

// FuzzMergeSettings: nothing panics; ours is there, theirs is there but where ours
// is, and the text reads back as what was merged.
func FuzzMergeSettings(f *testing.F) {
	for _, text := range []string{
		"", "a = 1", "[settings]\nmotd = '''x'''", "[settings.kubernetes]\ncluster-name = 1", "[settings.kubernetes.node-labels]\n\"\" = ''",
		"[[settings.x.y]]\nz = 1979-05-27T07:32:00Z\n[[settings.x.y]]", "a = [[1, 2.5], ['x', {b = inf}]]", "a.\"b.c\".d = -0.0", "t = 07:32:00\nd = 1979-05-27T00:32:00.999999",
	} {
		f.Add(text)
	}
	n := Node{Family: amiselect.FamilyBottlerocket, ClusterName: "c", Endpoint: "https://x", InstanceStore: awsv1.InstanceStorePolicyRAID0}
	f.Fuzz(func(t *testing.T, text string) {
		n := n
		n.CustomUserData = text
		u, err := Render(n)
		if err != nil {
			require.Empty(t, u)
			return
		}
		custom, err := parseSettings(text)
		require.NoError(t, err)
		got := settingsOf(t, u.Text)
		kubernetes := lookup(got, "settings", "kubernetes")
		require.Equal(t, "c", kubernetes["cluster-name"])
		require.Equal(t, "true", lookup(kubernetes, "node-labels")["karpenter.sh/do-not-sync-taints"])
		require.Equal(t, map[string]any{"karpenter.sh/unregistered": []any{":NoExecute"}}, kubernetes["node-taints"])
		require.Contains(t, lookup(got, "settings", "bootstrap-commands"), instanceStoreCommand)
		for key, value := range custom {
			if key != "settings" {
				requireSame(t, value, got[key])
			}
		}
		for key, value := range lookup(custom, "settings") {
			if key != "kubernetes" && key != "bootstrap-commands" {
				requireSame(t, value, lookup(got, "settings")[key])
			}
		}
		again, err := Render(n)
		require.NoError(t, err)
		require.Equal(t, u, again)
	})
}

// requireSame compares two values as TOML: NaN is not equal to itself, and
// instants have pointers in them.
func requireSame(t *testing.T, want, got any) {
	t.Helper()
	left, err := toml.Marshal(map[string]any{"x": want})
	require.NoError(t, err)
	right, err := toml.Marshal(map[string]any{"x": got})
	require.NoError(t, err)
	require.Equal(t, string(left), string(right))
}
