package nodeclass

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	awspricing "github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/pricing"
)

// The largest page sizes of the APIs, and the format version of a product.
const (
	productsPerPage = 100
	spotPerPage     = 1000
	productFormat   = "aws_v1"
)

// Prices returns the known prices. The price list, the history of spot prices and the price file
// are read in the background when they are due; the caller waits, up to two seconds, only for the
// file. If a source fails, its last prices stay and go out of date, and if it never had any, the
// built-in prices are used; Prices.Status has the state of each source. So the only error is that
// of ctx.
func (s *Sources) Prices(ctx context.Context) (*pricing.Prices, error) {
	_, _, _ = s.spot.Get(ctx, s.readSpot) // failures are noted in the prices
	if s.clients.Pricing != nil && pricing.ProductQueries(s.opts.Region) != nil {
		_, _, _ = s.onDemand.Get(ctx, s.readProducts)
	}
	if s.opts.PriceFile != nil {
		_, _, _ = s.file.Get(ctx, s.readFile)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prices, nil
}

// learn replaces the prices by the result of change.
func (s *Sources) learn(change func(*pricing.Prices) *pricing.Prices) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prices = change(s.prices)
}

// failed notes that a source of prices could not be read, unless Close is the reason.
func (s *Sources) failed(ctx context.Context, source pricing.Source, err error) error {
	if !errors.Is(ctx.Err(), context.Canceled) {
		s.learn(func(p *pricing.Prices) *pricing.Prices { return p.WithFailure(source, err) })
	}
	return err
}

func (s *Sources) readProducts(ctx context.Context) (struct{}, error) {
	at := s.opts.Now()
	var list []string
	for _, q := range pricing.ProductQueries(s.opts.Region) {
		part, err := s.getProducts(ctx, q)
		if err != nil {
			return struct{}{}, s.failed(ctx, pricing.SourceOnDemand, api.Wrap("GetProducts", s.opts.Region, err))
		}
		list = append(list, part...)
	}
	return struct{}{}, s.merge(func(p *pricing.Prices) (*pricing.Prices, error) { return p.WithProducts(at, list) })
}

// merge adds an answer to the prices. For an answer without a price the result of add has the
// failure noted.
func (s *Sources) merge(add func(*pricing.Prices) (*pricing.Prices, error)) (err error) {
	s.learn(func(p *pricing.Prices) *pricing.Prices {
		var next *pricing.Prices
		next, err = add(p)
		return next
	})
	return err
}

func (s *Sources) getProducts(ctx context.Context, q pricing.Query) (out []string, err error) {
	service, format := pricing.ServiceCode, productFormat
	input := &awspricing.GetProductsInput{ServiceCode: &service, FormatVersion: &format}
	for _, f := range q.Filters {
		input.Filters = append(input.Filters, pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: &f.Field, Value: &f.Value})
	}
	pages := awspricing.NewGetProductsPaginator(s.clients.Pricing, input, func(o *awspricing.GetProductsPaginatorOptions) { o.Limit = productsPerPage })
	// The price list is not served in every region.
	at := func(o *awspricing.Options) { o.Region = q.Endpoint }
	err = api.Pages(ctx, pages, func(page *awspricing.GetProductsOutput) { out = append(out, page.PriceList...) }, at)
	return out, err
}

func (s *Sources) readSpot(ctx context.Context) (struct{}, error) {
	at := s.opts.Now()
	history, err := s.spotHistory(ctx, at)
	if err != nil {
		return struct{}{}, s.failed(ctx, pricing.SourceSpot, api.Wrap("DescribeSpotPriceHistory", s.opts.Region, err))
	}
	return struct{}{}, s.merge(func(p *pricing.Prices) (*pricing.Prices, error) { return p.WithSpot(at, history) })
}

func (s *Sources) spotHistory(ctx context.Context, at time.Time) (out []ec2types.SpotPrice, err error) {
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(s.clients.EC2,
		&ec2.DescribeSpotPriceHistoryInput{StartTime: &at, ProductDescriptions: pricing.SpotProducts()},
		func(o *ec2.DescribeSpotPriceHistoryPaginatorOptions) { o.Limit = spotPerPage })
	err = api.Pages(ctx, pages, func(page *ec2.DescribeSpotPriceHistoryOutput) { out = append(out, page.SpotPriceHistory...) })
	return out, err
}

// readFile reads the price file and returns its text, so that an unchanged file does not rebuild
// the prices.
func (s *Sources) readFile(ctx context.Context) (string, error) {
	data, err := s.opts.PriceFile(ctx)
	if err != nil {
		return "", s.failed(ctx, pricing.SourceFile, err)
	}
	content := string(data)
	if content == s.file.Answer() && s.file.Health().Failures == 0 {
		return content, nil
	}
	var file *pricing.File
	if content != "" {
		if file, err = pricing.ParseFile(data); err != nil {
			return "", s.failed(ctx, pricing.SourceFile, err)
		}
	}
	var fault error
	s.learn(func(p *pricing.Prices) *pricing.Prices {
		next, err := p.WithFile(file)
		if err != nil {
			fault = err
			return p
		}
		return next
	})
	if fault != nil {
		return "", s.failed(ctx, pricing.SourceFile, fault)
	}
	return content, nil
}
