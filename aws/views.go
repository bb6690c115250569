package aws

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// NodeClass is an EC2NodeClass resolved at one moment.
type NodeClass struct {
	// Status has the results of the selectors, and conditions with their reasons. The caller stores
	// it in the class.
	Status awsv1.EC2NodeClassStatus
	// Images are the selected images, each with its instance types. Empty if the images cannot be
	// looked up now; the last known ones are in Status.
	Images amiselect.Selection
	// Left is the number of further instances that each reservation in Status can take, by
	// reservation id: EC2's last answer minus the launches since. A reservation without an answer
	// is missing.
	Left map[string]int
}

// NodeClass resolves the class of this name now. The error is KindNotFound if there is no such
// class. A class that is not ready is no error here.
func (p *Provider) NodeClass(ctx context.Context, name string) (NodeClass, error) {
	r, err := p.resolve(ctx, "NodeClass", reference(name))
	if err != nil {
		return NodeClass{}, err
	}
	out := NodeClass{Status: *r.Class.Status.DeepCopy(), Images: r.Selection, Left: map[string]int{}}
	stock := p.sources.Stock()
	for _, c := range out.Status.CapacityReservations {
		out.Left[c.ID] = stock.Left(c.ID)
	}
	return out, nil
}

// Status is the state of a Provider's answers from AWS at one moment.
type Status struct {
	// Prices are the sources of prices: the price of an offering comes from the first that has it.
	// The prices are in the offerings that InstanceTypes returns.
	Prices []PriceSource
	// Lookups are the questions that were asked of AWS, sorted by name.
	Lookups []Lookup
	// Learned is the memory sizes that ObserveNode has recorded, as JSON to be stored and passed to
	// a new Provider: see Options.Learned.
	Learned []byte
}

// PriceSource is the state of one source of prices.
type PriceSource struct {
	// Name is the kind of source: the price list, the spot price history, the file, or the built-in
	// prices.
	Name string
	// Prices is the number of prices that are known from it, and Stale how many of
	// them are out of date.
	Prices, Stale int
	// At is when it last gave prices; zero if it never did.
	At time.Time
	// Failures counts the failures since At, and Err is the last one.
	Failures int
	Err      error
}

// Lookup is the state of one question to AWS, such as which subnets terms select.
type Lookup struct {
	// Name describes the question.
	Name string
	// At is when there was an answer last; zero if there never was.
	At time.Time
	// Failures counts the failures since At, and Err is the last one. Meanwhile the last answer is
	// used.
	Failures int
	Err      error
	// Next is the earliest time of the next attempt. The question is asked again only when a method
	// needs the answer.
	Next time.Time
}

// Status returns the present state of prices and look-ups. If prices were never asked for, it
// asks for them; the error is that of ctx if it is done first.
func (p *Provider) Status(ctx context.Context) (Status, error) {
	prices, err := p.sources.Prices(ctx)
	if err != nil {
		return Status{}, api.Wrap("Status", p.opts.Region, err)
	}
	var out Status
	for _, s := range prices.Status(p.now()) {
		out.Prices = append(out.Prices, PriceSource{
			Name: string(s.Source), Prices: s.Prices, Stale: s.Stale, At: s.Success, Failures: s.Failures, Err: s.Err,
		})
	}
	for _, h := range p.sources.Health() {
		out.Lookups = append(out.Lookups, Lookup(h))
	}
	out.Learned, err = p.offerings.Learned().MarshalJSON()
	return out, err
}

// ObserveNode records how much memory a node reports, which no API says in advance. Call it for
// each node of the cluster when the node has registered. instanceType and imageID are those of its
// NodeClaim. The amount is used for nodes of the same type and image, for sixty days. A nil node is
// ignored. The error is KindDenied for an empty type or image, and for an amount that the type
// cannot have.
func (p *Provider) ObserveNode(ctx context.Context, instanceType, imageID string, node *corev1.Node) error {
	if node == nil {
		return nil
	}
	memory := node.Status.Capacity[corev1.ResourceMemory]
	verdict, err := p.offerings.Observe(ctx, instancetype.Observation{
		Nodes:  instancetype.Nodes{InstanceType: instanceType, Image: imageID},
		Memory: memory.Value(), At: p.now(),
	})
	if err != nil {
		return api.Wrap("ObserveNode", node.Name, err)
	}
	if verdict == instancetype.VerdictNameless || verdict == instancetype.VerdictImplausible {
		return &cloudprovider.Error{Op: "ObserveNode", Kind: cloudprovider.KindDenied, Object: node.Name, Reason: string(verdict),
			Err: fmt.Errorf("instance type %q, image %q, memory %s: name type and image, and pass a node that has registered", instanceType, imageID, memory.String())}
	}
	return nil
}

// Retryer returns the retryer to give to the clients of AWS, as config.WithRetryer(aws.Retryer): a
// Provider itself does not repeat calls. The retryer waits longer with each attempt, up to twenty
// seconds. The waits are random, so that calls which were throttled together are not repeated
// together. It continues long enough for a minute of throttling to pass.
func Retryer() sdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 12
		o.MaxBackoff = 20 * time.Second
		// The SDK's default token bucket limits retries when a service is failing. Here throttling
		// answers set the pace instead.
		o.RateLimiter = unlimited{}
	})
}

// unlimited never refuses an attempt.
type unlimited struct{}

// GetToken lets the attempt be made.
func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

// AddTokens does nothing.
func (unlimited) AddTokens(uint) error { return nil }
