package fake_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

func ExampleCloud_Nodes() {
	cloud := small(fake.Options{Timing: fake.Timing{Launch: fake.Exactly(30 * time.Second), Initialization: fake.Exactly(30 * time.Second)}})
	if _, err := order(cloud, "web", onDemand); err != nil {
		fmt.Println(err)
	}
	for range 3 {
		fmt.Println(cloud.Now().Format(time.TimeOnly), len(cloud.Nodes()), "nodes")
		for _, node := range cloud.Nodes() {
			fmt.Println(node.Name, node.Labels[corev1.LabelInstanceTypeStable], node.Status.Allocatable.Cpu(), len(node.Spec.Taints), "taints")
		}
		cloud.Advance(30 * time.Second)
	}
	// Output:
	// 00:00:00 0 nodes
	// 00:00:30 1 nodes
	// i-0ba29376927931589 m5.large 1930m 2 taints
	// 00:01:00 1 nodes
	// i-0ba29376927931589 m5.large 1930m 0 taints
}

func ExampleNodeFault() {
	ctx := context.Background()
	cloud := small(fake.Options{Timing: fake.Timing{Reboot: fake.Exactly(time.Minute)}})
	instance, err := order(cloud, "web", onDemand)
	if err != nil {
		fmt.Println(err)
	}
	stuck := fake.NodeFault{Type: "KernelReady", Status: corev1.ConditionFalse, Reason: "SoftLockup", CuredByReboot: true}
	if err := cloud.Do(fake.Action{Target: fake.Target{NodePool: "general"}, Break: stuck}); err != nil {
		fmt.Println(err)
	}
	for _, policy := range cloudprovider.RepairPolicies(cloud) {
		if policy.ConditionType == stuck.Type {
			fmt.Println(policy.Action, "after", policy.TolerationDuration)
		}
	}
	cloud.Advance(10 * time.Minute)
	fmt.Println(cloud.Reboot(ctx, instance.ID, "repair-1"), cloud.Reboot(ctx, instance.ID, "repair-1"))
	for _, event := range cloud.Advance(time.Hour) {
		fmt.Println(event)
	}
	// Output:
	// RebootNode after 10m0s
	// <nil> <nil>
	// +11m0s mended web: KernelReady
	// +11m0s rebooted web
}

func ExampleAction() {
	cloud := small(fake.Options{})
	if _, err := order(cloud, "web", onDemand); err != nil {
		fmt.Println(err)
	}
	silent := fake.NodeFault{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}
	fmt.Println(cloud.Do(fake.Action{Break: silent}), cloud.Nodes()[0].Spec.Taints[0].Key)
	fmt.Println(cloud.Do(fake.Action{Mend: true}), len(cloud.Nodes()[0].Spec.Taints))
	// Output:
	// <nil> node.kubernetes.io/unreachable
	// <nil> 0
}

func ExampleImage() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	instance, err := order(cloud, "web", onDemand)
	fmt.Println(instance.ImageID, err)
	claim := &v1.NodeClaim{Status: v1.NodeClaimStatus{ProviderID: instance.ID}}
	fmt.Println(cloud.Do(fake.Action{Image: fake.Image{ID: "ami-2", Architecture: "x86_64"}}))
	fmt.Println(cloud.IsDrifted(ctx, claim))
	fmt.Println(cloud.Do(fake.Action{Image: fake.Image{ID: "ami-2", Architecture: "x86_64", DeprecationTime: cloud.Now()}}))
	fmt.Println(cloud.IsDrifted(ctx, claim))
	// Output:
	// image-amd64 <nil>
	// <nil>
	// {ImageDrift image is image-amd64, today it would be ami-2} <nil>
	// <nil>
	// { } <nil>
}

func ExampleNodeClass() {
	ctx := context.Background()
	ref := v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	cloud := small(fake.Options{NodeClasses: []fake.NodeClass{{Name: "default", Hash: "1"}}})
	instance, err := order(cloud, "web", onDemand)
	fmt.Println(err, cloud.NodeClassReady(ctx, ref))
	fmt.Println(cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "default", Hash: "2", NotReady: "no subnet matches"}}))
	fmt.Println(cloud.NodeClassReady(ctx, ref))
	fmt.Println(cloud.IsDrifted(ctx, &v1.NodeClaim{Status: v1.NodeClaimStatus{ProviderID: instance.ID}}))
	fmt.Println(cloud.SupportedNodeClasses())
	// Output:
	// <nil> <nil>
	// <nil>
	// NodeClassReady default: not ready: no subnet matches
	// {NodeClassDrift node class default is at "2", the machine was launched at "1"} <nil>
	// [EC2NodeClass.karpenter.k8s.aws]
}

func ExampleOptions_listLag() {
	ctx := context.Background()
	cloud := small(fake.Options{ListLag: 5 * time.Second})
	instance, err := order(cloud, "web", onDemand)
	if err != nil {
		fmt.Println(err)
	}
	list, err := cloud.List(ctx)
	fmt.Println(len(list), err)
	cloud.Advance(5 * time.Second)
	list, err = cloud.List(ctx)
	fmt.Println(len(list), err)
	fmt.Println(cloud.Delete(ctx, instance.ID))
	list, err = cloud.List(ctx)
	fmt.Println(len(list), err)
	// Output:
	// 0 <nil>
	// 1 <nil>
	// <nil>
	// 1 <nil>
}

func ExampleCloud_Events() {
	cloud := small(fake.Options{})
	if _, err := order(cloud, "web", onDemand); err != nil {
		fmt.Println(err)
	}
	for _, event := range cloud.Events() {
		if event.Kind == fake.EventLaunched {
			fmt.Println(event.InstanceID, event.Detail)
		}
	}
	// Output:
	// fake:///a/i-0ba29376927931589 m5.large/a/on-demand at 0.096 USD per hour
}

func ExampleCloud_Log() {
	ctx := context.Background()
	cloud := small(fake.Options{})
	instance, err := order(cloud, "web", onDemand)
	if err != nil {
		fmt.Println(err)
	}
	cloud.Advance(time.Hour)
	fmt.Println(cloud.Delete(ctx, instance.ID))
	fmt.Print(cloud.Log())
	// Output:
	// <nil>
	// +0s launched web: m5.large/a/on-demand at 0.096 USD per hour
	// +0s joined web
	// +0s registered web
	// +0s ready web
	// +1h0m0s deleting web: asked for
	// +1h0m0s gone web
}

func ExampleCloud_Stats() {
	cloud := small(fake.Options{})
	if _, err := order(cloud, "web", onDemand); err != nil {
		fmt.Println(err)
	}
	cloud.Advance(24 * time.Hour)
	fmt.Printf("%+v\n", cloud.Stats())
	// Output:
	// {Launched:1 Terminated:0 Interrupted:0 Hours:24}
}

func ExampleSpan() {
	cloud := small(fake.Options{Seed: 9, Timing: fake.Timing{Launch: fake.Span{Min: 20 * time.Second, Max: time.Minute}, Registration: fake.Exactly(2 * time.Second)}})
	for _, name := range []string{"one", "two"} {
		if _, err := order(cloud, name, onDemand); err != nil {
			fmt.Println(err)
		}
	}
	for _, event := range cloud.Advance(time.Hour) {
		fmt.Println(event)
	}
	// Output:
	// +35.471s joined two
	// +36.668s joined one
	// +37.471s registered two
	// +37.471s ready two
	// +38.668s registered one
	// +38.668s ready one
}
