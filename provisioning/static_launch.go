package provisioning

import (
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// maxStaticLaunch is the most nodes of one pool that are launched at a time.
const maxStaticLaunch = 10_000

// launch divides what the pool is short of into what is launched and what is
// held back.
func (s *StaticPool) launch(short int64) {
	now := int64(0)
	s.Held = s.closed()
	if s.Held == "" {
		now = short
		if limit, limited, err := nodeLimit(s.Pool); limited && err == nil {
			there := int64(s.Active + s.PendingDisruption + s.Deleting)
			if now = min(short, max(limit-there, 0)); now < short {
				s.Held = fmt.Sprintf("its limit of %d nodes leaves room for %d: it has %d, of which %d are on their way out",
					limit, now, there, s.PendingDisruption+s.Deleting)
			}
		}
		if now > maxStaticLaunch {
			now = maxStaticLaunch
			s.Held = fmt.Sprintf("no more than %d nodes are launched at a time", maxStaticLaunch)
		}
	}
	s.Missing = int(now)
	s.HeldBack = int(min(short-now, int64(^uint(0)>>1)))
}

// closed says why the pool launches nothing at all, "" if it does.
func (s *StaticPool) closed() string {
	dynamic := *s.Pool
	dynamic.Spec.Replicas = nil // what keeps a pool from launching, but for being static
	if reason := idle(&dynamic); reason.Cause != "" {
		return reason.Detail
	}
	if keys := impossibleKeys(s.Requirements); keys != "" {
		return "its own labels and requirements contradict each other over " + keys
	}
	return ""
}

// nodeLimit is the number of nodes that a pool may have, and false if it is not
// limited. The error says what is wrong with the number.
func nodeLimit(p *v1.NodePool) (int64, bool, error) {
	quantity, limited := p.Spec.Limits[nodesResource]
	if !limited {
		return 0, false, nil
	}
	list, err := resources.FromResourceList(corev1.ResourceList{nodesResource: quantity})
	if err != nil {
		return 0, true, err
	}
	limit := list.Get(nodesResource)
	if limit < 0 {
		return 0, true, errors.New("it is negative; a limit is zero or more")
	}
	return limit, true, nil
}

// NodeClaims returns the Missing nodes as karpenter.sh/v1 objects to create:
// made from the template with nothing narrowed, named by generateName, owned by
// the pool, with the hash of the pool for drift. They ask for no resources, as
// they are for no pods in particular. They differ in nothing; the API server
// names them. The objects are the caller's own.
func (s StaticPool) NodeClaims() []*v1.NodeClaim {
	if s.Missing <= 0 || s.Pool == nil {
		return nil
	}
	claim := s.claim()
	out := make([]*v1.NodeClaim, s.Missing)
	out[0] = claim
	for i := 1; i < len(out); i++ {
		out[i] = claim.DeepCopy()
	}
	return out
}

func (s *StaticPool) claim() *v1.NodeClaim {
	claim := s.Pool.Spec.Template.ToNodeClaim()
	block := true
	claim.TypeMeta = metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.NodeClaimKind}
	claim.ObjectMeta = metav1.ObjectMeta{
		GenerateName: s.Pool.Name + "-",
		Labels:       maps.Clone(s.Labels),
		Annotations:  s.node().annotations(),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion:         v1.GroupVersion.String(),
			Kind:               v1.NodePoolKind,
			Name:               s.Pool.Name,
			UID:                s.Pool.UID,
			BlockOwnerDeletion: &block,
		}},
	}
	claim.Spec.Requirements = s.Requirements.NodeSelectorRequirements()
	return claim
}

// Request is the order for one node of the pool as a CloudProvider takes it,
// with all Options. The token is unique to the node: see
// cloudprovider.LaunchRequest. Slices and maps are shared with s.
func (s StaticPool) Request(token string) cloudprovider.LaunchRequest {
	if s.Pool == nil {
		return cloudprovider.LaunchRequest{Token: token}
	}
	return s.node().Request(token)
}

// node is one node to launch, for no pods.
func (s *StaticPool) node() *NewNode {
	return &NewNode{Pool: s.Pool, Requirements: s.Requirements, Labels: s.Labels, Options: s.Options}
}
