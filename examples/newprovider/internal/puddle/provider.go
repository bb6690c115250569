package puddle

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

// provider is a cloudprovider.CloudProvider for one cluster.
type provider struct {
	client  client
	cluster string
	now     func() time.Time
	refused *availability.Cache

	mu    sync.Mutex
	types []*cloudprovider.InstanceType // sorted by name; replaced, never written to
	until time.Time                     // when the catalog has to be read again
}

// New returns a provider for a cluster. url is that of the API, now is the clock, and refused
// remembers the offerings that the cloud lacks.
func New(url, cluster string, now func() time.Time, refused *availability.Cache) cloudprovider.CloudProvider {
	return &provider{client: client{url, &http.Client{}}, cluster: cluster, now: now, refused: refused}
}

func (p *provider) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if pool == nil || pool.Spec.Template.Spec.NodeClassRef == nil {
		return nil, &cloudprovider.Error{Op: "InstanceTypes", Kind: cloudprovider.KindDenied,
			Err: errors.New("the pool names no node class; set spec.template.spec.nodeClassRef")}
	}
	if err := cloudprovider.NodeClassReady(ctx, p, *pool.Spec.Template.Spec.NodeClassRef); err != nil {
		return nil, err
	}
	types, err := p.catalog(ctx)
	if err != nil {
		return nil, err
	}
	return p.refused.Apply(types), nil
}

func (p *provider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	options := launch.Select(&req, &launch.Options{Limit: 20}).Options // as many as the cloud takes in one call
	if len(options) == 0 {
		options = req.Options // the cloud will refuse them, unless the token has a machine already
	}
	order := puddlecloud.Order{Token: req.Token, Cluster: p.cluster, Name: req.Name, Pool: req.NodePool, Class: req.NodeClassRef.Name, Kubelet: kubeletOf(&req)}
	for _, o := range options {
		order.Choices = append(order.Choices, puddlecloud.Choice{Shape: o.InstanceType.Name, Zone: o.Offering.Zone, Market: o.Offering.CapacityType})
	}
	types, err := p.catalog(ctx) // before the launch: after it an error would hide the machine
	if err != nil {
		return nil, err
	}
	var s puddlecloud.Server
	if err := p.client.call(ctx, "Create", req.Name, "POST", "/v1/servers", order, &s); err != nil {
		p.refused.MarkFromError(err)
		return nil, err
	}
	return instance(types, s), nil
}

func (p *provider) Delete(ctx context.Context, id string) error {
	s, err := p.find(ctx, "Delete", id)
	if err != nil || s.Stopping {
		return err
	}
	return p.client.call(ctx, "Delete", id, "DELETE", "/v1/servers/"+s.ID, nil, nil)
}

func (p *provider) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	s, err := p.find(ctx, "Get", id)
	if err != nil {
		return nil, err
	}
	types, err := p.catalog(ctx)
	if err != nil {
		return nil, err
	}
	return instance(types, s), nil
}

func (p *provider) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	types, err := p.catalog(ctx)
	if err != nil {
		return nil, err
	}
	var list []*cloudprovider.Instance
	for after := ""; ; {
		var page puddlecloud.Page
		path := "/v1/servers?" + url.Values{"cluster": {p.cluster}, "after": {after}}.Encode()
		if err := p.client.call(ctx, "List", "", "GET", path, nil, &page); err != nil {
			return nil, err // what came before is not the list
		}
		for _, s := range page.Servers {
			list = append(list, instance(types, s))
		}
		if after = page.Next; after == "" {
			slices.SortFunc(list, func(a, b *cloudprovider.Instance) int { return cmp.Compare(a.ID, b.ID) })
			return list, nil
		}
	}
}

// idPrefix begins the IDs of this provider, as the cloud's kubelets report them.
const idPrefix = "puddle:///"

func providerID(s puddlecloud.Server) string { return idPrefix + s.Zone + "/" + s.ID }

// find returns the server with an ID, if it exists and belongs to this cluster. The API also
// returns servers of other clusters.
func (p *provider) find(ctx context.Context, op, id string) (s puddlecloud.Server, err error) {
	short := id[strings.LastIndexByte(id, '/')+1:]
	if short != "" { // without a name the path is that of the list
		err = p.client.call(ctx, op, id, "GET", "/v1/servers/"+url.PathEscape(short), nil, &s)
	}
	if err == nil && (s.Cluster != p.cluster || providerID(s) != id) {
		err = &cloudprovider.Error{Op: op, Object: id, Kind: cloudprovider.KindNotFound,
			Err: errors.New("the cloud has no such server of this cluster")}
	}
	return s, err
}
