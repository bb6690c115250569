package simcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// Prices returns the prices of instance types. Spot capacity is billed by the present ones, those of the
// types that the cloud lists now.
func Prices(types []*cloudprovider.InstanceType) map[cloudprovider.OfferingKey]float64 {
	prices := map[cloudprovider.OfferingKey]float64{}
	for _, t := range types {
		for i := range t.Offerings {
			prices[t.Offerings[i].Key(t.Name)] = t.Offerings[i].Price
		}
	}
	return prices
}

// Emptied returns the input of a plan that places the pods of workloads on new nodes alone: all that
// are not being deleted, pending or not. Each pool has all instance types of the cloud.
func (c *Cluster) Emptied(ctx context.Context, pools []*v1.NodePool) (provisioning.Input, error) {
	in := provisioning.Input{NodePools: pools, InstanceTypes: map[string][]*cloudprovider.InstanceType{}, Vocabulary: c.Cloud.Vocabulary()}
	types, err := c.Cloud.InstanceTypes(ctx, nil)
	if err != nil {
		return in, err
	}
	for _, pool := range pools {
		in.InstanceTypes[pool.Name] = types
	}
	daemon, err := provisioning.Admitted(&corev1.Pod{ObjectMeta: c.Daemon.Spec.Template.ObjectMeta, Spec: c.Daemon.Spec.Template.Spec})
	if err != nil {
		return in, fmt.Errorf("the DaemonSet: %w", err)
	}
	daemon.Namespace, daemon.Name = c.Daemon.Namespace, c.Daemon.Name
	in.DaemonSetPods = []*corev1.Pod{daemon}
	for _, p := range c.Pods.All() {
		if p.Work == nil || p.DeletionTimestamp != nil {
			continue
		}
		pod := nomination.Plain(p.Pod).DeepCopy()
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		in.Pods = append(in.Pods, pod)
	}
	return in, nil
}
