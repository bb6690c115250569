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

// Images returns which images the class of this name selects now, and for which
// instance types each. The Selection is empty if only images of before are known;
// these are in NodeClassStatus.
func (p *Provider) Images(ctx context.Context, nodeClass string) (amiselect.Selection, error) {
	r, err := p.resolve(ctx, "Images", reference(nodeClass))
	if err != nil {
		return amiselect.Selection{}, err
	}
	return r.Selection, nil
}

// Reservation is a capacity reservation that a class selects.
type Reservation struct {
	awsv1.CapacityReservation
	// Left is how many more instances it holds, as far as is known: what EC2 said
	// last, less what was launched since.
	Left int
}

// Reservations returns the capacity reservations that the class of this name
// selects now, sorted by id.
func (p *Provider) Reservations(ctx context.Context, nodeClass string) ([]Reservation, error) {
	r, err := p.resolve(ctx, "Reservations", reference(nodeClass))
	if err != nil {
		return nil, err
	}
	stock := p.sources.Stock()
	out := make([]Reservation, 0, len(r.Class.Status.CapacityReservations))
	for _, c := range r.Class.Status.CapacityReservations {
		out = append(out, Reservation{CapacityReservation: *c.DeepCopy(), Left: stock.Left(c.ID)})
	}
	return out, nil
}

// PriceSource is how one source of prices is.
type PriceSource struct {
	// Name is what it is: the price list, the spot price history, the file, or
	// what is built in.
	Name string
	// Prices is the number of prices that are known from it, and Stale how many of
	// them are out of date.
	Prices, Stale int
	// At is when it last gave prices; zero if it never did.
	At time.Time
	// Failures is how often it failed since, and Err why it did last.
	Failures int
	Err      error
}

// Prices returns how the sources of prices are, in the order in which they are
// asked for the price of an offering. The prices are in the offerings that
// InstanceTypes returns.
func (p *Provider) Prices(ctx context.Context) ([]PriceSource, error) {
	prices, err := p.sources.Prices(ctx)
	if err != nil {
		return nil, api.Wrap("Prices", p.opts.Region, err)
	}
	var out []PriceSource
	for _, s := range prices.Status(p.now()) {
		out = append(out, PriceSource{
			Name: string(s.Source), Prices: s.Prices, Stale: s.Stale, At: s.Success, Failures: s.Failures, Err: s.Err,
		})
	}
	return out, nil
}

// Lookup is how one question to AWS is, such as which subnets terms select.
type Lookup struct {
	// Name is what is asked for.
	Name string
	// At is when there was an answer last; zero if there never was.
	At time.Time
	// Failures is how often asking failed since, and Err why it did last. While it
	// fails the last answer is used.
	Failures int
	Err      error
	// Next is when it will be asked again, if somebody wants to know.
	Next time.Time
}

// Lookups returns how each question is that was asked of AWS, sorted by name.
func (p *Provider) Lookups() []Lookup {
	var out []Lookup
	for _, h := range p.sources.Health() {
		out = append(out, Lookup{Name: h.Name, At: h.At, Failures: h.Failures, Err: h.Err, Next: h.Next})
	}
	return out
}

// ObserveNode learns how much memory nodes report, which no API says beforehand. Call
// it for each node of the cluster's when it has registered. instanceType and imageID
// are those of its NodeClaim. What was learned counts for nodes of the same type and
// image, for sixty days.
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

// Learned returns what ObserveNode has learned, as JSON to be kept over a restart.
func (p *Provider) Learned() ([]byte, error) {
	return p.offerings.Learned().MarshalJSON()
}

// Restore replaces what was learned with what Learned returned before. The error
// lists what cannot be read, and then nothing is changed.
func (p *Provider) Restore(learned []byte) error {
	l, err := instancetype.ParseLearned(learned)
	if err != nil {
		return fmt.Errorf("aws: restore: %w", err)
	}
	p.offerings.Restore(l)
	return nil
}

// Retryer returns the retryer to give to the clients of AWS, as
// config.WithRetryer(aws.Retryer): a Provider repeats nothing by itself. It waits
// longer with each attempt, up to twenty seconds, at random, so that many calls that
// are throttled together do not come back together; and it goes on long enough for a
// minute of throttling to pass.
func Retryer() sdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = 12
		o.MaxBackoff = 20 * time.Second
		// The default bucket is for a fault of the service, when retries make it
		// worse. Throttling tells how fast to go instead.
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
