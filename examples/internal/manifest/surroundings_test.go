package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// object returns a manifest; more is further lines of its top level.
func object(apiVersion, kind, name, more string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + "}\n" + more
}

// buffer returns a manifest of a CapacityBuffer.
func buffer(spec string) string {
	return "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {namespace: shop, name: spare}\n" + spec
}

func TestReadsWhatPodsReferTo(t *testing.T) {
	c := mustRead(t, docs(
		object("v1", "Namespace", "b", ""), object("v1", "Namespace", "a", "spec: {finalizers: [kubernetes]}"),
		object("v1", "Service", "web", "spec: {selector: {app: web}}"),
		object("v1", "PersistentVolumeClaim", "data", "spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}}"),
		object("v1", "PersistentVolume", "disk", "spec: {capacity: {storage: 1Gi}, csi: {driver: d, volumeHandle: x}}"),
		object("storage.k8s.io/v1", "StorageClass", "fast", "provisioner: d"),
		object("storage.k8s.io/v1", "CSIDriver", "d", "spec: {storageCapacity: true}"),
		object("storage.k8s.io/v1", "CSIStorageCapacity", "left", "storageClassName: fast\ncapacity: 3Gi\nnodeTopology: {}"),
		object("storage.k8s.io/v1", "VolumeAttachment", "attached", "spec: {attacher: d, nodeName: node-a, source: {persistentVolumeName: disk}}"),
		object("storage.k8s.io/v1", "CSINode", "node-a", "spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 3}}]}"),
		object("karpenter.sh/v1alpha1", "NodeOverlay", "cheap", "spec: {requirements: [], price: '0.5'}"),
		object("resource.k8s.io/v1", "ResourceClaim", "gpu", "spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu}}]}}"),
		object("resource.k8s.io/v1", "ResourceClaimTemplate", "gpu", "spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu}}]}}}"),
		object("resource.k8s.io/v1", "DeviceClass", "gpu", "spec: {}"),
		object("resource.k8s.io/v1", "ResourceSlice", "node-a", "spec: {driver: d, nodeName: node-a, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}"),
	))
	require.Empty(t, c.Ignored)
	require.Len(t, c.Namespaces, 2)
	require.Equal(t, "a", c.Namespaces[0].Name)
	require.Empty(t, c.Namespaces[0].Namespace)
	require.Equal(t, "default", c.Services[0].Namespace)
	require.Equal(t, "data", c.Volumes.Claims[0].Name)
	require.Equal(t, "d", c.Volumes.Volumes[0].Spec.CSI.Driver)
	require.Equal(t, "d", c.Volumes.Classes[0].Provisioner)
	require.True(t, *c.Volumes.CSIDrivers[0].Spec.StorageCapacity)
	require.Equal(t, "3Gi", c.Volumes.CSIStorageCapacities[0].Capacity.String())
	require.Equal(t, "disk", *c.Volumes.VolumeAttachments[0].Spec.Source.PersistentVolumeName)
	require.Equal(t, int32(3), *c.Volumes.CSINodes[0].Spec.Drivers[0].Allocatable.Count)
	require.Equal(t, "0.5", *c.Overlays[0].Spec.Price)
	require.Len(t, c.Devices.Claims, 1)
	require.Len(t, c.Devices.Templates, 1)
	require.Equal(t, "gpu", c.Devices.Classes[0].Name)
	require.Equal(t, "gpu-0", c.Devices.Slices[0].Spec.Devices[0].Name)
}

// TestClaimsAreBoundByTheirStatus: a claim of a dump without annotations, as tools that tidy
// manifests leave it, is bound where its status says so.
func TestClaimsAreBoundByTheirStatus(t *testing.T) {
	spec := "spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}"
	c := mustRead(t, docs(
		object("v1", "PersistentVolumeClaim", "a", spec+", volumeName: disk}\nstatus: {phase: Bound}"),
		object("v1", "PersistentVolumeClaim", "b", spec+", volumeName: disk}\nstatus: {phase: Pending}"),
		object("v1", "PersistentVolumeClaim", "c", spec+"}\nstatus: {phase: Bound}"),
	))
	require.Equal(t, "yes", c.Volumes.Claims[0].Annotations["pv.kubernetes.io/bind-completed"])
	require.Empty(t, c.Volumes.Claims[1].Annotations)
	require.Empty(t, c.Volumes.Claims[2].Annotations)
}

