package simulation

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The label of an option is what all its labels say.
func TestNodeLabel(t *testing.T) {
	keys := []string{corev1.LabelTopologyZone, v1.CapacityTypeLabelKey, "disk", "rack"}
	for _, of := range []string{"disk = ssd", "disk in (ssd, hdd)", "topology.kubernetes.io/zone in (a, b)", "topology.kubernetes.io/zone = b", "topology.kubernetes.io/zone = a"} {
		for _, by := range []string{"rack = r1", "topology.kubernetes.io/zone = b", "topology.kubernetes.io/zone in (a, b)", "disk = hdd"} {
			for _, zone := range []string{"", "a"} {
				o := cloudprovider.LaunchOption{InstanceType: &cloudprovider.InstanceType{Name: "t", Requirements: requirements.MustParse(of)},
					Offering: &cloudprovider.Offering{Zone: zone, CapacityType: "spot", Requirements: requirements.MustParse(by)}}
				all := o.NodeLabels()
				for _, key := range keys {
					want, known := all[key]
					value, found := nodeLabel(o, key)
					require.Equal(t, want, value, "%s: type %s, offering %s in %q", key, of, by, zone)
					require.Equal(t, known, found, "%s: type %s, offering %s in %q", key, of, by, zone)
				}
			}
		}
	}
}
