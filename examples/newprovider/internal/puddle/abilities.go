package puddle

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Labels of this cloud's machines in addition to those of all clouds.
const (
	labelFamily = "puddle.example/family"
	labelGPU    = "puddle.example/gpu"
)

// labels returns the well-known labels that the provider adds.
func labels() []string { return []string{labelFamily, labelGPU} }

func (p *provider) Name() string { return "puddle" }

func (p *provider) Vocabulary() *requirements.Vocabulary {
	return requirements.DefaultVocabulary().Extend(requirements.Extension{
		WellKnown: labels(), RestrictedDomains: []string{"puddle.example"},
	})
}

// NodeClass returns the kind of node class that the provider uses.
func NodeClass() schema.GroupKind {
	return schema.GroupKind{Group: "puddle.example", Kind: "PuddleNodeClass"}
}

func (p *provider) SupportedNodeClasses() []schema.GroupKind { return []schema.GroupKind{NodeClass()} }

func (p *provider) NodeClassReady(ctx context.Context, ref v1.NodeClassReference) error {
	c, err := p.class(ctx, "NodeClassReady", ref)
	if err == nil && c.NotReady != "" {
		return &cloudprovider.Error{Op: "NodeClassReady", Object: ref.Name, Kind: cloudprovider.KindNotReady, Err: errors.New(c.NotReady)}
	}
	return err
}

// class looks up a node class. Here the cloud stores node classes; with other clouds they are
// objects in the cluster, read from a cache.
func (p *provider) class(ctx context.Context, op string, ref v1.NodeClassReference) (c puddlecloud.Class, err error) {
	return c, p.client.call(ctx, op, ref.Name, "GET", "/v1/classes/"+url.PathEscape(ref.Name), nil, &c)
}

func (p *provider) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	s, err := p.find(ctx, "IsDrifted", claim.Status.ProviderID)
	if err != nil {
		return cloudprovider.Drift{}, err
	}
	c, err := p.class(ctx, "IsDrifted", v1.NodeClassReference{Name: s.Class})
	if err != nil || c.Image == s.Image {
		return cloudprovider.Drift{}, err
	}
	return cloudprovider.Drift{Reason: "ImageDrift", Detail: fmt.Sprintf("it runs %s, class %s has %s", s.Image, s.Class, c.Image)}, nil
}

func (p *provider) Reboot(ctx context.Context, id, operation string) error {
	s, err := p.find(ctx, "Reboot", id)
	if err != nil {
		return err
	}
	return p.client.call(ctx, "Reboot", id, "POST", "/v1/servers/"+s.ID+"/restarts/"+url.PathEscape(operation), nil, nil)
}

func (p *provider) RepairPolicies() []cloudprovider.RepairPolicy {
	return []cloudprovider.RepairPolicy{
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse,
			TolerationDuration: 30 * time.Minute, Action: cloudprovider.ReplaceNode},
		{ConditionType: "KernelReady", ConditionStatus: corev1.ConditionFalse, ReasonRegex: ".*",
			TolerationDuration: 10 * time.Minute, Action: cloudprovider.RebootNode},
	}
}

func (p *provider) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	var notices []puddlecloud.Notice
	path := "/v1/notices?" + url.Values{"cluster": {p.cluster}}.Encode()
	if err := p.client.call(ctx, "Interruptions", "", "GET", path, nil, &notices); err != nil {
		return nil, err
	}
	var out []cloudprovider.Interruption
	for _, n := range notices {
		kind := cloudprovider.InterruptionMaintenance
		if n.What == "reclaim" {
			kind = cloudprovider.InterruptionSpot
		}
		out = append(out, cloudprovider.Interruption{
			ID: n.ID, InstanceID: providerID(n.Server), Kind: kind, Detail: n.What, At: n.Issued, Deadline: n.Due,
		})
	}
	slices.SortFunc(out, cloudprovider.Interruption.Compare)
	return out, nil
}

func (p *provider) Acknowledge(ctx context.Context, ids ...string) error {
	return p.client.call(ctx, "Acknowledge", "", "POST", "/v1/notices/done", ids, nil)
}
