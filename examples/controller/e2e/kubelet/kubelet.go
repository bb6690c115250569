// Package kubelet simulates the kubelets of all nodes of a test cluster. It changes objects as
// kubelets do, but runs no containers: a Node becomes ready when its machine has booted, renews its
// Lease, runs the pods that are bound to it and ends those that are deleted. The kubelet of a
// machine that was terminated does nothing any more.
package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/dovetail-sdk/dovetail/fake/kwok"
)

const renewEvery = 10 * time.Second // time between renewals of a Lease, as in kubelets

// Kubelets simulates the kubelets of all nodes.
type Kubelets struct {
	api   kubernetes.Interface
	boot  time.Duration
	nodes listers.NodeLister
	pods  listers.PodLister
	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// Run simulates kubelets until ctx is done. A machine is ready once the time boot has passed since
// the creation of its Node.
func Run(ctx context.Context, api kubernetes.Interface, boot time.Duration) error {
	factory := informers.NewSharedInformerFactory(api, 0)
	k := &Kubelets{api: api, boot: boot, nodes: factory.Core().V1().Nodes().Lister(), pods: factory.Core().V1().Pods().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](50*time.Millisecond, time.Second))}
	defer k.queue.ShutDown()
	add := func(o any) {
		if name, err := cache.DeletionHandlingObjectToName(o); err == nil {
			k.queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }}
	for _, informer := range []cache.SharedIndexInformer{factory.Core().V1().Nodes().Informer(), factory.Core().V1().Pods().Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range 16 {
		go k.work(ctx)
	}
	<-ctx.Done()
	return nil
}

// work handles one due node or pod of the queue. A node is a name without a namespace.
func (k *Kubelets) work(ctx context.Context) {
	for {
		name, stop := k.queue.Get()
		if stop {
			return
		}
		again, err := time.Duration(0), error(nil)
		if name.Namespace == "" {
			again, err = k.node(ctx, name.Name)
		} else {
			again, err = k.pod(ctx, name)
		}
		switch {
		case ctx.Err() != nil:
		case apierrors.IsNotFound(err) || err == nil:
			k.queue.Forget(name)
			if again > 0 {
				k.queue.AddAfter(name, again)
			}
		default:
			if !apierrors.IsConflict(err) {
				slog.Warn("kubelet", "object", name.String(), "error", err)
			}
			k.queue.AddRateLimited(name)
		}
		k.queue.Done(name)
	}
}

// node boots a machine, and renews its Lease once it is ready.
func (k *Kubelets) node(ctx context.Context, name string) (again time.Duration, err error) {
	node, err := k.nodes.Get(name)
	if err != nil || node.Annotations[kwok.TerminatedAnnotation] != "" {
		return 0, err
	}
	if left := k.boot - time.Since(node.CreationTimestamp.Time); left > 0 {
		return left, nil
	}
	if !ready(node) {
		if err := k.renew(ctx, node); err != nil {
			return 0, err
		}
		after := node.DeepCopy()
		now := metav1.Now()
		after.Status.Conditions = nil
		for kind, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{corev1.NodeReady: corev1.ConditionTrue,
			corev1.NodeMemoryPressure: corev1.ConditionFalse, corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse} {
			after.Status.Conditions = append(after.Status.Conditions, corev1.NodeCondition{Type: kind, Status: status, Reason: "Simulated", LastHeartbeatTime: now, LastTransitionTime: now})
		}
		after.Status.NodeInfo.KubeletVersion = "simulated"
		_, err := k.api.CoreV1().Nodes().UpdateStatus(ctx, after, metav1.UpdateOptions{})
		return renewEvery, err
	}
	return renewEvery, k.renew(ctx, node)
}

func ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// renew renews the Lease of a node, unless it was renewed a short time ago.
func (k *Kubelets) renew(ctx context.Context, node *corev1.Node) error {
	leases := k.api.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now, seconds := metav1.NowMicro(), int32(40)
	lease, err := leases.Get(ctx, node.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node.Name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: &now}}
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		return err
	}
	if err != nil || now.Sub(lease.Spec.RenewTime.Time) < renewEvery/2 {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

// pod runs a pod, or ends it.
func (k *Kubelets) pod(ctx context.Context, name cache.ObjectName) (again time.Duration, err error) {
	pod, err := k.pods.Pods(name.Namespace).Get(name.Name)
	if err != nil || pod.Spec.NodeName == "" {
		return 0, err
	}
	node, err := k.nodes.Get(pod.Spec.NodeName)
	switch {
	case apierrors.IsNotFound(err) || err == nil && !ready(node): // it boots, or the cache does not show it yet
		return 300 * time.Millisecond, nil
	case err != nil || node.Annotations[kwok.TerminatedAnnotation] != "":
		return 0, err
	}
	if pod.DeletionTimestamp != nil {
		now := int64(0)
		return 0, k.api.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	}
	if pod.Status.Phase != corev1.PodPending {
		return 0, nil
	}
	after := pod.DeepCopy()
	now := metav1.Now()
	after.Status.Phase, after.Status.StartTime = corev1.PodRunning, &now
	after.Status.Conditions = nil
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		after.Status.Conditions = append(after.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		yes := true
		after.Status.ContainerStatuses = append(after.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, Started: &yes,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}})
	}
	after.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", pod.UID[0], pod.UID[1], pod.UID[2])
	after.Status.PodIPs = []corev1.PodIP{{IP: after.Status.PodIP}}
	_, err = k.api.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, after, metav1.UpdateOptions{})
	return 0, err
}
