package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Volumes are the storage objects of an input.
type Volumes = volume.Objects

// Devices are the objects of dynamic resource allocation of an input.
type Devices = device.Objects

// Faults collects the faults of an input.
type Faults = faults.List

// Input is the input from which a problem is compiled. It equals provisioning.Input, whose comments
// describe the fields, except that buffers are given as pods.
type Input struct {
	NodePools     []*v1.NodePool                           // in any order
	InstanceTypes map[string][]*cloudprovider.InstanceType // by name of the pool
	Nodes         []Node                                   // nodes that exist, and NodeClaims whose node is on its way
	Pods          []*corev1.Pod                            // pods to be placed
	Nominated     map[types.NamespacedName]string          // by pod: the name of its nominated node
	DaemonSetPods []*corev1.Pod                            // one for each DaemonSet
	Namespaces    []*corev1.Namespace                      // for their labels
	Volumes       Volumes                                  // of pods and nodes
	Devices       Devices                                  // of pods and nodes
	Overlays      []*v1.NodeOverlay                        // applied to the instance types
	Services      []*corev1.Service                        // for the selectors of default spread constraints
	Controllers   []Controller                             // for the selectors of default spread constraints
	Vocabulary    *requirements.Vocabulary                 // nil for the default
}

// SameOffers says whether both inputs have the same NodePools, overlays and instance types, in the
// same order. NodePools are compared by content, the others by pointer.
func (in *Input) SameOffers(other *Input) bool {
	if !slices.EqualFunc(in.NodePools, other.NodePools, samePool) || !SameList(in.Overlays, other.Overlays) || len(in.InstanceTypes) != len(other.InstanceTypes) {
		return false
	}
	for pool, types := range in.InstanceTypes {
		if known, ok := other.InstanceTypes[pool]; !ok || !SameList(types, known) {
			return false
		}
	}
	return true
}

// samePool says whether two NodePools are equal, except for what changes while their nodes do: the
// resourceVersion, and the counts in the status.
func samePool(a, b *v1.NodePool) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	bare := func(p v1.NodePool) v1.NodePool {
		p.ResourceVersion, p.ManagedFields = "", nil
		p.Status = v1.NodePoolStatus{Conditions: p.Status.Conditions}
		return p
	}
	return equality.Semantic.DeepEqual(bare(*a), bare(*b))
}

// Node is provisioning.Node.
type Node struct {
	Node      *corev1.Node
	NodeClaim *v1.NodeClaim
	Pods      []*corev1.Pod
	Ending    []*corev1.Pod
}

// Name returns the name of the Node, or of the NodeClaim if there is no Node.
func (n Node) Name() string {
	switch {
	case n.Node != nil:
		return n.Node.Name
	case n.NodeClaim != nil:
		return n.NodeClaim.Name
	}
	return ""
}

// Controller is an owner of pods, such as a ReplicaSet.
type Controller struct {
	UID      types.UID
	Selector *metav1.LabelSelector
}
