package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPodsOfTemplates: pods that do not exist yet are planned as the API server and their
// controllers would make them.
func TestPodsOfTemplates(t *testing.T) {
	for _, tt := range []struct{ name, stdout, stderr string }{
		{name: "host-network", stdout: "3 pods need 3 new nodes."},
		{name: "host-network-daemon", stdout: "a DaemonSet binds a host port of the pod on every\n        suitable instance type: kube-system/node-exporter\n"},
		{name: "runtime-class", stdout: "1×  general  large "},
		{name: "scale-up-by-revision", stdout: "1×  general  small  zone-c "},
		{name: "job-name-affinity", stdout: "4 pods need 1 new node."},
		{name: "statefulset-pod-index", stdout: "3 pods need 3 new nodes."},
		{name: "deployment-node-name", stdout: "2 pods need 1 new node.",
			stderr: "whatif: Deployment shop/pinned: spec.template.spec.nodeName names node ip-10-0-1-2, which is not in the input; " +
				"its pods (1) run there or nowhere and are not planned for\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := call("", "-f", "testdata/templates/"+tt.name+".yaml", "-instance-types", "testdata/templates/types.yaml")
			require.Equal(t, 0, code)
			require.Equal(t, tt.stderr, stderr)
			require.Contains(t, stdout, tt.stdout)
			require.Contains(t, stdout, "The referee finds no\nfault with the plan.")
		})
	}
}

// TestLessThanPromised: two nodes have 7Gi where the catalog promises 8Gi, and the pod needs more.
func TestLessThanPromised(t *testing.T) {
	text := read(t, "testdata/less-than-promised.yaml")
	_, stdout, stderr := call(text, "-f", "-", "-instance-types", "testdata/templates/types.yaml")
	require.Contains(t, stdout, "1×  general  small ")
	require.Equal(t, "whatif: NodePool general: instance type small has less than promised: memory of n-1, n-2 is 7Gi, and the catalog promises 8Gi. "+
		"The pods of 1 new node would not fit; exclude the type in the requirements of the NodePool, or correct the catalog\n", stderr)

	for name, change := range map[string][2]string{
		"the pod fits":             {"memory: 7500Mi", "memory: 7000Mi"},
		"a node has what it needs": {"allocatable: {cpu: 2, memory: 7Gi", "allocatable: {cpu: 2, memory: 7900Mi"},
	} {
		_, _, stderr = call(strings.Replace(text, change[0], change[1], 1), "-f", "-", "-instance-types", "testdata/templates/types.yaml")
		require.Empty(t, stderr, name)
	}
}

// TestAmountsInOneUnit: what a pod asks for and what an instance type has are in one unit.
func TestAmountsInOneUnit(t *testing.T) {
	code, stdout, _ := call("", "-f", "testdata/ephemeral-storage.yaml")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "the pod asks for ephemeral-storage=228881.83Mi, but no\n        suitable instance type has more than 213552.72Mi (c6i.8xlarge)\n")
}
