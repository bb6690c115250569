package contradiction_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/contradiction"
)

func TestFind(t *testing.T) {
	meta, global := metav1.ObjectMeta{Namespace: "shop", Name: "a"}, metav1.ObjectMeta{Name: "a"}
	pod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	}
	node := func(name string, pods ...*corev1.Pod) provisioning.Node {
		return provisioning.Node{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, Pods: pods}
	}
	finished := func(p *corev1.Pod) *corev1.Pod {
		p.Status.Phase = corev1.PodSucceeded
		return p
	}
	deleted := func(p *corev1.Pod) *corev1.Pod {
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		return p
	}
	claim := func(name, node string) *v1.NodeClaim {
		return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeClaimStatus{NodeName: node}}
	}
	machine := func(n provisioning.Node, id string, c *v1.NodeClaim, claimed string) provisioning.Node {
		n.Node.Spec.ProviderID, n.NodeClaim = id, c
		if c != nil {
			c.Status.ProviderID = claimed
		}
		return n
	}
	twice := func(objects ...string) (found []contradiction.Finding) {
		for _, o := range objects {
			found = append(found, contradiction.Finding{Message: o + " is listed twice; list each object once"})
		}
		return found
	}
	spread := &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway},
	}}
	for _, tt := range []struct {
		name string
		in   provisioning.Input
		opts *provisioning.Options
		want []contradiction.Finding
	}{
		{"nothing", provisioning.Input{Nodes: []provisioning.Node{node("n", pod("a", "n"), pod("b", ""), nil), node("m"), {}}, Pods: []*corev1.Pod{pod("c", ""), nil}}, nil, nil},
		{"two nodes of one name", provisioning.Input{Nodes: []provisioning.Node{node("n"), node("n")}},
			nil, twice("Node n")},
		{"a pod to be placed that leaves its node", provisioning.Input{
			Nodes: []provisioning.Node{node("n", pod("a", "n")).Leaving(), node("m", deleted(pod("b", "m")), finished(pod("c", "m")))},
			Pods:  []*corev1.Pod{pod("a", ""), pod("b", ""), pod("c", "")},
		}, nil, nil},
		{"a pod of another node", provisioning.Input{Nodes: []provisioning.Node{node("n", pod("a", "m"))}},
			nil, []contradiction.Finding{{Node: "n", Pod: "shop/a", Message: `has spec.nodeName "m"; list it under the node that it is bound to`}}},
		{"a pending pod that is bound", provisioning.Input{Pods: []*corev1.Pod{pod("a", "n")}},
			nil, []contradiction.Finding{{Pod: "shop/a", Message: `is among the pods to place, and its spec.nodeName is "n"; list it under that node`}}},
		{"a pending pod twice", provisioning.Input{Pods: []*corev1.Pod{pod("a", ""), pod("a", "")}},
			nil, twice("pending Pod shop/a")},
		{"a pod that has finished elsewhere", provisioning.Input{Nodes: []provisioning.Node{node("n", finished(pod("a", "m")))}}, nil, nil},
		{"a pod of a Node that is not there yet", provisioning.Input{Nodes: []provisioning.Node{{NodeClaim: claim("c", ""), Pods: []*corev1.Pod{pod("a", "m")}}}}, nil, nil},
		{"a NodeClaim apart from its Node", provisioning.Input{Nodes: []provisioning.Node{{Node: node("n").Node, NodeClaim: claim("c", "n")}, {NodeClaim: claim("c", "")}, {NodeClaim: claim("d", "n")}}},
			nil, []contradiction.Finding{
				{Node: "c", Message: "is a NodeClaim that is listed apart from its Node; list both in one entry"},
				{Node: "d", Message: "is a NodeClaim that is listed apart from its Node; list both in one entry"},
			}},
		{"machines that are in order", provisioning.Input{Nodes: []provisioning.Node{
			machine(node("n"), "i-1", claim("c", "before"), "i-1"), machine(node("m"), "i-2", nil, ""), machine(node("o"), "i-2", nil, ""), machine(node("p"), "", claim("d", "p"), ""),
		}}, nil, nil},
		{"a NodeClaim of another machine", provisioning.Input{Nodes: []provisioning.Node{machine(node("n"), "i-1", claim("c", "m"), "i-2")}},
			nil, []contradiction.Finding{
				{Node: "n", Message: `is listed with NodeClaim c of provider ID "i-2", and its own is "i-1"; list each NodeClaim with its own Node`},
				{Node: "n", Message: `is listed with NodeClaim c of Node "m"; list each NodeClaim with its own Node`},
			}},
		{"a NodeClaim with two Nodes", provisioning.Input{Nodes: []provisioning.Node{machine(node("n"), "", claim("c", ""), ""), machine(node("m"), "", claim("c", ""), "")}},
			nil, []contradiction.Finding{{Node: "m", Message: "is listed with NodeClaim c, which Node n has too; list each NodeClaim with its own Node"}}},
		{"a machine of two nodes", provisioning.Input{Nodes: []provisioning.Node{machine(node("n"), "i-1", claim("c", ""), ""), machine(node("m"), "i-1", claim("d", ""), ""), machine(node("o"), "i-1", nil, "")}},
			nil, []contradiction.Finding{{Node: "m", Message: `has provider ID "i-1", as n; leave one of the two out`}}},
		{"two owners of one UID that nobody asks about", provisioning.Input{Controllers: []provisioning.Controller{{UID: "u"}, {UID: "u"}}}, nil, nil},
		{"two owners of one UID", provisioning.Input{Controllers: []provisioning.Controller{{UID: "u"}, {UID: "u"}}}, spread, twice("Controller u")},
		{"other objects twice", provisioning.Input{
			NodePools:     []*v1.NodePool{{ObjectMeta: global}, {ObjectMeta: global}, nil},
			InstanceTypes: map[string][]*cloudprovider.InstanceType{"a": {{Name: "m"}, {Name: "m"}, nil}},
			DaemonSetPods: []*corev1.Pod{pod("a", ""), pod("a", ""), nil},
			Namespaces:    []*corev1.Namespace{{ObjectMeta: global}, {ObjectMeta: global}, nil},
			Buffers:       []provisioning.Buffer{{Namespace: "shop", Name: "a"}, {Namespace: "shop", Name: "a"}},
			Volumes: provisioning.Volumes{
				Claims:               []*corev1.PersistentVolumeClaim{{ObjectMeta: meta}, {ObjectMeta: meta}, nil},
				Volumes:              []*corev1.PersistentVolume{{ObjectMeta: global}, {ObjectMeta: global}, nil},
				Classes:              []*storagev1.StorageClass{{ObjectMeta: global}, {ObjectMeta: global}, nil},
				CSINodes:             []*storagev1.CSINode{{ObjectMeta: global}, {ObjectMeta: global}, nil},
				CSIDrivers:           []*storagev1.CSIDriver{{ObjectMeta: global}, {ObjectMeta: global}, nil},
				CSIStorageCapacities: []*storagev1.CSIStorageCapacity{{ObjectMeta: meta}, {ObjectMeta: meta}, nil},
				VolumeAttachments:    []*storagev1.VolumeAttachment{{ObjectMeta: global}, {ObjectMeta: global}, nil},
			},
			Devices: provisioning.Devices{
				Claims:    []*resourcev1.ResourceClaim{{ObjectMeta: meta}, {ObjectMeta: meta}, nil},
				Templates: []*resourcev1.ResourceClaimTemplate{{ObjectMeta: meta}, {ObjectMeta: meta}, nil},
				Classes:   []*resourcev1.DeviceClass{{ObjectMeta: global}, {ObjectMeta: global}, nil},
			},
		}, nil, twice("DaemonSet Pod shop/a", "NodePool a", "instance type of NodePool a: m", "Namespace a", "Buffer shop/a",
			"PersistentVolumeClaim shop/a", "PersistentVolume a", "StorageClass a", "CSINode a", "CSIDriver a", "CSIStorageCapacity shop/a", "VolumeAttachment a",
			"ResourceClaim shop/a", "ResourceClaimTemplate shop/a", "DeviceClass a")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, contradiction.Find(tt.in, tt.opts))
			_, err := provisioning.Prepare(tt.in, tt.opts)
			refused := slices.DeleteFunc(provisioning.Faults(err), func(f *provisioning.InputError) bool {
				return !strings.Contains(f.Error(), "list each ") && !strings.Contains(f.Error(), "is listed in") && !strings.Contains(f.Error(), "its own Node") && !strings.Contains(f.Error(), "leave one of") && !strings.Contains(f.Error(), "apart") && f.Field != "spec.nodeName"
			})
			require.Len(t, refused, len(tt.want), "the engine refuses the same: %v", err)
		})
	}
}
