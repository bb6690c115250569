package fleet

import (
	"errors"
	"fmt"
	"maps"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// seen has the objects of a Read and the objects made from them. Unchanged objects keep their
// pointers at the next Read, so that provisioning.Problem.WithInput does not read them again.
type seen struct {
	claims     map[types.UID]*v1.NodeClaim
	nodes      map[types.UID]*corev1.Node
	pods       map[types.UID]*corev1.Pod
	daemonSets map[types.UID]*appsv1.DaemonSet
	runtimes   map[types.UID]*nodev1.RuntimeClass

	plain   map[*corev1.Pod]*corev1.Pod       // results of nomination.Plain that are copies
	daemons map[*appsv1.DaemonSet]*corev1.Pod // the pod of each DaemonSet
}

// next replaces unchanged objects by those of the last Read. The error joins an error for each
// DaemonSet whose pods the API server would refuse; such a DaemonSet has no pod in daemons.
func (s seen) next(o *Objects) (now seen, err error) {
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

// asBefore returns the objects, as a list and by UID. An object whose UID and resourceVersion are
// unchanged keeps its earlier pointer. A new object is copied, but not deeply: the list of a client
// is one array, and a pointer into it would retain all of it.
func asBefore[T any, P interface {
	*T
	metav1.Object
}](list []P, before map[types.UID]P) ([]P, map[types.UID]P) {
	out, by := make([]P, len(list)), make(map[types.UID]P, len(list))
	for i, o := range list {
		if out[i] = o; o == nil || o.GetUID() == "" || o.GetResourceVersion() == "" { // Prepare reports nil
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

// daemonOf returns a pod of a DaemonSet, for provisioning.Input.
func daemonOf(ds *appsv1.DaemonSet, runtimes []*nodev1.RuntimeClass) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: *ds.Spec.Template.ObjectMeta.DeepCopy(), Spec: ds.Spec.Template.Spec}
	pod.Namespace, pod.Name = ds.Namespace, ds.Name
	return provisioning.Admitted(pod, runtimes...)
}

// compiled is a problem, its options, and the caller's additions to Input.
type compiled struct {
	problem    *provisioning.Problem
	options    provisioning.Options
	namespaces map[types.UID]*corev1.Namespace
	claims     map[types.UID]*corev1.PersistentVolumeClaim
	volumes    map[types.UID]*corev1.PersistentVolume
	classes    map[types.UID]*storagev1.StorageClass
	csiNodes   map[types.UID]*storagev1.CSINode
	drivers    map[types.UID]*storagev1.CSIDriver
	capacities map[types.UID]*storagev1.CSIStorageCapacity
	attached   map[types.UID]*storagev1.VolumeAttachment
}

// next replaces unchanged objects of an Input by those of the last Prepare.
func (c compiled) next(in *provisioning.Input) (now compiled) {
	in.Namespaces, now.namespaces = asBefore(in.Namespaces, c.namespaces)
	in.Volumes.Claims, now.claims = asBefore(in.Volumes.Claims, c.claims)
	in.Volumes.Volumes, now.volumes = asBefore(in.Volumes.Volumes, c.volumes)
	in.Volumes.Classes, now.classes = asBefore(in.Volumes.Classes, c.classes)
	in.Volumes.CSINodes, now.csiNodes = asBefore(in.Volumes.CSINodes, c.csiNodes)
	in.Volumes.CSIDrivers, now.drivers = asBefore(in.Volumes.CSIDrivers, c.drivers)
	in.Volumes.CSIStorageCapacities, now.capacities = asBefore(in.Volumes.CSIStorageCapacities, c.capacities)
	in.Volumes.VolumeAttachments, now.attached = asBefore(in.Volumes.VolumeAttachments, c.attached)
	return now
}

// compile returns the problem of Input: the Next of the last one in Memory, if the options are the
// same.
func (f *Fleet) compile(opts *provisioning.Options) (*provisioning.Problem, error) {
	var o provisioning.Options
	if opts != nil {
		o = *opts
	}
	last, in := f.Memory.compiled, f.Input.Input
	now := last.next(&in)
	in.Nodes = f.ending(in.Nodes)
	var err error
	if last.problem != nil && reflect.DeepEqual(o, last.options) {
		now.problem, err = last.problem.WithInput(in)
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
