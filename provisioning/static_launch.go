package provisioning

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

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
