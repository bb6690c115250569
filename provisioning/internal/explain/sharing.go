package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/workload"
)

// noCompany says why pods find no node with others that they must be with.
func noCompany(p *compile.Problem, with []workload.Term) *model.Reason {
	if r := p.SharedVolume(with); r != nil {
		return r
	}
	return &model.Reason{Cause: model.CauseAffinity, Detail: fmt.Sprintf(
		"its required pod affinity over %s asks for a node where matching pods are, and no such node has room for it", corev1.LabelHostname)}
}