func TestFaultsOfWhatPodsReferTo(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a misspelt field of a claim", object("v1", "PersistentVolumeClaim", "a", "spec:\n  storageClas: x"),
			`a.yaml:5 (document 1): PersistentVolumeClaim default/a: spec.storageClas: Forbidden: unknown field`},
		{"an overlay is validated", object("karpenter.sh/v1alpha1", "NodeOverlay", "a", "spec:\n  requirements: []\n  price: cheap"),
			`a.yaml:6 (document 1): NodeOverlay a: spec.price: Invalid value: "cheap"`},
		{"an old ResourceClaim", object("resource.k8s.io/v1beta1", "ResourceClaim", "a", ""),
			`resource.k8s.io/v1beta1 is not read by this program; convert the object to resource.k8s.io/v1`},
		{"a ReplicationController without a template", object("v1", "ReplicationController", "a", "spec: {replicas: 2}"),
			`ReplicationController default/a: spec.template: is missing; say what its pods are to be`},
		{"a selector that is none", object("apps/v1", "ReplicaSet", "a",
			"spec: {selector: {matchExpressions: [{key: a, operator: Is}]}, template: {spec: {containers: [{name: a}]}}}"),
			`ReplicaSet default/a: spec.selector: "Is" is not a valid label selector operator; correct it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(tt.text)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestControllers(t *testing.T) {
	const selector = "selector: {matchLabels: {app: web}}\n  "
	c := mustRead(t, docs(
		workload("Deployment", "web", selector+"replicas: 1"),
		workload("ReplicaSet", "free", selector+"replicas: 1"),
		workload("ReplicaSet", "blind", "replicas: 1"),
		workload("StatefulSet", "db", selector+"replicas: 1"),
		strings.Replace(workload("ReplicationController", "old", "selector: {app: old}\n  replicas: 1"), "labels: {app: web}", "labels: {app: old}", 1),
	))
	got := map[types.UID]*metav1.LabelSelector{}
	for _, controller := range c.Controllers {
		got[controller.UID] = controller.Selector
	}
	app := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	}
	require.Len(t, got, 4)
	for _, pod := range c.Pods {
		ref := metav1.GetControllerOf(pod)
		want := app("web")
		switch ref.Name {
		case "blind":
			want = nil
		case "old":
			want = app("old")
		case "free", "db":
		default: // the ReplicaSet of the Deployment
			want.MatchLabels["pod-template-hash"] = pod.Labels["pod-template-hash"]
			require.NotEmpty(t, pod.Labels["pod-template-hash"])
		}
		require.Equal(t, want, got[ref.UID], ref.Name)
	}
}

func TestPriorities(t *testing.T) {
	class := func(name, more string) string { return object("scheduling.k8s.io/v1", "PriorityClass", name, more) }
	of := func(name, spec string) string { return pod(name, "spec: {"+spec+", containers: [{name: a}]}") }
	c := mustRead(t, docs(
		class("urgent", "value: 1000"), class("normal, uid: a", "value: 10\nglobalDefault: true"), class("lower, uid: b", "value: 5\nglobalDefault: true"),
		of("by-class", "priorityClassName: urgent"), of("by-number", "priorityClassName: urgent, priority: 7"),
		of("of-the-system", "priorityClassName: system-node-critical"), of("unknown", "priorityClassName: none"), pod("without", container),
	))
	got := map[string]int32{}
	for _, pod := range c.Pods {
		if pod.Spec.Priority != nil {
			got[pod.Name] = *pod.Spec.Priority
		}
	}
	require.Equal(t, map[string]int32{"by-class": 1000, "by-number": 7, "of-the-system": 2000001000, "without": 5}, got)
	require.Equal(t, []string{"PriorityClass none is not in the input; its pods (1) count as of priority 0"}, c.Notes)

	c = mustRead(t, docs(class("urgent", "value: 1000"), node("node-a", ""), of("bound", "nodeName: node-a, priorityClassName: urgent"),
		workload("DaemonSet", "agent", "selector: {}"), pod("without", container)))
	require.Equal(t, int32(1000), *c.Nodes[0].Pods[0].Spec.Priority)
	require.Nil(t, c.Pods[0].Spec.Priority, "no class is the default")
}

func TestBuffers(t *testing.T) {
	template := "apiVersion: v1\nkind: PodTemplate\nmetadata: {namespace: shop, name: shape}\ntemplate: {spec: {containers: [{name: a, resources: {requests: {cpu: 2}}}]}}"
	for _, tt := range []struct {
		name, spec string
		replicas   int
	}{
		{"a fixed number", "{podTemplateRef: {name: shape}, replicas: 3}", 3},
		{"as many as fit", "{podTemplateRef: {name: shape}, limits: {cpu: 5}}", 2},
		{"a share of a Deployment", "{scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 50}", 2},
		{"a share of a StatefulSet", "{scalableRef: {apiGroup: apps, kind: StatefulSet, name: db}, percentage: 100}", 1},
		{"a share of a ReplicaSet", "{scalableRef: {apiGroup: apps, kind: ReplicaSet, name: rs}, percentage: 100}", 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mustRead(t, docs(template, workload("Deployment", "web", "replicas: 3"), workload("StatefulSet", "db", ""),
				workload("ReplicaSet", "rs", "replicas: 6"), buffer("spec: "+tt.spec)))
			require.Len(t, c.Buffers, 1)
			require.Equal(t, "spare", c.Buffers[0].Name)
			require.Equal(t, tt.replicas, c.Buffers[0].Replicas)
			require.Equal(t, "a", c.Buffers[0].Template.Spec.Containers[0].Name)
		})
	}
	for _, tt := range []struct{ name, spec, want string }{
		{"leads to nothing", "{podTemplateRef: {name: shap}, replicas: 3}", "spec.podTemplateRef: leads to PodTemplate shap, which is not in the input; add it"},
		{"leads to no workload", "{scalableRef: {kind: Deployment, name: api}, percentage: 3}", "spec.scalableRef: leads to Deployment api, which is not in the input"},
		{"leads nowhere", "{replicas: 3}", "spec.podTemplateRef: is missing, and so is scalableRef"},
		{"leads to two", "{podTemplateRef: {name: shape}, scalableRef: {kind: Deployment, name: web}}", "spec.scalableRef: stands beside podTemplateRef"},
		{"has no size", "{podTemplateRef: {name: shape}}", "spec.replicas: Required value"},
		{"has a negative size", "{podTemplateRef: {name: shape}, replicas: -3}", "spec.replicas: Invalid value: -3"},
		{"is misspelt", "{podTemplateRef: {name: shape}, replica: 3}", `spec.replica: Forbidden: unknown field; did you mean "replicas"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(docs(template, buffer("spec: "+tt.spec)))
			require.ErrorContains(t, err, "CapacityBuffer shop/spare: "+tt.want)
		})
	}
}
