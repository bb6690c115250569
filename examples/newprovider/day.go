package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
	"github.com/dovetail-sdk/dovetail/examples/newprovider/internal/puddle"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// day is the events from the first plan to the last deletion.
type day struct {
	cloud    *puddlecloud.Cloud
	provider cloudprovider.CloudProvider
	refused  *availability.Cache
	out      io.Writer
	started  time.Time
	types    []*cloudprovider.InstanceType
	claims   int // number of NodeClaims made so far
	running  []*cloudprovider.Instance
}

// say prints an event with the time of the cloud's clock.
func (d *day) say(format string, args ...any) {
	for _, line := range command.Timed(d.cloud.Now().Sub(d.started), 8, fmt.Sprintf(format, args...)) {
		fmt.Fprintln(d.out, line)
	}
}

// newDay returns a day with a provider for the cloud at a URL.
func newDay(cloud *puddlecloud.Cloud, url string, out io.Writer) (*day, error) {
	refused, err := availability.New(cloud.Now, nil)
	return &day{cloud: cloud, provider: puddle.New(url, "demo", cloud.Now, refused), refused: refused, out: out, started: cloud.Now()}, err
}

// spend plays the day.
func (d *day) spend(ctx context.Context) error {
	pool := demoPool()
	plan, err := d.plan(ctx, pool)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *provisioning.Plan) error{d.launch, d.shortage, d.list, d.trouble, d.clear} {
		if err := step(ctx, plan); err != nil {
			return err
		}
	}
	return nil
}

// demoPool returns a NodePool that allows every shape of the cloud.
func demoPool() *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	class := puddle.NodeClass()
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: class.Group, Kind: class.Kind, Name: "default"}
	return pool
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

// plan asks the provider for its instance types, and the engine for a plan.
func (d *day) plan(ctx context.Context, pool *v1.NodePool) (*provisioning.Plan, error) {
	sold, err := d.provider.InstanceTypes(ctx, pool)
	if err != nil {
		return nil, err
	}
	d.types = sold
	offerings := 0
	for _, t := range sold {
		offerings += len(t.Offerings)
	}
	d.say("%s sells %d instance types by %d offerings", cloudprovider.Name(d.provider), len(sold), offerings)
	in := provisioning.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{pool.Name: sold},
		Pods:          demoPods(),
		Vocabulary:    cloudprovider.Vocabulary(d.provider),
	}
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return nil, err
	}
	d.say("plan: %s for %s, %.3f USD/h, at most %.1f%% above the optimum", command.Count(len(plan.Create), "new node"),
		command.Count(len(in.Pods)-len(plan.Unplaced), "pod"), plan.Cost, 100*plan.Gap())
	return plan, nil
}

// launch carries out the plan. The cheapest offering of the first node has sold out meanwhile,
// which the catalog does not show.
func (d *day) launch(ctx context.Context, plan *provisioning.Plan) error {
	for i := range plan.Create {
		n := &plan.Create[i]
		first := n.Options[0]
		if i == 0 {
			d.cloud.SellOut(puddlecloud.Choice{Shape: first.InstanceType.Name, Zone: first.Offering.Zone, Market: first.Offering.CapacityType})
			d.say("%s is sold out meanwhile", first.Key())
		}
		req, err := d.request(n)
		if err != nil {
			return err
		}
		instance, err := d.provider.Create(ctx, req)
		if err != nil {
			return err
		}
		d.say("launched %s for %s: %s, %s, %.3f USD/h, the best that is left of %d options",
			instance.Name, command.Count(len(n.Pods), "pod"), instance.ID, instance.OfferingKey(), instance.Price, len(n.Options))
		d.running = append(d.running, instance)
		if i > 0 {
			continue
		}
		again, err := d.provider.Create(ctx, req)
		if err != nil {
			return err
		}
		d.say("asked again with %s: %s, the same", req.Token, again.ID)
	}
	return nil
}

// request returns the launch request for a node of the plan. Its token is the UID of the NodeClaim,
// which the API server assigns in a cluster. Names in a plan cannot be tokens, because the next
// plan uses them again: a new NodeClaim would get the machine of an old one.
func (d *day) request(n *provisioning.NewNode) (cloudprovider.LaunchRequest, error) {
	d.claims++
	claim := n.NodeClaim()
	claim.Name, claim.UID = n.Name, types.UID(fmt.Sprintf("uid-%04d", d.claims))
	return nodeclaim.Request(claim, d.types, cloudprovider.Vocabulary(d.provider))
}

// shortage requests only an offering that is sold out.
func (d *day) shortage(ctx context.Context, plan *provisioning.Plan) error {
	req, err := d.request(&plan.Create[0])
	if err != nil {
		return err
	}
	req.Options = req.Options[:1]
	_, err = d.provider.Create(ctx, req)
	if !errors.Is(err, cloudprovider.ErrInsufficientCapacity) {
		return fmt.Errorf("want a shortage, got %v", err)
	}
	d.say("%v", err)
	for _, mark := range d.refused.Marks() {
		d.say("the catalog has it as not available for a while: %s", mark)
	}
	return nil
}

// list prints the machines of this cluster.
func (d *day) list(ctx context.Context, _ *provisioning.Plan) error {
	list, err := d.provider.List(ctx)
	if err != nil {
		return err
	}
	d.say("the list has %s", command.Count(len(list), "instance"))
	for _, instance := range list {
		d.say("- %s %s %s", instance.ID, instance.Name, state(instance))
	}
	return nil
}

func state(i *cloudprovider.Instance) string {
	if i.Deleting {
		return "going down"
	}
	return "running " + i.ImageID
}

// trouble makes the cloud announce maintenance of a machine and publish a new image.
func (d *day) trouble(ctx context.Context, _ *provisioning.Plan) error {
	d.cloud.Advance(10 * time.Minute)
	first := d.running[0]
	d.cloud.Announce(first.ID[strings.LastIndexByte(first.ID, '/')+1:], "maintenance", time.Hour)
	notices, err := cloudprovider.Interruptions(ctx, d.provider)
	if err != nil {
		return err
	}
	for _, n := range notices {
		d.say("notice: %s of %s in %v", n.Kind, n.InstanceID, n.Deadline.Sub(n.At))
	}
	if err := cloudprovider.Acknowledge(ctx, d.provider, notices...); err != nil {
		return err
	}
	d.cloud.SetClass(puddlecloud.Class{Name: "default", Image: "image-8"})
	claim := &v1.NodeClaim{}
	claim.Status.ProviderID = first.ID
	drift, err := cloudprovider.IsDrifted(ctx, d.provider, claim)
	if err != nil {
		return err
	}
	d.say("%s of %s: %s", drift.Reason, first.ID, drift.Detail)
	return nil
}

// clear deletes everything, and waits until it is gone.
func (d *day) clear(ctx context.Context, plan *provisioning.Plan) error {
	for _, instance := range d.running {
		if err := d.provider.Delete(ctx, instance.ID); err != nil {
			return err
		}
		d.say("delete %s: accepted", instance.ID)
	}
	if err := d.list(ctx, plan); err != nil {
		return err
	}
	d.cloud.Advance(time.Minute)
	for _, instance := range d.running {
		err := d.provider.Delete(ctx, instance.ID)
		if !errors.Is(err, cloudprovider.ErrNotFound) {
			return fmt.Errorf("want it gone, got %v", err)
		}
		d.say("%v", err)
	}
	return d.list(ctx, plan)
}
