package source

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/prices"
)

// The page sizes that the APIs allow at the most, and the form of a product.
const (
	productsPerPage = 100
	spotPerPage     = 1000
	productFormat   = "aws_v1"
)

// Prices returns what is known of prices now. It reads what is due of the price
// list, the history of spot prices and the price file, side by side. A source that
// fails leaves what it gave before, which goes out of date with time, and in the
// end what is compiled in; Prices.Status says how each is. So the only error is
// that of ctx.
func (s *Sources) Prices(ctx context.Context) (*prices.Prices, error) {
	var wait sync.WaitGroup
	for _, read := range s.priceReaders() {
		wait.Go(func() { read(ctx) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prices, nil
}

// priceReaders are the sources that are there. What they fail with is noted with
// the prices.
func (s *Sources) priceReaders() []func(context.Context) {
	readers := []func(context.Context){
		func(ctx context.Context) { _, _, _ = s.spot.Get(ctx, s.readSpot) },
	}
	if s.clients.Pricing != nil && prices.ProductQueries(s.opts.Region) != nil {
		readers = append(readers, func(ctx context.Context) { _, _, _ = s.onDemand.Get(ctx, s.readProducts) })
	}
	if s.opts.PriceFile != nil {
		readers = append(readers, func(ctx context.Context) { _, _, _ = s.file.Get(ctx, s.readFile) })
	}
	return readers
}

// learn replaces the prices by what change makes of them.
func (s *Sources) learn(change func(*prices.Prices) *prices.Prices) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prices = change(s.prices)
}

// failed notes that a source of prices could not be read, unless nobody waits for
// it any more.
func (s *Sources) failed(ctx context.Context, source prices.Source, err error) error {
	if ctx.Err() == nil {
		at := s.opts.Now()
		s.learn(func(p *prices.Prices) *prices.Prices { return p.WithFailure(at, source, err) })
	}
	return err
}

func (s *Sources) readProducts(ctx context.Context) (struct{}, error) {
	at := s.opts.Now()
	var list []string
	for _, q := range prices.ProductQueries(s.opts.Region) {
		part, err := s.getProducts(ctx, q)
		if err != nil {
			return struct{}{}, s.failed(ctx, prices.SourceOnDemand, api.Wrap("GetProducts", s.opts.Region, err))
		}
		list = append(list, part...)
	}
	return struct{}{}, s.merge(func(p *prices.Prices) (*prices.Prices, prices.Report, error) { return p.WithProducts(at, list) })
}

// merge adds an answer to the prices; that of an answer without a price notes the
// failure.
func (s *Sources) merge(add func(*prices.Prices) (*prices.Prices, prices.Report, error)) (err error) {
	s.learn(func(p *prices.Prices) *prices.Prices {
		var next *prices.Prices
		next, _, err = add(p)
		return next
	})
	return err
}

func (s *Sources) getProducts(ctx context.Context, q prices.Query) (out []string, err error) {
	service, format := prices.ServiceCode, productFormat
	input := &pricing.GetProductsInput{ServiceCode: &service, FormatVersion: &format}
	for _, f := range q.Filters {
		input.Filters = append(input.Filters, pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: &f.Field, Value: &f.Value})
	}
	pages := pricing.NewGetProductsPaginator(s.clients.Pricing, input, func(o *pricing.GetProductsPaginatorOptions) { o.Limit = productsPerPage })
	// The price list is not served in every region.
	at := func(o *pricing.Options) { o.Region = q.Endpoint }
	err = api.Pages(ctx, pages.HasMorePages,
		func(ctx context.Context) (*pricing.GetProductsOutput, error) { return pages.NextPage(ctx, at) },
		func(page *pricing.GetProductsOutput) { out = append(out, page.PriceList...) })
	return out, err
}

func (s *Sources) readSpot(ctx context.Context) (struct{}, error) {
	at := s.opts.Now()
	history, err := s.spotHistory(ctx, at)
	if err != nil {
		return struct{}{}, s.failed(ctx, prices.SourceSpot, api.Wrap("DescribeSpotPriceHistory", s.opts.Region, err))
	}
	return struct{}{}, s.merge(func(p *prices.Prices) (*prices.Prices, prices.Report, error) { return p.WithSpot(at, history) })
}

func (s *Sources) spotHistory(ctx context.Context, at time.Time) (out []ec2types.SpotPrice, err error) {
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(s.clients.EC2,
		&ec2.DescribeSpotPriceHistoryInput{StartTime: &at, ProductDescriptions: prices.SpotProducts()},
		func(o *ec2.DescribeSpotPriceHistoryPaginatorOptions) { o.Limit = spotPerPage })
	err = api.Pages(ctx, pages.HasMorePages,
		func(ctx context.Context) (*ec2.DescribeSpotPriceHistoryOutput, error) { return pages.NextPage(ctx) },
		func(page *ec2.DescribeSpotPriceHistoryOutput) { out = append(out, page.SpotPriceHistory...) })
	return out, err
}

// readFile reads the price file. Its text is the answer, so that one that has not
// changed does not make the prices anew.
func (s *Sources) readFile(ctx context.Context) (string, error) {
	data, err := s.opts.PriceFile(ctx)
	if err != nil {
		return "", s.failed(ctx, prices.SourceFile, err)
	}
	content := string(data)
	if content == s.file.peek() && s.file.Health().Failures == 0 {
		return content, nil
	}
	var file *prices.File
	if content != "" {
		if file, err = prices.ParseFile(data); err != nil {
			return "", s.failed(ctx, prices.SourceFile, err)
		}
	}
	var fault error
	s.learn(func(p *prices.Prices) *prices.Prices {
		next, err := p.WithFile(file)
		if err != nil {
			fault = err
			return p
		}
		return next
	})
	if fault != nil {
		return "", s.failed(ctx, prices.SourceFile, fault)
	}
	return content, nil
}
