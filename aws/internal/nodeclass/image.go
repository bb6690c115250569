package nodeclass

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const imagesPerPage = 1000

// ReadsParameters reports whether there is a client for parameters.
func (s *Sources) ReadsParameters() bool { return s.clients.SSM != nil }

// Parameter returns the value of a parameter of Systems Manager, given by name or
// ARN, and the empty text if there is no such parameter. mutable says that its
// value may change. Without a client it is an error of KindUnsupported.
func (s *Sources) Parameter(ctx context.Context, name string, mutable bool) (string, cache.Reading, error) {
	if s.clients.SSM == nil {
		return "", cache.Reading{}, &cloudprovider.Error{Op: "GetParameter", Object: name, Kind: cloudprovider.KindUnsupported,
			Err: errors.New("there is no client for Systems Manager; give one, or select the image by id or name")}
	}
	cells := s.static
	if mutable {
		cells = s.mutable
	}
	return cells.Get(ctx, name, func(ctx context.Context) (string, error) { return s.readParameter(ctx, name) })
}

func (s *Sources) readParameter(ctx context.Context, name string) (string, error) {
	out, err := s.clients.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
	if api.NotFound(err) {
		return "", nil
	}
	if err == nil && (out == nil || out.Parameter == nil || text(out.Parameter.Value) == "") {
		err = errors.New("the answer has no value")
	}
	if err != nil {
		return "", api.Wrap("GetParameter", name, err)
	}
	return *out.Parameter.Value, nil
}

// Images returns the images that a query for images selects, each once, sorted by
// id. A query is what amiselect.Queries returns; equal ones are asked once.
func (s *Sources) Images(ctx context.Context, q amiselect.Query) ([]amiselect.Image, cache.Reading, error) {
	l := lookup{}
	for _, f := range q.Filters {
		l.filters = append(l.filters, filter(f.Name, f.Values...))
	}
	key := l.key()
	if len(q.Owners) > 0 {
		key += fmt.Sprintf(" of %q", q.Owners)
	}
	return s.images.Get(ctx, key, func(ctx context.Context) ([]amiselect.Image, error) {
		return s.readImages(ctx, key, q, l)
	})
}

func (s *Sources) readImages(ctx context.Context, key string, q amiselect.Query, l lookup) ([]amiselect.Image, error) {
	var found []amiselect.Image
	var faults []error
	pages := ec2.NewDescribeImagesPaginator(s.clients.EC2,
		&ec2.DescribeImagesInput{Filters: l.filters, Owners: q.Owners, IncludeDeprecated: &q.IncludeDeprecated},
		func(o *ec2.DescribeImagesPaginatorOptions) { o.Limit = imagesPerPage })
	err := api.Pages(ctx, pages, func(page *ec2.DescribeImagesOutput) {
		for i := range page.Images {
			image, err := newImage(&page.Images[i])
			faults = append(faults, err)
			found = append(found, image)
		}
	})
	if err = errors.Join(append(faults, err)...); err != nil {
		return nil, api.Wrap("DescribeImages", key, err)
	}
	s.learnAccount(q.Owners, found)
	slices.SortStableFunc(found, func(a, b amiselect.Image) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(found, func(a, b amiselect.Image) bool { return a.ID == b.ID }), nil
}

// newImage reads an image. One that cannot be read is an error for the whole
// answer: without it an older image would look like the newest.
func newImage(i *ec2types.Image) (amiselect.Image, error) {
	out := amiselect.Image{ID: text(i.ImageId), Name: text(i.Name), OwnerID: text(i.OwnerId), OwnerAlias: text(i.ImageOwnerAlias),
		Architecture: string(i.Architecture), State: string(i.State)}
	var faults []error
	if out.ID == "" {
		faults = append(faults, fmt.Errorf("an image named %q has no id", out.Name))
	}
	var err error
	if out.Created, err = amiselect.ParseTime(text(i.CreationDate)); err != nil {
		faults = append(faults, fmt.Errorf("image %s: creation date: %w", out.ID, err))
	}
	if at := text(i.DeprecationTime); at != "" {
		if out.DeprecationTime, err = amiselect.ParseTime(at); err != nil {
			faults = append(faults, fmt.Errorf("image %s: deprecation time: %w", out.ID, err))
		}
	}
	for _, tag := range i.Tags {
		if out.Tags == nil {
			out.Tags = make(map[string]string, len(i.Tags))
		}
		out.Tags[text(tag.Key)] = text(tag.Value)
	}
	return out, errors.Join(faults...)
}

// ownerSelf stands for the account whose credentials ask.
const ownerSelf = "self"

// learnAccount takes the number of the account that asks from the answer to a
// question for its own images: Amazon's have an alias, so what has none is its own.
func (s *Sources) learnAccount(owners []string, found []amiselect.Image) {
	if !slices.Contains(owners, ownerSelf) {
		return
	}
	for _, o := range owners {
		if o != ownerSelf && o != "amazon" {
			return
		}
	}
	for i := range found {
		if found[i].OwnerAlias == "" && found[i].OwnerID != "" {
			s.mu.Lock()
			s.account = found[i].OwnerID
			s.mu.Unlock()
			return
		}
	}
}

// Account returns the account that asks: what the caller said it is, else what the
// images that it owns say, else that of the cluster, else the empty text. An
// answer that has no image of its own leaves the question open, but then nothing
// depends on it.
func (s *Sources) Account(ctx context.Context) (string, error) {
	if s.opts.Account != "" {
		return s.opts.Account, ctx.Err()
	}
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	if account != "" {
		return account, ctx.Err()
	}
	c, _, err := s.Cluster(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", nil //nolint:nilerr // there is nothing to go by; Health has the error
	}
	return c.Account, nil
}
