package offline_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
)

func TestKubernetesIsThatOfTheNewestKubelet(t *testing.T) {
	for _, tt := range []struct {
		kubelets []string
		want     string
		remark   string
	}{
		{nil, "", ""},
		{[]string{"", "simulated"}, "", ""},
		{[]string{"v1.36.3-eks-1a2b3c4"}, "v1.36.3-eks-1a2b3c4", ""},
		{[]string{"v1.36.9", "v1.37.2", "v1.35.0"}, "v1.37.2", ""},
		{[]string{"v1.37.2", "v1.99.0"}, "", "v1.99.0"},
		{[]string{"v1.20.1"}, "", "v1.20.1"},
	} {
		text := ""
		for i, kubelet := range tt.kubelets {
			text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: n" + string(rune('a'+i)) + "}\nstatus: {nodeInfo: {kubeletVersion: \"" + kubelet + "\"}}\n"
		}
		text += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"
		file := filepath.Join(t.TempDir(), "cluster.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		w := worldOf(t, offline.Files{Manifests: []string{file}}, "")
		got, remark := w.Kubernetes()
		require.Equal(t, tt.want, got, tt.kubelets)
		require.Contains(t, remark, tt.remark)
		require.Equal(t, tt.remark == "", remark == "")
	}
}
