package karpenter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/dovetail-sdk/dovetail/internal/simcluster"
)

// kube is a Kubernetes client of a simulated cluster. It stores NodeClaims and NodePools itself;
// all other objects are those of the cluster. It may be used by several goroutines.
type kube struct {
	client.Client // nil; provides the methods that no controller calls

	cluster *simcluster.Cluster
	changed func(ctx context.Context, object client.Object, deleted bool) // called after each write of a Node or NodeClaim

	mu     sync.Mutex
	claims map[string]*karpenterv1.NodeClaim
	pools  map[string]*karpenterv1.NodePool
	leaves map[string]*corev1.Node // nodes that are being deleted, as they were when deletion began

	podsAt int // value of cluster.Changes() when pods were read
	pods   []*corev1.Pod
	onNode map[string][]*corev1.Pod
}

// version is the resource version of all objects. No two writes conflict, because controllers run
// one after the other.
const version = "1"

func notFound(what, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: what}, name)
}

// readPods reads the pods, unless they are up to date.
func (k *kube) readPods() {
	if k.pods != nil && k.podsAt == k.cluster.Changes() {
		return
	}
	k.pods, k.onNode, k.podsAt = []*corev1.Pod{}, map[string][]*corev1.Pod{}, k.cluster.Changes()
	for _, p := range k.cluster.Pods.All() {
		k.pods = append(k.pods, p.Pod)
		k.onNode[p.Spec.NodeName] = append(k.onNode[p.Spec.NodeName], p.Pod)
	}
}

// Get reads an object.
func (k *kube) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.get(key, object)
}

func (k *kube) get(key client.ObjectKey, object client.Object) error {
	switch to := object.(type) {
	case *karpenterv1.NodeClaim:
		if have, ok := k.claims[key.Name]; ok {
			have.DeepCopyInto(to)
			return nil
		}
	case *karpenterv1.NodePool:
		if have, ok := k.pools[key.Name]; ok {
			have.DeepCopyInto(to)
			return nil
		}
	case *corev1.Node:
		if have, ok := k.cluster.Nodes.Get(key.Name); ok {
			have.DeepCopyInto(to)
			to.ResourceVersion = version
			return nil
		}
	case *corev1.Pod:
		k.readPods()
		for _, pod := range k.pods {
			if pod.Namespace == key.Namespace && pod.Name == key.Name {
				pod.DeepCopyInto(to)
				return nil
			}
		}
	}
	return notFound(fmt.Sprintf("%T", object), key.String())
}

// List lists objects. It returns none for kinds that the cluster does not have.
func (k *kube) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch to := list.(type) {
	case *corev1.PodList:
		k.readPods()
		from := k.pods
		if o.FieldSelector != nil {
			if node, exact := o.FieldSelector.RequiresExactMatch("spec.nodeName"); exact {
				from = k.onNode[node]
			}
		}
		to.Items = selected(from, &o, nil, (*corev1.Pod).DeepCopyInto)
	case *corev1.NodeList:
		to.Items = selected(k.cluster.Nodes.All(), &o, func(n *corev1.Node) fields.Set {
			return fields.Set{"spec.providerID": n.Spec.ProviderID}
		}, (*corev1.Node).DeepCopyInto)
	case *karpenterv1.NodeClaimList:
		to.Items = selected(sorted(k.claims), &o, func(c *karpenterv1.NodeClaim) fields.Set {
			ref := c.Spec.NodeClassRef
			return fields.Set{"status.providerID": c.Status.ProviderID, "spec.nodeClassRef.group": ref.Group, "spec.nodeClassRef.kind": ref.Kind, "spec.nodeClassRef.name": ref.Name}
		}, (*karpenterv1.NodeClaim).DeepCopyInto)
	case *karpenterv1.NodePoolList:
		to.Items = selected(sorted(k.pools), &o, func(p *karpenterv1.NodePool) fields.Set {
			ref := p.Spec.Template.Spec.NodeClassRef
			return fields.Set{"spec.template.spec.nodeClassRef.group": ref.Group, "spec.template.spec.nodeClassRef.kind": ref.Kind, "spec.template.spec.nodeClassRef.name": ref.Name}
		}, (*karpenterv1.NodePool).DeepCopyInto)
	case *appsv1.DaemonSetList:
		to.Items = selected([]*appsv1.DaemonSet{k.cluster.Daemon}, &o, nil, (*appsv1.DaemonSet).DeepCopyInto)
	case *policyv1.PodDisruptionBudgetList:
		to.Items = selected(k.cluster.Budgets.All(), &o, nil, (*policyv1.PodDisruptionBudget).DeepCopyInto)
	}
	return nil
}

func sorted[T any](byName map[string]T) (all []T) {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

// selected returns copies of the objects that the list options select. index returns the indexed
// fields of an object; nil means that the caller has applied the field selector.
func selected[T any, P interface {
	*T
	client.Object
}](all []P, o *client.ListOptions, index func(P) fields.Set, copyInto func(P, *T)) []T {
	out := []T{}
	for _, object := range all {
		if o.Namespace != "" && object.GetNamespace() != o.Namespace ||
			o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(object.GetLabels())) ||
			o.FieldSelector != nil && index != nil && !o.FieldSelector.Matches(index(object)) {
			continue
		}
		var copied T
		copyInto(object, &copied)
		P(&copied).SetResourceVersion(version)
		out = append(out, copied)
	}
	return out
}

