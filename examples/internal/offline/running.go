package offline

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// Running is the cluster as it runs, for package disruption.
func (w *World) Running() disruption.Input {
	in := disruption.Input{
		Input:                w.Input(),
		PodDisruptionBudgets: w.Cluster.PodDisruptionBudgets,
		Drift:                map[string]cloudprovider.Drift{},
	}
	// What only the cloud can see, such as another image, a controller wrote
	// down in the condition. What the engine sees by itself it judges anew.
	own := []string{disruption.NodePoolDrifted, disruption.RequirementsDrifted, disruption.InstanceTypeNotFound}
	for _, n := range in.Nodes {
		if n.NodeClaim == nil {
			continue
		}
		for _, cond := range n.NodeClaim.Status.Conditions {
			if cond.Type == v1.ConditionTypeDrifted && cond.Status == metav1.ConditionTrue && !slices.Contains(own, cond.Reason) {
				in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: cond.Reason, Detail: strings.TrimSuffix(cond.Message, ".")}
			}
		}
	}
	return in
}
