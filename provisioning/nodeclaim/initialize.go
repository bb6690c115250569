package nodeclaim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Initialize returns the condition Initialized: whether a registered Node is ready for pods. If
// Status is True, give the Node the label karpenter.sh/initialized. Otherwise Status is Unknown,
// for the first of these reasons; registration is not checked:
//
//	NodeNotFound                 there is no Node, or no claim
//	Rebooting                    the condition Rebooting of the claim is True
//	NodeNotReady                 its condition Ready is not True
//	StartupTaintsExist           a startup taint of the claim is still there
//	KnownEphemeralTaintsExist    a taint is there that Kubernetes removes later
//	ResourceNotRegistered        a resource that the claim requests is not allocatable
//	DRADriverPoolsNotPublished   a driver that the claim names in its annotation
//	                             karpenter.sh/requested-dra-drivers has not
//	                             published all slices of a pool for the Node
func Initialize(claim *v1.NodeClaim, node *corev1.Node, published []*resourcev1.ResourceSlice) Condition {
	s := Condition{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionUnknown}
	no := func(reason, format string, args ...any) Condition {
		s.Reason, s.Message = reason, status.Short(fmt.Sprintf(format, args...), maxMessage)
		return s
	}
	if claim == nil || node == nil {
		return no("NodeNotFound", "there is no Node yet")
	}
	if isTrue(claim, v1.ConditionTypeRebooting) {
		return no(v1.ReasonRebooting, "the node is being rebooted")
	}
	if !status.Ready(node) {
		return no("NodeNotReady", "condition Ready of the Node is not True")
	}
	for _, t := range claim.Spec.StartupTaints {
		if status.HasTaint(node, t) {
			return no("StartupTaintsExist", "the startup taint %s is still there", t.ToString())
		}
	}
	for i := range node.Spec.Taints {
		if t := &node.Spec.Taints[i]; ephemeral(t) {
			return no("KnownEphemeralTaintsExist", "the taint %s is still there", t.ToString())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(claim.Spec.Resources.Requests)) {
		want, have := claim.Spec.Resources.Requests[name], node.Status.Allocatable[name]
		if !want.IsZero() && have.IsZero() {
			return no("ResourceNotRegistered", "the Node has no allocatable %s", name)
		}
	}
	if driver := unpublished(claim, node, published); driver != "" {
		return no("DRADriverPoolsNotPublished", "driver %s has not published all its devices for the Node", driver)
	}
	s.Status, s.Reason = metav1.ConditionTrue, "Initialized"
	return s
}

// ephemeral reports whether a taint is temporary while a node starts.
func ephemeral(t *corev1.Taint) bool {
	for _, known := range []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: corev1.TaintEffectNoSchedule},
		v1.UnregisteredNoExecuteTaint(),
	} {
		if t.MatchTaint(&known) {
			return true
		}
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// unpublished returns the first driver that a claim needs and that has not published a complete
// pool for the node; "" if there is none.
func unpublished(claim *v1.NodeClaim, node *corev1.Node, published []*resourcev1.ResourceSlice) string {
	type pool struct {
		driver, name string
		generation   int64
	}
	count, want := map[pool]int64{}, map[pool]int64{}
	newest := map[[2]string]int64{}
	for _, s := range published {
		if s == nil || s.Spec.NodeName == nil || *s.Spec.NodeName != node.Name {
			continue
		}
		p := pool{s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Pool.Generation}
		count[p]++
		want[p] = s.Spec.Pool.ResourceSliceCount
		newest[[2]string{p.driver, p.name}] = max(newest[[2]string{p.driver, p.name}], p.generation)
	}
	for _, driver := range strings.Split(claim.Annotations[v1.DRADriversAnnotationKey], ",") {
		driver = strings.TrimSpace(driver)
		pools, whole := 0, true
		for key, generation := range newest { // the order does not matter
			if key[0] == driver {
				p := pool{driver, key[1], generation}
				pools++
				whole = whole && count[p] >= want[p]
			}
		}
		if driver != "" && (pools == 0 || !whole) {
			return driver
		}
	}
	return ""
}

// CheckConsistency returns the condition ConsistentStateFound, which compares the capacity of a
// Node with that in the status of its claim. It is False (ConsistencyCheckFailed) if the Node has
// less than 90% of a resource that the claim requests. The condition is informational.
// CheckConsistency reports false, without a condition, for a claim that is not initialized or is
// being deleted, and if claim or Node is nil.
func CheckConsistency(claim *v1.NodeClaim, node *corev1.Node) (Condition, bool) {
	s := Condition{Type: v1.ConditionTypeConsistentStateFound, Status: metav1.ConditionTrue, Reason: v1.ConditionTypeConsistentStateFound}
	if claim == nil || node == nil || !claim.DeletionTimestamp.IsZero() || !isTrue(claim, v1.ConditionTypeInitialized) {
		return s, false
	}
	var lacking []string
	for _, name := range slices.Sorted(maps.Keys(claim.Spec.Resources.Requests)) {
		want, have := claim.Status.Capacity[name], node.Status.Capacity[name]
		if have.AsApproximateFloat64() < 0.9*want.AsApproximateFloat64() {
			lacking = append(lacking, fmt.Sprintf("%s of %s %s", have.String(), want.String(), name))
		}
	}
	if len(lacking) > 0 {
		s.Status, s.Reason = metav1.ConditionFalse, "ConsistencyCheckFailed"
		s.Message = "the Node has less than was promised: " + strings.Join(lacking, ", ")
	}
	return s, true
}
