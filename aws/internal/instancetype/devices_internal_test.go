package instancetype

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeviceTables(t *testing.T) {
	tables := readDevices()
	require.Len(t, tables.gpus, 60)
	require.Len(t, tables.adapters, 302)
	for name, want := range map[string][2]int{
		"g4dn.xlarge": {1, 0}, "g4dn.metal": {8, 1}, "g5.48xlarge": {8, 1}, "g6e.48xlarge": {8, 4}, "p4d.24xlarge": {8, 4},
		"p5.48xlarge": {8, 32}, "p5en.48xlarge": {8, 16}, "p6-b300.48xlarge": {8, 16}, "m5.large": {},
		"g7.2xlarge": {1, 0}, "g7.4xlarge": {1, 0}, "g7.8xlarge": {1, 1}, "g7.12xlarge": {2, 1}, "g7.24xlarge": {4, 1}, "g7.48xlarge": {8, 2},
		"g7e.2xlarge": {1, 0}, "g7e.4xlarge": {1, 0}, "g7e.8xlarge": {1, 1}, "g7e.12xlarge": {2, 1}, "g7e.24xlarge": {4, 2}, "g7e.48xlarge": {8, 4},
		"g6f.large": {}, "g6f.xlarge": {}, "g6f.2xlarge": {}, "g6f.4xlarge": {}, "gr6f.4xlarge": {},
		"c5n.18xlarge": {0, 1}, "c6in.32xlarge": {0, 2}, "c8gn.48xlarge": {0, 2}, "c8gb.metal-48xl": {0, 2}, "c8in.96xlarge": {0, 2}, "hpc6id.32xlarge": {0, 2},
		"hpc7a.12xlarge": {0, 2}, "trn1.32xlarge": {0, 8}, "trn1n.32xlarge": {0, 16}, "trn2.48xlarge": {0, 16},
	} {
		gpus, adapters := 0, 0
		for _, d := range tables.gpus[name] {
			require.Equal(t, gpuDriver, d.Driver)
			gpus += d.Count
		}
		for _, d := range tables.adapters[name] {
			require.Equal(t, EFADriver, d.Driver)
			adapters += d.Count
		}
		require.Equal(t, want, [2]int{gpus, adapters}, name)
	}
	gpu := tables.gpus["p4d.24xlarge"][1]
	require.Equal(t, 2, gpu.Count)
	require.Equal(t, "pci0000:20", *gpu.Device.Attributes[pcieRoot].StringValue)
	require.Equal(t, "NVIDIA A100-SXM4-40GB", *gpu.Device.Attributes["productName"].StringValue)
	require.Equal(t, "8.0.0", *gpu.Device.Attributes["cudaComputeCapability"].VersionValue)
	memory := gpu.Device.Capacity["memory"].Value
	require.Equal(t, "40Gi", memory.String())
	adapter := tables.adapters["p5e.48xlarge"][7]
	require.Equal(t, 4, adapter.Count)
	require.Equal(t, "pci0000:bb", *adapter.Device.Attributes[pcieRoot].StringValue)
	require.EqualValues(t, 2, *adapter.Device.Attributes["dra.net/numaNode"].IntValue)
	require.Equal(t, "efa1", *adapter.Device.Attributes["dra.net/pciSubsystem"].StringValue)
	require.True(t, *adapter.Device.Attributes["dra.net/rdma"].BoolValue)
	require.False(t, *tables.adapters["g4dn.metal"][0].Device.Attributes["dra.net/rdma"].BoolValue)
	require.NotContains(t, tables.adapters["g5.8xlarge"][0].Device.Attributes, "dra.net/numaNode")
	gpu = tables.gpus["g7e.48xlarge"][0]
	memory = gpu.Device.Capacity["memory"].Value
	require.Equal(t, "NVIDIA RTX PRO 6000 Blackwell Server Edition 95Gi", *gpu.Device.Attributes["productName"].StringValue+" "+memory.String())
	gpu = tables.gpus["g7.12xlarge"][0]
	memory = gpu.Device.Capacity["memory"].Value
	require.Equal(t, "NVIDIA RTX PRO 4500 Blackwell Server Edition 32160Mi", *gpu.Device.Attributes["productName"].StringValue+" "+memory.String())
	require.Equal(t, "12.0.0", *gpu.Device.Attributes["cudaComputeCapability"].VersionValue)
	// Of most types it is not known where the adapters are.
	placed := 0
	for _, devices := range tables.adapters {
		if _, known := devices[0].Device.Attributes[pcieRoot]; known {
			placed++
		}
	}
	require.Equal(t, 29+8, placed)
	bare := tables.adapters["trn1.32xlarge"]
	require.Len(t, bare, 1)
	require.Len(t, bare[0].Device.Attributes, 3)
	require.True(t, *bare[0].Device.Attributes["dra.net/rdma"].BoolValue)
}

func TestFormOfDeviceTables(t *testing.T) {
	models := map[string]bool{}
	for line := range entries(gpuModels) {
		require.Regexp(t, `^\S+ = [^/]+( / [^/]+){4}$`, line)
		models[strings.Fields(line)[0]] = true
	}
	form := regexp.MustCompile(`^(\S+ )+= \S+( no-rdma)?( (-|[0-9a-f]{4}:[0-9a-f]{2})(x[1-9][0-9]*)?(@[0-9]+)?)+$`)
	for _, table := range []string{gpuTable, efaTable} {
		seen := map[string]bool{}
		for line := range entries(table) {
			require.Regexp(t, form, line)
			types, words := deviceLine(line)
			require.True(t, table == efaTable || models[words[0]], line)
			for _, name := range types {
				require.False(t, seen[name], "%s is listed twice", name)
				seen[name] = true
			}
		}
	}
}
