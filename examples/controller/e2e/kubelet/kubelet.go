// Package kubelet simulates the kubelets of all nodes of a test cluster. It changes objects as
// kubelets do, but runs no containers: a Node becomes ready when its machine has booted, renews its
// Lease, runs the pods that are bound to it and ends those that are deleted. The kubelet of a
// machine that was terminated does nothing any more.
package kubelet

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/dovetail-sdk/dovetail/fake/kwok"
)

const (
	renewEvery = 10 * time.Second // time between renewals of a Lease, as in kubelets
	retryIn    = 50 * time.Millisecond
)

// kubelets simulates the kubelets of all nodes.
type kubelets struct {
	client.Client
	boot time.Duration
}

// Run simulates kubelets until ctx is done. A machine is ready once the time boot has passed since
// the creation of its Node.
func Run(ctx context.Context, cluster *rest.Config, boot time.Duration) error {
	options := ctrl.Options{Metrics: server.Options{BindAddress: "0"}}
	options.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&coordinationv1.Lease{}}}
	mgr, err := ctrl.NewManager(cluster, options)
	if err != nil {
		return err
	}
	k := &kubelets{mgr.GetClient(), boot}
	for kind, do := range map[client.Object]func(context.Context, client.ObjectKey) (time.Duration, error){&corev1.Node{}: k.node, &corev1.Pod{}: k.pod} {
		several := true // test clusters in one process
		err := ctrl.NewControllerManagedBy(mgr).For(kind).WithOptions(controller.Options{SkipNameValidation: &several, MaxConcurrentReconciles: 8,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryIn, time.Second),
		}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			again, err := do(ctx, r.NamespacedName)
			if apierrors.IsConflict(err) {
				again, err = retryIn, nil
			}
			return reconcile.Result{RequeueAfter: again}, client.IgnoreNotFound(err)
		}))
		if err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

// node boots a machine, and renews its Lease once it is ready.
func (k *kubelets) node(ctx context.Context, key client.ObjectKey) (again time.Duration, err error) {
	node := &corev1.Node{}
	if err := k.Get(ctx, key, node); err != nil || node.Annotations[kwok.TerminatedAnnotation] != "" {
		return 0, err
	}
	if left := k.boot - time.Since(node.CreationTimestamp.Time); left > 0 {
		return left, nil
	}
	if !ready(node) {
		if err := k.renew(ctx, node); err != nil {
			return 0, err
		}
		now := metav1.Now()
		node.Status.Conditions = nil
		for kind, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{corev1.NodeReady: corev1.ConditionTrue,
			corev1.NodeMemoryPressure: corev1.ConditionFalse, corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse} {
			node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: kind, Status: status, Reason: "Simulated", LastHeartbeatTime: now, LastTransitionTime: now})
		}
		node.Status.NodeInfo.KubeletVersion = "simulated"
		return renewEvery, k.Status().Update(ctx, node)
	}
	return renewEvery, k.renew(ctx, node)
}

func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// renew renews the Lease of a node, unless it was renewed a short time ago.
func (k *kubelets) renew(ctx context.Context, node *corev1.Node) error {
	now, seconds := metav1.NowMicro(), int32(40)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, k, lease, func() error {
		if lease.Spec.RenewTime == nil || now.Sub(lease.Spec.RenewTime.Time) >= renewEvery/2 {
			lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
			lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: &now}
		}
		return nil
	})
	return err
}

// pod runs a pod, or ends it.
func (k *kubelets) pod(ctx context.Context, key client.ObjectKey) (again time.Duration, err error) {
	pod, node := &corev1.Pod{}, &corev1.Node{}
	if err := k.Get(ctx, key, pod); err != nil || pod.Spec.NodeName == "" {
		return 0, err
	}
	switch err := k.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); {
	case apierrors.IsNotFound(err) || err == nil && !ready(node): // it boots, or the cache does not show it yet
		return 300 * time.Millisecond, nil
	case err != nil || node.Annotations[kwok.TerminatedAnnotation] != "":
		return 0, err
	}
	if pod.DeletionTimestamp != nil {
		return 0, k.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	}
	if pod.Status.Phase != corev1.PodPending {
		return 0, nil
	}
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.Conditions = nil
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		yes := true
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, Started: &yes,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}})
	}
	pod.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", pod.UID[0], pod.UID[1], pod.UID[2])
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	return 0, k.Status().Update(ctx, pod)
}
