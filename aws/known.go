package aws

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// tag puts tags on an instance.
func (p *Provider) tag(ctx context.Context, id string, tags map[string]string) error {
	if len(tags) == 0 {
		return nil
	}
	_, err := p.clients.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: api.Tags(tags)})
	return api.Wrap("CreateTags", id, err)
}

// known returns an instance by its id in EC2, from memory. It reports false if the instance is
// gone, or not known to be of the cluster.
func (p *Provider) known(id string) (*cloudprovider.Instance, bool) {
	k, found := p.book.Get(id)
	if !found || k.Gone {
		return nil, false
	}
	if k.Launched != nil {
		return k.Launched, true
	}
	if k.Record == nil {
		return nil, false
	}
	i := recorded(k)
	i.Labels = map[string]string{}
	return i, true
}

// knownOrGet is known for many ids. It asks EC2 for the unknown ones in one call. Instances that
// are not of the cluster are missing from the result.
func (p *Provider) knownOrGet(ctx context.Context, ids []string) (map[string]*cloudprovider.Instance, error) {
	out := map[string]*cloudprovider.Instance{}
	type answer struct {
		id  string
		err error
	}
	answers := make(chan answer, len(ids))
	asked := map[string]bool{}
	for _, id := range ids {
		if i, found := p.known(id); found {
			out[id] = i
			continue
		}
		if asked[id] {
			continue
		}
		asked[id] = true
		go func() {
			r, err := p.instances.Get(ctx, id)
			if err == nil {
				p.book.Saw(&r)
			}
			answers <- answer{id, err}
		}()
	}
	var errs []error
	for range asked {
		a := <-answers
		switch {
		case a.err == nil:
			if i, found := p.known(a.id); found {
				out[a.id] = i
			}
		case !errors.Is(a.err, cloudprovider.ErrNotFound):
			errs = append(errs, a.err)
		}
	}
	return out, errors.Join(errs...)
}
