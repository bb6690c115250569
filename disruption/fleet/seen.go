package fleet

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// seen are the objects of a look and what was made of them. What has not changed since is the
// same object at the next look: provisioning.Problem.Next reads no node twice.
type seen struct {
	claims     map[types.UID]*v1.NodeClaim
	nodes      map[types.UID]*corev1.Node
	pods       map[types.UID]*corev1.Pod
	daemonSets map[types.UID]*appsv1.DaemonSet
	runtimes   map[types.UID]*nodev1.RuntimeClass

	plain   map[*corev1.Pod]*corev1.Pod       // pods as their owners wrote them, where that is a copy
	daemons map[*appsv1.DaemonSet]*corev1.Pod // the pod that stands for each
}

// again takes the objects of the look before for those that have not changed. The error joins
// one for each DaemonSet whose pods the API server would refuse: no pod stands for that.
func (s seen) again(o *Objects) (now seen, err error) {
	o.NodeClaims, now.claims = asBefore(o.NodeClaims, s.claims)
	o.Nodes, now.nodes = asBefore(o.Nodes, s.nodes)
	o.Pods, now.pods = asBefore(o.Pods, s.pods)
	o.DaemonSets, now.daemonSets = asBefore(o.DaemonSets, s.daemonSets)
	o.RuntimeClasses, now.runtimes = asBefore(o.RuntimeClasses, s.runtimes)
	now.plain, now.daemons = map[*corev1.Pod]*corev1.Pod{}, map[*appsv1.DaemonSet]*corev1.Pod{}
	for _, p := range o.Pods {
		if known := s.plain[p]; known != nil {
			now.plain[p] = known
		} else if plain := nomination.Plain(p); plain != p {
			now.plain[p] = plain
		}
	}
	sameRuntimes := maps.Equal(now.runtimes, s.runtimes)
	for _, ds := range o.DaemonSets {
		if known := s.daemons[ds]; known != nil && sameRuntimes {
			now.daemons[ds] = known
		} else if pod, refused := daemonOf(ds, o.RuntimeClasses); refused != nil {
			err = errors.Join(err, fmt.Errorf("DaemonSet %w", refused))
		} else {
			now.daemons[ds] = pod
		}
	}
	return now, err
}

// asBefore are objects, those of one UID and resourceVersion at the address that they had,
// and the same by UID. An object that may be kept for later looks is copied, not deeply: a list of a
// client is one array, and a pointer into it would keep all of it.
func asBefore[T any, P interface {
	*T
	metav1.Object
}](list []P, before map[types.UID]P) ([]P, map[types.UID]P) {
	out, by := make([]P, len(list)), make(map[types.UID]P, len(list))
	for i, o := range list {
		if out[i] = o; o == nil || o.GetUID() == "" || o.GetResourceVersion() == "" { // nil is for Prepare to report
			continue
		}
		if known := before[o.GetUID()]; known != nil && known.GetResourceVersion() == o.GetResourceVersion() {
			out[i] = known
		} else {
			kept := *o
			out[i] = &kept
		}
		by[o.GetUID()] = out[i]
	}
	return out, by
}

// plainOf is a pod as its owner wrote it.
func (s *seen) plainOf(p *corev1.Pod) *corev1.Pod {
	if plain := s.plain[p]; plain != nil {
		return plain
	}
	return p
}

// daemonOf returns the pod that stands for a DaemonSet.
func daemonOf(ds *appsv1.DaemonSet, runtimes []*nodev1.RuntimeClass) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: *ds.Spec.Template.ObjectMeta.DeepCopy(), Spec: ds.Spec.Template.Spec}
	pod.Namespace, pod.Name = ds.Namespace, ds.Name
	return provisioning.Admitted(pod, runtimes...)
}

// compiled is a problem, the options that it was made with, and what the caller adds to an
// Input.
type compiled struct {
	problem    *provisioning.Problem
	options    provisioning.Options
	pools      []*v1.NodePool
	namespaces map[types.UID]*corev1.Namespace
	claims     map[types.UID]*corev1.PersistentVolumeClaim
	volumes    map[types.UID]*corev1.PersistentVolume
	classes    map[types.UID]*storagev1.StorageClass
	csiNodes   map[types.UID]*storagev1.CSINode
	drivers    map[types.UID]*storagev1.CSIDriver
	capacities map[types.UID]*storagev1.CSIStorageCapacity
	attached   map[types.UID]*storagev1.VolumeAttachment
}

// again has the objects of an Input that are known as they were known. NodePools are compared
// whole: who has read a stored one fills in defaults and conditions, in a copy of its own.
func (c compiled) again(in *provisioning.Input) (now compiled) {
	in.Namespaces, now.namespaces = asBefore(in.Namespaces, c.namespaces)
	in.Volumes.Claims, now.claims = asBefore(in.Volumes.Claims, c.claims)
	in.Volumes.Volumes, now.volumes = asBefore(in.Volumes.Volumes, c.volumes)
	in.Volumes.Classes, now.classes = asBefore(in.Volumes.Classes, c.classes)
	in.Volumes.CSINodes, now.csiNodes = asBefore(in.Volumes.CSINodes, c.csiNodes)
	in.Volumes.CSIDrivers, now.drivers = asBefore(in.Volumes.CSIDrivers, c.drivers)
	in.Volumes.CSIStorageCapacities, now.capacities = asBefore(in.Volumes.CSIStorageCapacities, c.capacities)
	in.Volumes.VolumeAttachments, now.attached = asBefore(in.Volumes.VolumeAttachments, c.attached)
	in.NodePools = slices.Clone(in.NodePools)
	for i := range min(len(in.NodePools), len(c.pools)) {
		if equality.Semantic.DeepEqual(in.NodePools[i], c.pools[i]) {
			in.NodePools[i] = c.pools[i]
		}
	}
	now.pools = in.NodePools
	return now
}

// compile is the problem of Input: the next one of the last that Memory has, if the options
// are the same.
func (f *Fleet) compile(opts *provisioning.Options) (*provisioning.Problem, error) {
	var o provisioning.Options
	if opts != nil {
		o = *opts
	}
	last, in := f.Memory.compiled, f.Input.Input
	now := last.again(&in)
	var err error
	if last.problem != nil && reflect.DeepEqual(o, last.options) {
		now.problem, err = last.problem.Next(in)
	} else {
		now.problem, err = provisioning.Prepare(in, opts)
	}
	if err != nil {
		return nil, err
	}
	now.options = o
	f.Memory.compiled = now
	return now.problem, nil
}
