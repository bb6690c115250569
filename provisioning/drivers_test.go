package provisioning_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

const driversScene = `Types with devices of several drivers.

type plain cpu=8, memory=16Gi
  offer a on-demand 0.20
type gpu cpu=8, memory=16Gi
  device gpu.example.com x2 model=l4
  device net.example.com x1
  device log.example.com x1
  offer a on-demand 0.80
type bare cpu=8, memory=16Gi
  device gpu.example.com x2 model=l4
  offer a on-demand 0.90
device-class gpu
  driver gpu.example.com
device-class net
  driver net.example.com
device-class log
  driver log.example.com
device-class any
device-template gpu
  want gpu
device-template both
  want net
  want gpu
device-template any
  want any
`

// TestNodeNamesDrivers: a node names the drivers of the devices that its pods and daemons
// are to have, sorted, whichever of its options it is launched by; and it is initialized
// once each of them has published a whole pool, and not before.
func TestNodeNamesDrivers(t *testing.T) {
	for _, c := range []struct{ title, objects, want string }{
		{"no devices", "pool p\npod web\n  request cpu=1\n", ""},
		{"one of a driver", "pool p\npod web\n  request cpu=1\n  device-template gpu\n", "gpu.example.com"},
		{"of two drivers", "pool p\npod web\n  request cpu=1\n  device-template both\n", "gpu.example.com,net.example.com"},
		{"of two pods", "pool p\npod web\n  request cpu=1\n  device-template gpu\npod else\n  request cpu=1\n  device-template both\n", "gpu.example.com,net.example.com"},
		{"any device, on types that have one driver in common", "pool p\npod web\n  request cpu=1\n  device-template any\n", "gpu.example.com"},
		{"any device, on one type", "pool p\n  types gpu\npod web\n  request cpu=1\n  device-template any\n", "gpu.example.com,log.example.com,net.example.com"},
		{"of a daemon", "pool p\n  types gpu\npod web\n  request cpu=1\ndaemon agent\n  request cpu=100m\n  device-template both\n", "gpu.example.com,net.example.com"},
		{"of a daemon that some options cannot serve", "pool p\n  types plain, gpu\npod web\n  request cpu=1\ndaemon agent\n  device-template gpu\n", ""},
		{"what the template names stays", "pool p\npod web\n  request cpu=1\n  device-template gpu\n", "gpu.example.com,own.example.com"},
	} {
		f, err := scenario.Parse(driversScene + "\ncase " + c.title + "\n" + c.objects)
		require.NoError(t, err, c.title)
		in, opts := scenarioInput(f.Cases[0].World)
		if strings.Contains(c.want, "own") {
			in.NodePools[0].Spec.Template.Annotations = map[string]string{v1.DRADriversAnnotationKey: " own.example.com, "}
		}
		plan := solved(t, in, opts)
		require.Len(t, plan.Create, 1, c.title)
		claim := plan.Create[0].NodeClaim()
		require.Equal(t, c.want, claim.Annotations[v1.DRADriversAnnotationKey], c.title)
		require.Equal(t, c.want, plan.Create[0].Request("token").Annotations[v1.DRADriversAnnotationKey], c.title)
		requireWaits(t, claim, c.title)
	}
}

// requireWaits checks that a node is initialized once the drivers that it names have
// published their devices.
func requireWaits(t *testing.T, claim *v1.NodeClaim, where string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Allocatable = claim.Spec.Resources.Requests
	var published []*resourcev1.ResourceSlice
	for _, driver := range strings.Split(claim.Annotations[v1.DRADriversAnnotationKey], ",") {
		if driver == "" {
			continue
		}
		require.Equal(t, "DRADriverPoolsNotPublished", nodeclaim.Initialize(claim, node, published).Reason, where)
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: driver}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node.Name, Pool: resourcev1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1}}
		published = append(published, s)
	}
	require.Equal(t, metav1.ConditionTrue, nodeclaim.Initialize(claim, node, published).Status, where)
}

// TestClaimNamesDriversOfItsOptions: a NodeClaim that states a part of the options names the
// drivers of that part, and the request for all of them those that all have.
func TestClaimNamesDriversOfItsOptions(t *testing.T) {
	f, err := scenario.Parse(driversScene + `
case any device, of types in different zones
type far cpu=8, memory=16Gi
  device far.example.com x1
  offer a on-demand 0.85 capacity(cpu=500m)
  offer b on-demand 0.85
pool p
  types gpu, far
pod web
  request cpu=1
  device-template any
`)
	require.NoError(t, err)
	in, opts := scenarioInput(f.Cases[0].World)
	n := solved(t, in, opts).Create[0]
	require.Len(t, n.Options, 2)
	require.NotContains(t, n.Request("token").Annotations, v1.DRADriversAnnotationKey)
	require.Equal(t, "gpu.example.com,log.example.com,net.example.com", n.NodeClaim().Annotations[v1.DRADriversAnnotationKey])
}
