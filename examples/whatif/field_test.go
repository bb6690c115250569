package main

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField plans for small clusters that were rebuilt from public bug reports of node
// autoscalers. Each line of the answer that is given must be in the plan, with any white space.
func TestField(t *testing.T) {
	flags := map[string][]string{"csi-driver-missing": {"-kubernetes", "1.37"}, "csi-driver-missing-before": {"-kubernetes", "v1.36.3"}}
	files := map[string]string{"csi-driver-missing-before": "csi-driver-missing"}
	for name, want := range map[string][]string{
		"storage-capacity": {
			"1 pod stays pending.",
			`no CSIStorageCapacity of StorageClass "instance-store" has room for a volume of 500Gi on any node; ` +
				"ask for less, or wait for driver lis.csi.aws.com to publish more",
		},
		"csi-driver-missing":        {"1 pod needs 1 new node.", "It is for kube-scheduler of Kubernetes 1.37."},
		"csi-driver-missing-before": {"1 pod fits on 1 existing node.", "It is for kube-scheduler of Kubernetes 1.36."},
		"default-class":             {"1 pod needs 1 new node.", "The referee finds no fault with the plan."},
		"extended-resource-by-dra": {
			"2 pods stay pending.",
			"nodes for this cannot be planned yet: extended resource example.com/gpu: no instance type and no node has it, " +
				`and devices of DeviceClass "gpu.example.com" are given out to resource claims only`,
		},
		"selected-node": {
			"1 pod stays pending.",
			`PersistentVolumeClaim "default/data" is tied to node "gone-1" by its annotation volume.kubernetes.io/selected-node, ` +
				"and there is no such node; bring the node back or remove the annotation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-f", "testdata/field/" + cmp.Or(files[name], name) + ".yaml", "-instance-types", "testdata/field/types.yaml"}, flags[name]...)
			code, stdout, stderr := call("", args...)
			require.Zero(t, code, stderr)
			plan := strings.Join(strings.Fields(stdout), " ")
			for _, line := range want {
				require.Contains(t, plan, line)
			}
		})
	}
}

// The GPUs of the instance types of EC2 are devices for claims, also of pools without a class.
func TestDevicesFromZero(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/field/devices-from-zero.yaml")
	require.Zero(t, code, stderr)
	plan := strings.Join(strings.Fields(stdout), " ")
	require.Contains(t, plan, "1 pod needs 1 new node.")
	require.Contains(t, plan, "general g6.")
	require.Contains(t, plan, "The referee finds no fault with the plan.")
}
