package aws_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// open returns a provider for a cloud in memory. With real credentials the
// configuration is that of config.LoadDefaultConfig, with aws.Retryer.
func open() (*aws.Provider, func()) {
	cloud, err := awstest.Start(nil)
	if err != nil {
		panic(err)
	}
	p, err := aws.New(aws.Connect(cloud.Config()), &aws.Options{
		Region:  "us-east-1",
		Cluster: aws.Cluster{Name: "demo"},
		Now:     cloud.Now,
		NodeClasses: func(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
			if name != "default" {
				return nil, cloudprovider.ErrNotFound
			}
			return nodeClass(), nil // from an informer, usually
		},
	})
	if err != nil {
		panic(err)
	}
	return p, cloud.Close
}

// launchable returns a request for one m5.large on demand.
func launchable(p *aws.Provider) cloudprovider.LaunchRequest {
	types, err := p.InstanceTypes(context.Background(), nodePool())
	if err != nil {
		panic(err)
	}
	req := cloudprovider.LaunchRequest{
		Token: "7c6a1e5e-3b7e-4b51-9d36-0d2b6a3c9f10", Name: "general-x7k2p", NodePool: "general",
		NodeClassRef: *nodePool().Spec.Template.Spec.NodeClassRef,
	}
	for _, t := range types {
		for i := range t.Offerings {
			if o := &t.Offerings[i]; t.Name == "m5.large" && o.CapacityType == karpv1.CapacityTypeOnDemand && o.Launchable() {
				req.Options = append(req.Options, cloudprovider.LaunchOption{InstanceType: t, Offering: o})
			}
		}
	}
	return req
}

func Example() {
	p, done := open()
	defer done()
	ctx := context.Background()

	req := launchable(p)
	i, err := p.Create(ctx, req)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s %s %.4f\n", i.Name, i.Type, i.CapacityType, i.Price)

	again, err := p.Create(ctx, req) // after a crash, say
	fmt.Println(again.ID == i.ID, err)

	fmt.Println(p.Delete(ctx, i.ID))
	// Output:
	// general-x7k2p m5.large on-demand 0.0982
	// true <nil>
	// <nil>
}

func ExampleNew() {
	_, err := aws.New(aws.Clients{}, &aws.Options{Region: "us-east-1"})
	fmt.Println(err)
	// Output:
	// aws: options: cluster.name: empty; name the EKS cluster
	// aws: options: nodeClasses: nil; pass the function that returns an EC2NodeClass by name
	// aws: clients: EC2: nil; pass a client, such as *ec2.Client
}

// Before the first plan of a program, and at its end.
func ExampleProvider_Refresh() {
	p, done := open()
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println("today's prices:", p.Refresh(ctx))
	types, err := p.InstanceTypes(ctx, nodePool())
	fmt.Println(len(types) > 0, err)
	fmt.Println("closed:", p.Close(ctx))
	// Output:
	// today's prices: <nil>
	// true <nil>
	// closed: <nil>
}

func ExampleRetryer() {
	r := aws.Retryer()
	fmt.Println(r.MaxAttempts(), "attempts")
	delay, err := r.RetryDelay(10, errors.New("RequestLimitExceeded"))
	fmt.Println(delay <= 20*time.Second, err)
	// Output:
	// 12 attempts
	// true <nil>
}

func ExampleProvider_NodeClass() {
	p, done := open()
	defer done()
	class, err := p.NodeClass(context.Background(), "default")
	if err != nil {
		panic(err)
	}
	for _, s := range class.Status.Subnets {
		fmt.Println(s.Zone, s.ZoneID)
	}
	for _, c := range class.Status.Conditions {
		if c.Type == awsv1.ConditionTypeReady {
			fmt.Println(c.Type, c.Status)
		}
	}
	// Unordered output:
	// us-east-1a use1-az1
	// us-east-1b use1-az2
	// us-east-1c use1-az3
	// Ready True
}

func ExampleProvider_IsDrifted() {
	p, done := open()
	defer done()
	ctx := context.Background()
	i, err := p.Create(ctx, launchable(p))
	if err != nil {
		panic(err)
	}
	claim := &karpv1.NodeClaim{}
	claim.Spec.NodeClassRef = nodePool().Spec.Template.Spec.NodeClassRef
	claim.Status.ProviderID, claim.Status.ImageID = i.ID, "ami-0123456789abcdef0" // of last year
	drift, err := cloudprovider.IsDrifted(ctx, p, claim)
	fmt.Println(drift.Reason, err)
	// Output: AMIDrift <nil>
}

func ExampleProvider_ClaimAnnotations() {
	p, done := open()
	defer done()
	annotations, err := p.ClaimAnnotations(context.Background(), "default")
	fmt.Println(len(annotations), annotations[awsv1.EC2NodeClassHashVersionAnnotationKey], err)
	// Output: 3 v6 <nil>
}

func ExampleProvider_Status() {
	p, done := open()
	defer done()
	if _, err := p.Create(context.Background(), launchable(p)); err != nil {
		panic(err)
	}
	now, err := p.Status(context.Background())
	if err != nil {
		panic(err)
	}
	for _, s := range now.Prices {
		fmt.Println(s.Name, s.Failures)
	}
	fmt.Println(len(now.Lookups) > 10)
	// Output:
	// spot price history 0
	// price file 0
	// price list 0
	// assumed 0
	// built in 0
	// true
}

// What a controller calls beside the methods of cloudprovider.CloudProvider, in the life
// of a machine.
func Example_controller() {
	p, done := open()
	defer done()
	ctx := context.Background()

	i, err := p.Create(ctx, launchable(p))
	if err != nil {
		panic(err)
	}
	claim := &karpv1.NodeClaim{}
	claim.Spec.NodeClassRef = nodePool().Spec.Template.Spec.NodeClassRef
	claim.Status.ProviderID, claim.Status.ImageID = i.ID, i.ImageID
	claim.Annotations, err = p.ClaimAnnotations(ctx, "default") // once it is launched
	fmt.Println("launched with hash version", claim.Annotations[awsv1.EC2NodeClassHashVersionAnnotationKey], err)

	node := &corev1.Node{} // once it has joined
	node.Name, node.Status.Capacity = "ip-10-0-0-1", corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7800Mi")}
	claim.Status.NodeName = node.Name
	tagged, err := p.TagInstance(ctx, claim)
	fmt.Println("tagged:", tagged[awsv1.InstanceTaggedAnnotationKey], err)
	fmt.Println("observed:", p.ObserveNode(ctx, i.Type, i.ImageID, node))

	templates, err := p.CollectLaunchTemplates(ctx) // every minute or so
	fmt.Println("templates collected:", len(templates), err)
	profiles, err := p.CollectInstanceProfiles(ctx, []*awsv1.EC2NodeClass{nodeClass()}, []*karpv1.NodeClaim{claim}) // every half hour
	fmt.Println("profiles collected:", len(profiles), err)
	migration, err := p.MigrateClaims(ctx, "default", []*karpv1.NodeClaim{claim}) // at every start
	fmt.Println("claims to migrate:", len(migration.Claims), err)

	fmt.Println("released:", p.ReleaseNodeClass(ctx, nodeClass())) // with the class, after the last claim
	// Output:
	// launched with hash version v6 <nil>
	// tagged: true <nil>
	// observed: <nil>
	// templates collected: 0 <nil>
	// profiles collected: 0 <nil>
	// claims to migrate: 0 <nil>
	// released: <nil>
}
