package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const (
	// maxTrials is how many instance types a dry run tries before it says that none is
	// allowed.
	maxTrials = 6
	// moreSubnets is in how many subnets it tries each instance type after the first; it tries the
	// first in all.
	moreSubnets = 3
)

// seenPools has the requirements on instance types of the NodePools that InstanceTypes was called
// with, by name.
type seenPools struct {
	mu  sync.Mutex
	all map[string]*karpv1.NodePool
}

func (s *seenPools) saw(pool *karpv1.NodePool) {
	seen := &karpv1.NodePool{}
	seen.Name = pool.Name
	pool.Spec.Template.DeepCopyInto(&seen.Spec.Template)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*karpv1.NodePool{}
	}
	s.all[pool.Name] = seen
}

func (s *seenPools) list() []*karpv1.NodePool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.all))
}

// poolRequest is the requirements of a NodePool on instance types.
type poolRequest struct {
	pool  string
	wants requirements.Set
}

// poolsOf returns the requirements of the NodePools of a class, sorted by pool, and a text that
// changes with the result. Pools whose requirements cannot be read are left out.
func (p *Provider) poolsOf(ctx context.Context, class string) ([]poolRequest, string, error) {
	pools := p.pools.list()
	if p.opts.NodePools != nil {
		var err error
		if pools, err = p.opts.NodePools(ctx); err != nil {
			return nil, "", fmt.Errorf("NodePools: %w", err)
		}
	}
	var out []poolRequest
	for _, pool := range pools {
		if pool == nil || pool.Spec.Template.Spec.NodeClassRef == nil || *pool.Spec.Template.Spec.NodeClassRef != reference(class) {
			continue
		}
		wants, err := requirements.FromRequirements(pool.Spec.Template.Spec.Requirements, p.vocabulary)
		if err == nil {
			out = append(out, poolRequest{pool.Name, wants.Intersect(requirements.FromLabels(pool.Spec.Template.Labels, p.vocabulary))})
		}
	}
	slices.SortFunc(out, func(a, b poolRequest) int { return strings.Compare(a.pool, b.pool) })
	texts := make([]string, len(out))
	for i, r := range out {
		texts[i] = r.pool + ": " + r.wants.String()
	}
	text, err := json.Marshal(texts)
	return out, string(text), err
}

// trials returns the launches to try for a class, at most maxTrials, each of one instance type and
// capacity type in all zones. For each NodePool these are the cheapest allowed types of each
// instance category. The first launch of every pool comes before the second of any pool. If no pool
// asks for a type of the class, the only trial is the cheapest type on demand.
func trials(c *instancetype.Catalog, pools []poolRequest) []*cloudprovider.LaunchRequest {
	var byPool [][]*cloudprovider.LaunchRequest
	most := 0
	for _, pool := range pools {
		of := trialsFor(c, pool.wants)
		byPool, most = append(byPool, of), max(most, len(of))
	}
	if most == 0 {
		onDemand := requirements.NewSet(requirements.In(karpv1.CapacityTypeLabelKey, karpv1.CapacityTypeOnDemand))
		of := trialsFor(c, onDemand)
		byPool, most = append(byPool, of), min(1, len(of))
	}
	type tried struct{ instanceType, capacityType string }
	seen := map[tried]bool{}
	var out []*cloudprovider.LaunchRequest
	for i := range most {
		for _, of := range byPool {
			if i >= len(of) || len(out) == maxTrials {
				continue
			}
			first := of[i].Options[0]
			if t := (tried{first.InstanceType.Name, first.Offering.CapacityType}); !seen[t] {
				seen[t] = true
				out = append(out, of[i])
			}
		}
	}
	return out
}

// trialsFor returns the launches to try for a NodePool with the given requirements, the cheapest
// first. They are on demand if the pool allows it, else on spot.
func trialsFor(c *instancetype.Catalog, wants requirements.Set) []*cloudprovider.LaunchRequest {
	for _, capacityType := range []string{karpv1.CapacityTypeOnDemand, karpv1.CapacityTypeSpot} {
		req := &cloudprovider.LaunchRequest{Requirements: wants, Options: launchable(c, wants, capacityType)}
		var out []*cloudprovider.LaunchRequest
		categories := map[string]bool{}
		selected := launch.Select(req, c.Images).Options
		for _, o := range selected {
			category, _ := o.InstanceType.Requirements.Get(awsv1.LabelInstanceCategory)
			if name := category.String(); !categories[name] {
				categories[name] = true
				of := slices.Clone(selected)
				of = slices.DeleteFunc(of, func(other cloudprovider.LaunchOption) bool { return other.InstanceType != o.InstanceType })
				out = append(out, &cloudprovider.LaunchRequest{Requirements: wants, Options: of})
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// launchable returns the options of a capacity type whose labels meet the requirements.
func launchable(c *instancetype.Catalog, wants requirements.Set, capacityType string) []cloudprovider.LaunchOption {
	var out []cloudprovider.LaunchOption
	for _, t := range c.Types {
		if !meets(t.Requirements, wants) {
			continue
		}
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.CapacityType == capacityType && o.Launchable() && meets(o.Labels(), wants) {
				out = append(out, cloudprovider.LaunchOption{InstanceType: t, Offering: o})
			}
		}
	}
	return out
}

// meets reports whether labels meet the requirements. Labels of the pool itself are ignored.
func meets(labels, wants requirements.Set) bool {
	for r := range wants.All() {
		if has, found := labels.Get(r.Key()); found && !has.Overlaps(r) {
			return false
		}
	}
	return true
}
