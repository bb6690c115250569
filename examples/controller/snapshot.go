package main

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodepool"
)

// watched returns the kinds that a snapshot consists of.
func watched() []client.Object {
	return []client.Object{&v1.NodePool{}, &v1.NodeClaim{}, &corev1.Node{}, &corev1.Pod{}, &appsv1.DaemonSet{}, &policyv1.PodDisruptionBudget{},
		&corev1.Namespace{}, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}, &storagev1.StorageClass{}, &storagev1.CSINode{}, &nodev1.RuntimeClass{},
		&storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{}}
}

// snapshot is the cluster at the beginning of a pass. Its objects are shared with the caches and
// read-only.
type snapshot struct {
	*fleet.Fleet                  // its Input has everything that decisions are made from
	pools        []*v1.NodePool   // as they are stored
	classes      map[string]error // by pool: why its class cannot be used
}

// all lists the objects of a kind without copying them.
func all[T any, L client.ObjectList](ctx context.Context, c client.Reader, list L, items func(L) []T, errs *error) (out []*T) {
	*errs = errors.Join(*errs, c.List(ctx, list, client.UnsafeDisableDeepCopy))
	have := items(list)
	for i := range have {
		out = append(out, &have[i])
	}
	return out
}

// snapshot reads the caches. They show what this process has written.
func (a *autoscaler) snapshot(ctx context.Context, now time.Time) (*snapshot, error) {
	var err error
	o := fleet.Objects{
		NodeClaims:             all(ctx, a, &v1.NodeClaimList{}, func(l *v1.NodeClaimList) []v1.NodeClaim { return l.Items }, &err),
		Nodes:                  all(ctx, a, &corev1.NodeList{}, func(l *corev1.NodeList) []corev1.Node { return l.Items }, &err),
		Pods:                   all(ctx, a, &corev1.PodList{}, func(l *corev1.PodList) []corev1.Pod { return l.Items }, &err),
		DaemonSets:             all(ctx, a, &appsv1.DaemonSetList{}, func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, &err),
		PodDisruptionBudgets:   all(ctx, a, &policyv1.PodDisruptionBudgetList{}, func(l *policyv1.PodDisruptionBudgetList) []policyv1.PodDisruptionBudget { return l.Items }, &err),
		RuntimeClasses:         all(ctx, a, &nodev1.RuntimeClassList{}, func(l *nodev1.RuntimeClassList) []nodev1.RuntimeClass { return l.Items }, &err),
		VolumeAttachments:      all(ctx, a, &storagev1.VolumeAttachmentList{}, func(l *storagev1.VolumeAttachmentList) []storagev1.VolumeAttachment { return l.Items }, &err),
		PersistentVolumeClaims: all(ctx, a, &corev1.PersistentVolumeClaimList{}, func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items }, &err),
	}
	s := &snapshot{pools: all(ctx, a, &v1.NodePoolList{}, func(l *v1.NodePoolList) []v1.NodePool { return l.Items }, &err)}
	namespaces := all(ctx, a, &corev1.NamespaceList{}, func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }, &err)
	volumes := provisioning.Volumes{
		Claims:   o.PersistentVolumeClaims,
		Volumes:  all(ctx, a, &corev1.PersistentVolumeList{}, func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items }, &err),
		Classes:  all(ctx, a, &storagev1.StorageClassList{}, func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }, &err),
		CSINodes: all(ctx, a, &storagev1.CSINodeList{}, func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items }, &err),

		CSIDrivers:           all(ctx, a, &storagev1.CSIDriverList{}, func(l *storagev1.CSIDriverList) []storagev1.CSIDriver { return l.Items }, &err),
		CSIStorageCapacities: all(ctx, a, &storagev1.CSIStorageCapacityList{}, func(l *storagev1.CSIStorageCapacityList) []storagev1.CSIStorageCapacity { return l.Items }, &err),
		VolumeAttachments:    o.VolumeAttachments,
	}
	if err != nil {
		return nil, err
	}
	if s.Fleet, err = fleet.Read(now, o, a.last.Memory); err != nil {
		a.failed(ctx, "read the cluster", err)
	}
	a.last = s.Fleet
	s.Input.Namespaces, s.Input.Volumes, s.Input.Drift = namespaces, volumes, a.drift
	s.Input.CatalogCache, s.Input.RepairPolicies = a.catalogs, cloudprovider.RepairPolicies(a.cloud)
	a.readPools(ctx, s)
	return s, nil
}

// readPools reads the NodePools and updates their conditions. A pool that cannot be used launches
// nothing; the others are not affected.
func (a *autoscaler) readPools(ctx context.Context, s *snapshot) {
	s.Input.Vocabulary = cloudprovider.Vocabulary(a.cloud)
	s.Input.InstanceTypes, s.classes = map[string][]*cloudprovider.InstanceType{}, map[string]error{}
	for _, stored := range s.pools {
		pool := stored.DeepCopy()
		pool.Default()
		if len(pool.Validate()) > 0 {
			pool.Spec.Template.Spec.Requirements = nil // nothing that cannot be read
		} else if types, err := a.classAndTypes(ctx, pool); err != nil {
			s.classes[pool.Name] = err
		} else {
			s.Input.InstanceTypes[pool.Name] = a.stock.Apply(types)
		}
		pool.Status = nodepool.Edit(s.Now, stored, s.classes[pool.Name], nil).Status
		s.Input.NodePools = append(s.Input.NodePools, pool)
	}
}

// classAndTypes returns the instance types that the cloud sells to a pool, after checking its
// class.
func (a *autoscaler) classAndTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := cloudprovider.NodeClassReady(ctx, a.cloud, *pool.Spec.Template.Spec.NodeClassRef); err != nil {
		return nil, err
	}
	return a.cloud.InstanceTypes(ctx, pool)
}
