package contradiction

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Finding is one contradiction.
type Finding struct {
	Node, Pod string // names of the node and the pod concerned, "" if there are none
	Message   string
}

// Find lists the contradictions of an input:
//
//   - two objects of one kind and name, where a NodeClaim without its Node counts as a Node;
//   - a NodeClaim that is listed with its Node and by itself;
//   - a NodeClaim that is listed with two Nodes, or with a Node of another name or provider ID than its
//     status says; the same provider ID decides, whatever the name;
//   - a provider ID that two nodes with a NodeClaim have;
//   - a bound pod that is listed under another Node than its spec.nodeName says, unless it has finished;
//   - a pod to place that is bound.
//
// Owners of pods are checked only if opts spread pods by their owners. nil opts mean the defaults.
func Find(in provisioning.Input, opts *provisioning.Options) []Finding {
	f := &finder{}
	f.nodes(in.Nodes)
	f.machines(in.Nodes)
	once(f, "pending Pod", in.Pods, key)
	for _, pod := range in.Pods {
		if pod != nil && pod.Spec.NodeName != "" {
			f.add("", key(pod), "is among the pods to place, and its spec.nodeName is %q; list it under that node", pod.Spec.NodeName)
		}
	}
	once(f, "DaemonSet Pod", in.DaemonSetPods, key)
	once(f, "NodePool", in.NodePools, (*v1.NodePool).GetName)
	for pool, types := range in.InstanceTypes {
		once(f, "instance type of NodePool "+pool+":", types, func(t *cloudprovider.InstanceType) string { return t.Name })
	}
	once(f, "Namespace", in.Namespaces, (*corev1.Namespace).GetName)
	once(f, "Buffer", pointers(in.Buffers), func(b *provisioning.Buffer) string { return b.Namespace + "/" + b.Name })
	if opts != nil && len(opts.DefaultSpread) > 0 {
		once(f, "Controller", pointers(in.Controllers), func(c *provisioning.Controller) string { return string(c.UID) })
	}
	f.volumes(in.Volumes)
	once(f, "ResourceClaim", in.Devices.Claims, key)
	once(f, "ResourceClaimTemplate", in.Devices.Templates, key)
	once(f, "DeviceClass", in.Devices.Classes, (*resourcev1.DeviceClass).GetName)
	return f.found
}

// finder collects findings.
type finder struct{ found []Finding }

func (f *finder) add(node, pod, format string, args ...any) {
	f.found = append(f.found, Finding{node, pod, fmt.Sprintf(format, args...)})
}

// nodes checks nodes and the pods bound to them.
func (f *finder) nodes(nodes []provisioning.Node) {
	var there []*provisioning.Node
	with, named := map[string]bool{}, map[string]string{} // NodeClaims that are listed with their Node; provider IDs of Nodes
	for i := range nodes {
		n := &nodes[i]
		if n.Node != nil || n.NodeClaim != nil {
			there = append(there, n)
		}
		if n.Node == nil {
			continue
		}
		named[n.Node.Name] = n.Node.Spec.ProviderID
		if n.NodeClaim != nil {
			with[n.NodeClaim.Name] = true
		}
		for _, pod := range n.Pods {
			if pod == nil || podlife.Finished(pod) {
				continue
			}
			if on := pod.Spec.NodeName; on != "" && on != n.Node.Name {
				f.add(n.Node.Name, key(pod), "has spec.nodeName %q; list it under the node that it is bound to", on)
			}
		}
	}
	once(f, "Node", there, func(n *provisioning.Node) string { return n.Name() })
	for _, n := range there {
		if n.Node != nil {
			continue
		}
		id, found := named[n.NodeClaim.Status.NodeName]
		other := id != "" && n.NodeClaim.Status.ProviderID != "" && id != n.NodeClaim.Status.ProviderID // of a machine before
		if with[n.NodeClaim.Name] || found && !other {
			f.add(n.NodeClaim.Name, "", "is a NodeClaim that is listed apart from its Node; list both in one entry")
		}
	}
}

// machines checks that each NodeClaim is listed with its own Node, and each machine once.
func (f *finder) machines(nodes []provisioning.Node) {
	owner, machine := map[string]provisioning.Node{}, map[string]provisioning.Node{}
	for _, n := range nodes {
		claim, ids := "", map[string]bool{}
		if n.NodeClaim != nil {
			claim = n.NodeClaim.Name
			ids[n.NodeClaim.Status.ProviderID] = true
		}
		if n.Node != nil {
			if claim != "" {
				status, id := n.NodeClaim.Status, n.Node.Spec.ProviderID
				same := id != "" && id == status.ProviderID
				if id != "" && status.ProviderID != "" && !same {
					f.add(n.Name(), "", "is listed with NodeClaim %s of provider ID %q, and its own is %q; list each NodeClaim with its own Node", claim, status.ProviderID, id)
				}
				if status.NodeName != "" && status.NodeName != n.Node.Name && !same {
					f.add(n.Name(), "", "is listed with NodeClaim %s of Node %q; list each NodeClaim with its own Node", claim, status.NodeName)
				}
				if other, found := owner[claim]; found && other.Name() != n.Name() {
					f.add(n.Name(), "", "is listed with NodeClaim %s, which Node %s has too; list each NodeClaim with its own Node", claim, other.Name())
				} else {
					owner[claim] = n
				}
			}
			ids[n.Node.Spec.ProviderID] = true
		}
		delete(ids, "")
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			other, found := machine[id]
			if !found {
				machine[id] = n
			} else if other.Name() != n.Name() && claim != "" && other.NodeClaim != nil && other.NodeClaim.Name != claim {
				f.add(n.Name(), "", "has provider ID %q, as %s; leave one of the two out", id, other.Name())
			}
		}
	}
}

// volumes checks storage objects.
func (f *finder) volumes(v provisioning.Volumes) {
	once(f, "PersistentVolumeClaim", v.Claims, key)
	once(f, "PersistentVolume", v.Volumes, (*corev1.PersistentVolume).GetName)
	once(f, "StorageClass", v.Classes, (*storagev1.StorageClass).GetName)
	once(f, "CSINode", v.CSINodes, (*storagev1.CSINode).GetName)
	once(f, "CSIDriver", v.CSIDrivers, (*storagev1.CSIDriver).GetName)
	once(f, "CSIStorageCapacity", v.CSIStorageCapacities, key)
	once(f, "VolumeAttachment", v.VolumeAttachments, (*storagev1.VolumeAttachment).GetName)
}

// once reports objects of a kind that have the name of another one.
func once[T any](f *finder, kind string, objects []*T, name func(*T) string) {
	seen := make(map[string]bool, len(objects))
	for _, o := range objects {
		if o == nil {
			continue
		}
		if id := name(o); seen[id] {
			f.add("", "", "%s %s is listed twice; list each object once", kind, id)
		} else {
			seen[id] = true
		}
	}
}

// key returns namespace/name of an object.
func key[T interface {
	GetNamespace() string
	GetName() string
}](o T) string {
	return o.GetNamespace() + "/" + o.GetName()
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
