package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/day"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
	"github.com/dovetail-sdk/dovetail/examples/newprovider/internal/puddle"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// pond is the cloud with the events of a day.
type pond struct{ *puddlecloud.Cloud }

func (p pond) SellOut(key cloudprovider.OfferingKey) {
	p.SetStock(true, puddlecloud.Choice{Shape: key.InstanceType, Zone: key.Zone, Market: key.CapacityType})
}

func (p pond) Interrupt(i *cloudprovider.Instance) error {
	p.Announce(path.Base(i.ID), "reclaim", 2*time.Minute)
	return nil
}

func (p pond) ChangeClass(name string) {
	p.SetClass(puddlecloud.Class{Name: name, Image: "image-8"})
}

// newDay returns a day with the cloud, for a provider that calls the API at a URL.
func newDay(cloud *puddlecloud.Cloud, url string, out io.Writer) (*day.Day, error) {
	refused, err := availability.New(cloud.Now, nil)
	if err != nil {
		return nil, err
	}
	return day.New(puddle.New(url, "demo", cloud.Now, refused), pond{cloud}, refused.Marks, out), nil
}

// spend plans the nodes and plays the day.
func spend(ctx context.Context, d *day.Day) error {
	plan, err := planFor(ctx, d)
	if err != nil {
		return err
	}
	return d.Spend(ctx, plan)
}

// demoPods returns five pods that need CPU and one that needs a GPU.
func demoPods() []*corev1.Pod {
	var pods []*corev1.Pod
	add := func(name, requests string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: resources.MustParse(requests).ResourceList(),
		}}}
		pods = append(pods, pod)
	}
	for i := range 5 {
		add(fmt.Sprintf("web-%d", i), "cpu=1500m, memory=5Gi")
	}
	add("train", "cpu=7, memory=40Gi, nvidia.com/gpu=1")
	return pods
}

// planFor plans the pods, with a NodePool that allows every shape of the cloud.
func planFor(ctx context.Context, d *day.Day) (*provisioning.Plan, error) {
	pool, class := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}, puddle.NodeClass()
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: class.Group, Kind: class.Kind, Name: "default"}
	sold, err := d.Provider.InstanceTypes(ctx, pool)
	if err != nil {
		return nil, err
	}
	offerings := 0
	for _, t := range sold {
		offerings += len(t.Offerings)
	}
	d.Note("%s sells %d instance types by %d offerings", cloudprovider.Name(d.Provider), len(sold), offerings)
	in := provisioning.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{pool.Name: sold},
		Pods:          demoPods(),
		Vocabulary:    cloudprovider.Vocabulary(d.Provider),
	}
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return nil, err
	}
	d.Note("plan: %s for %s, %.3f USD/h, at most %.1f%% above the optimum", command.Count(len(plan.Create), "new node"),
		command.Count(len(in.Pods)-len(plan.Unplaced), "pod"), plan.Cost, 100*plan.Gap())
	return plan, nil
}
