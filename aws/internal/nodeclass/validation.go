package nodeclass

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// validation sets ValidationSucceeded: whether a launch can be expected to work.
func (w *work) validation() {
	const kind = awsv1.ConditionTypeValidationSucceeded
	if len(w.faults) > 0 {
		w.conditions.isFalse(kind, w.reasonFor(w.faults[0]), list(w.faults))
		return
	}
	if w.class.ResolvedAMIFamily() == amiselect.FamilyAL2023 && !w.hasServiceCIDR(kind) {
		return
	}
	var no, open []string
	for _, dependency := range []string{awsv1.ConditionTypeAMIsReady, awsv1.ConditionTypeInstanceProfileReady,
		awsv1.ConditionTypePlacementGroupReady, awsv1.ConditionTypeSecurityGroupsReady, awsv1.ConditionTypeSubnetsReady} {
		switch is, _ := find(w.conditions.list, dependency); is.Status {
		case metav1.ConditionTrue:
		case metav1.ConditionFalse:
			no = append(no, dependency)
		default:
			open = append(open, dependency)
		}
	}
	switch {
	case len(no) > 0:
		w.conditions.isFalse(kind, awsv1.ReasonDependenciesNotReady, "waits for "+strings.Join(append(no, open...), ", "))
	case len(open) > 0:
		w.conditions.unknown(kind, awsv1.ReasonDependenciesNotReady, "waits for "+strings.Join(open, ", "))
	case w.evaluates(kind):
		w.dryRun(kind)
	}
}

// evaluates reports whether the expressions of the class have a value for every
// instance type.
func (w *work) evaluates(kind string) bool {
	if w.r.opts.Unevaluated == nil || len(w.class.Spec.Kubelet.Expressions()) == 0 {
		return true
	}
	message, err := w.r.opts.Unevaluated(w.ctx, w.class)
	switch {
	case err != nil:
		w.failed(kind, "expressions", err, func() {})
	case message != "":
		w.conditions.isFalse(kind, awsv1.ReasonKubeletExpressionEvaluationFailed, message)
	default:
		return true
	}
	return false
}

// reasonFor returns the reason for a fault of the spec.
func (w *work) reasonFor(fault *field.Error) string {
	switch {
	case slices.Contains(w.expressions, fault) && fault.Type == field.ErrorTypeForbidden:
		return awsv1.ReasonKubeletExpressionsDisabled
	case slices.Contains(w.expressions, fault):
		return awsv1.ReasonKubeletExpressionInvalid
	case strings.HasPrefix(fault.Field, "spec.kubelet"):
		if fault.Type == field.ErrorTypeForbidden && strings.Contains(fault.Detail, "family") ||
			strings.HasPrefix(fault.Field, "spec.kubelet.podsPerCore") && fault.Type == field.ErrorTypeForbidden {
			return awsv1.ReasonUnsupportedKubeletConfiguration
		}
		return awsv1.ReasonInvalidKubeletConfiguration
	case strings.HasPrefix(fault.Field, "spec.tags"):
		return awsv1.ReasonTagValidationFailed
	}
	return ReasonInvalidSpec
}

// hasServiceCIDR reports whether the service CIDR is known if the family needs it, as Amazon Linux
// 2023 does.
func (w *work) hasServiceCIDR(kind string) bool {
	cluster, _, err := w.r.src.Cluster(w.ctx)
	switch {
	case err != nil:
		w.out.failures = append(w.out.failures, err)
		w.conditions.unknown(kind, awsv1.ReasonClusterCIDRResolutionFailed, "addresses of services: "+oneLine(err))
		return false
	case cluster.ServiceCIDR == "":
		w.conditions.isFalse(kind, awsv1.ReasonClusterCIDRResolutionFailed,
			"the addresses of services of the cluster are not known, and nodes of AL2023 need them; give the service CIDR, or a client for EKS")
		return false
	}
	return true
}

// dryRun asks EC2 whether a launch would be allowed.
func (w *work) dryRun(kind string) {
	if w.r.opts.DryRun == nil {
		w.conditions.isTrue(kind, "")
		return
	}
	// The dry run sees the class with its new status.
	tried := w.class.DeepCopy()
	tried.Status.Conditions = w.conditions.list
	reason, message, err := w.r.opts.DryRun(w.ctx, tried)
	switch {
	case err != nil:
		w.failed(kind, "dry run", err, func() {})
	case reason != "":
		w.conditions.isFalse(kind, reason, message)
	default:
		w.conditions.isTrue(kind, message)
	}
}