// Create stores a NodeClaim.
func (k *kube) Create(ctx context.Context, object client.Object, _ ...client.CreateOption) error {
	claim, ok := object.(*karpenterv1.NodeClaim)
	if !ok {
		return fmt.Errorf("create %T: there are no such objects", object)
	}
	k.mu.Lock()
	if claim.Name == "" {
		claim.Name = k.cluster.GenerateName(claim.GenerateName)
	}
	claim.UID, claim.CreationTimestamp = k.cluster.UID(), metav1.NewTime(k.cluster.Now())
	claim.ResourceVersion = version
	stored := claim.DeepCopy()
	k.claims[claim.Name] = stored
	k.mu.Unlock()
	k.changed(ctx, stored.DeepCopy(), false)
	return nil
}

// Delete marks an object that has a finalizer for deletion, and removes one that has none. A Pod
// ends within its grace period.
func (k *kube) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	k.mu.Lock()
	key := client.ObjectKeyFromObject(object)
	if pod, ok := object.(*corev1.Pod); ok {
		defer k.mu.Unlock()
		grace := gracePeriod
		if o.GracePeriodSeconds != nil {
			grace = min(grace, seconds(*o.GracePeriodSeconds))
		}
		k.cluster.DeletePod(pod.Namespace, pod.Name, grace)
		return nil
	}
	stored := object.DeepCopyObject().(client.Object)
	if err := k.get(key, stored); err != nil {
		k.mu.Unlock()
		return err
	}
	if stored.GetDeletionTimestamp() == nil {
		now := metav1.NewTime(k.cluster.Now())
		stored.SetDeletionTimestamp(&now)
	}
	gone := k.store(stored)
	k.mu.Unlock()
	k.changed(ctx, stored, gone)
	return nil
}

// store replaces an object. It reports whether the object is gone: an object that is being deleted
// is removed with its last finalizer.
func (k *kube) store(object client.Object) (gone bool) {
	gone = object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0
	switch o := object.(type) {
	case *karpenterv1.NodeClaim:
		if gone {
			delete(k.claims, o.Name)
		} else {
			k.claims[o.Name] = o.DeepCopy()
		}
	case *karpenterv1.NodePool:
		k.pools[o.Name] = o.DeepCopy()
	case *corev1.Node:
		delete(k.leaves, o.Name)
		switch {
		case gone:
			k.cluster.LoseNode(o.Name)
		default:
			stored := o.DeepCopy()
			if o.DeletionTimestamp != nil {
				k.leaves[o.Name] = stored
			}
			k.cluster.Nodes.Put(o.Name, stored)
		}
	}
	return gone
}

// Patch changes an object, except for its status.
func (k *kube) Patch(ctx context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return k.patch(ctx, object, patch, false)
}

func (k *kube) patch(ctx context.Context, object client.Object, patch client.Patch, ofStatus bool) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	k.mu.Lock()
	stored := object.DeepCopyObject().(client.Object)
	err = k.get(client.ObjectKeyFromObject(object), stored)
	if err == nil {
		err = apply(stored, patch.Type(), data, ofStatus)
	}
	gone := err == nil && k.store(stored)
	k.mu.Unlock()
	if err != nil {
		return err
	}
	copyObject(stored, object)
	k.changed(ctx, stored, gone)
	return nil
}

// apply patches either the status of an object or everything else.
func apply(object client.Object, kind types.PatchType, data []byte, ofStatus bool) error {
	before, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var after []byte
	if kind == types.StrategicMergePatchType {
		after, err = strategicpatch.StrategicMergePatch(before, data, object)
	} else {
		after, err = jsonpatch.MergePatch(before, data)
	}
	if err != nil {
		return err
	}
	var parts, old map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(after, &parts), json.Unmarshal(before, &old)); err != nil {
		return err
	}
	if ofStatus {
		old["status"] = parts["status"]
		parts = old
	} else if parts["status"] = old["status"]; parts["status"] == nil {
		delete(parts, "status")
	}
	if after, err = json.Marshal(parts); err != nil {
		return err
	}
	switch o := object.(type) {
	case *corev1.Node:
		*o = corev1.Node{}
	case *karpenterv1.NodeClaim:
		*o = karpenterv1.NodeClaim{}
	case *karpenterv1.NodePool:
		*o = karpenterv1.NodePool{}
	}
	return json.Unmarshal(after, object)
}

func copyObject(from, to client.Object) {
	switch o := from.(type) {
	case *corev1.Node:
		o.DeepCopyInto(to.(*corev1.Node))
	case *karpenterv1.NodeClaim:
		o.DeepCopyInto(to.(*karpenterv1.NodeClaim))
	case *karpenterv1.NodePool:
		o.DeepCopyInto(to.(*karpenterv1.NodePool))
	}
}

// Status returns a client of the status subresource.
func (k *kube) Status() client.SubResourceWriter { return part{kube: k} }

// SubResource returns a client of the status, or of the eviction of a Pod.
func (k *kube) SubResource(string) client.SubResourceClient { return part{kube: k} }

// part is a client of a subresource.
type part struct {
	client.SubResourceClient // nil; provides the methods that no controller calls
	kube                     *kube
}

// Patch changes the status of an object.
func (p part) Patch(ctx context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return p.kube.patch(ctx, object, patch, true)
}

// Create evicts a Pod.
func (p part) Create(_ context.Context, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	p.kube.mu.Lock()
	defer p.kube.mu.Unlock()
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}
	if err := p.kube.cluster.Evict(eviction); err != nil {
		return apierrors.NewTooManyRequests(err.Error(), 0)
	}
	return nil
}
