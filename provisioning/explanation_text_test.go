package provisioning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestAmounts holds how amounts are written for people: many CPUs in whole ones, and
// bytes of which a share was taken without their last digits, but never more than
// there is.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		resource corev1.ResourceName
		largest  int64
		want     string
	}{
		{"cpu", 1930, "1.93"},
		{"cpu", 9999, "9.999"},
		{"cpu", 32000, "32"},
		{"cpu", 382970, "382.97"},
		{"cpu", 382971, "382.971"},
		{"memory", 29 << 30, "29Gi"},
		{"memory", 7001 << 20, "7001Mi"},
		{"memory", 7001<<20 + 1024, "7001Mi"},
		{"memory", 7001<<20 + 1, "7001Mi"},
		{"memory", 7001<<20 - 1, "7000.99Mi"},
		{"memory", 7001<<20 + 104_858, "7001.1Mi"},
		{"memory", 1000, "1000"},
		{"ephemeral-storage", 1<<20 + 1<<19 + 1, "1.5Mi"},
		{"example.com/widget", 123_456_789, "123456789"},
	} {
		s := provisioning.Shortfall{Resource: c.resource, Requested: 1 << 40, Largest: c.largest, InstanceType: "x"}
		require.Contains(t, s.String(), " no suitable instance type has more than "+c.want+" (x)")
	}
}

// poolsThatSay are pools with a reason each.
func poolsThatSay(details ...string) *provisioning.Explanation {
	r := &provisioning.Explanation{Cause: provisioning.CauseNodePools}
	for i, detail := range details {
		r.Pools = append(r.Pools, provisioning.PoolExplanation{NodePool: fmt.Sprintf("p%d", i), Cause: provisioning.CauseRequirements, Detail: detail})
	}
	return r
}

// Many pools that say the same are told together, and no reason is longer than an event may be.
func TestReasonsOfManyPools(t *testing.T) {
	require.Equal(t, "NodePool p0: a; NodePool p1: a; NodePool p2: b", poolsThatSay("a", "a", "b").String())
	require.Equal(t, "2 of 4 NodePools (p0, p2): a; NodePool p1: b; NodePool p3: c", poolsThatSay("a", "b", "a", "c").String())
	require.Equal(t, "5 of 5 NodePools (p0, p1, p2 and 2 more): a", poolsThatSay("a", "a", "a", "a", "a").String())

	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprintf("%d %s", i, strings.Repeat("x", 60)))
	}
	r := poolsThatSay(long...)
	r.ExistingNodes = map[provisioning.Cause]int{provisioning.CauseResources: 3}
	require.LessOrEqual(t, len(r.String()), 1024)
	require.Regexp(t, `^NodePool p0: .*; and \d\d more NodePools; of 3 existing nodes, 3 have too little room$`, r.String())
	require.Equal(t, 60, strings.Count(r.Report(), "NodePool "), "the report has all")
	require.Len(t, poolsThatSay(strings.Repeat("x", 5000)).String(), 1024)
}

// A fault that shows a value shows it as it was written.
func TestReasonsShowValuesAsWritten(t *testing.T) {
	r := &provisioning.Explanation{Cause: provisioning.CauseRequirements, Detail: `Invalid value: ["\u003cb\u003e"]: a \u0026 b`}
	require.Equal(t, `Invalid value: ["<b>"]: a & b`, r.String())
}

// reasonable is problems in which verify.Unplaced says something about each pod. By turns
// they have one kind of constraints between pods, the other, or minValues instead.
func reasonable(seed uint64) (provisioning.Input, *provisioning.Options) {
	features := randproblem.Volumes | randproblem.Reservations | randproblem.Buffers | randproblem.Static | randproblem.Defaults | randproblem.Ports
	features |= []randproblem.Feature{randproblem.Affinity, randproblem.Spread, randproblem.Affinity | randproblem.Spread}[seed%3]
	in, opts := richProblem(seed, randproblem.Config{Without: features})
	in.DaemonSetPods = nil // of which it counts all that could run
	if seed%3 < 2 {        // where constraints meet minValues, verify.Unplaced keeps silent
		for i, pool := range in.NodePools {
			in.NodePools[i] = withoutCause(pool, provisioning.CauseMinValues)
		}
	}
	return in, opts
}

// TestLawReasons takes away what the reason of a pod left over names: a constraint
// between pods, limits, or minValues with the limits that come after them. If the pod has
// no constraint of another kind, it has a place then: in the same plan, by
// verify.Unplaced, or in that of the problem as it is now.
func TestLawReasons(t *testing.T) {
	t.Parallel()
	asked, wrong := map[provisioning.Cause]int{}, []string(nil)
	for seed := range lawSeeds(3_000, 450) {
		in, opts := reasonable(seed)
		plan := solved(t, in, opts)
		for i, u := range plan.Unplaced {
			for _, cause := range causesOf(u.Explanation) {
				less, pod := relieved(in, u.Pod, cause)
				if constrained(pod) {
					continue
				}
				other := *plan
				other.Unplaced = slices.Clone(plan.Unplaced)
				other.Unplaced[i] = provisioning.Unplaced{Pod: pod}
				asked[cause]++
				named := func(v verify.Violation) bool { return v.Pod == pod.Namespace+"/"+pod.Name }
				left := func(u provisioning.Unplaced) bool { return u.Pod == pod }
				if !slices.ContainsFunc(verify.Unplaced(less, &other, opts), named) && slices.ContainsFunc(solved(t, less, opts).Unplaced, left) {
					wrong = append(wrong, fmt.Sprintf("seed %d: %s without %s: %s", seed, pod.Name, cause, u.Explanation))
				}
			}
		}
	}
	t.Log(asked)
	require.Empty(t, wrong)
	for _, cause := range []provisioning.Cause{provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity,
		provisioning.CauseMinValues, provisioning.CauseLimits} {
		require.Greater(t, asked[cause], enough(5), "%s", cause)
	}
}

// constrained says whether a pod has required constraints towards others.
func constrained(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	a := pod.Spec.Affinity
	return a != nil && (a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0)
}

// causesOf lists what a reason names and can be taken away for good.
func causesOf(r *provisioning.Explanation) []provisioning.Cause {
	switch r.Cause {
	case provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity:
		return []provisioning.Cause{r.Cause}
	}
	var out []provisioning.Cause
	for _, pool := range r.Pools {
		switch pool.Cause {
		case provisioning.CauseMinValues, provisioning.CauseLimits:
			out = append(out, pool.Cause)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// relieved returns an input without what a reason of a pod names, and the pod there.
func relieved(in provisioning.Input, pod *corev1.Pod, cause provisioning.Cause) (provisioning.Input, *corev1.Pod) {
	out := pod.DeepCopy()
	in.Pods = slices.Clone(in.Pods)
	switch affinity := out.Spec.Affinity; cause {
	case provisioning.CauseSpread:
		out.Spec.TopologySpreadConstraints = slices.DeleteFunc(out.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.DoNotSchedule
		})
	case provisioning.CauseAffinity:
		affinity.PodAffinity = nil
	case provisioning.CauseAntiAffinity:
		if affinity != nil {
			affinity.PodAntiAffinity = nil
		}
		in.Pods = withoutAntiAffinity(in.Pods)
		in.Nodes = slices.Clone(in.Nodes)
		for i := range in.Nodes {
			in.Nodes[i].Pods = withoutAntiAffinity(in.Nodes[i].Pods)
		}
	default:
		in.NodePools = slices.Clone(in.NodePools)
		for i, pool := range in.NodePools {
			in.NodePools[i] = withoutCause(pool, cause)
		}
	}
	for i := range in.Pods {
		if in.Pods[i] != nil && in.Pods[i].Namespace == pod.Namespace && in.Pods[i].Name == pod.Name {
			in.Pods[i] = out
		}
	}
	return in, out
}

func withoutAntiAffinity(pods []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(pods)
	for i, pod := range out {
		if pod != nil && pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil {
			out[i] = pod.DeepCopy()
			out[i].Spec.Affinity.PodAntiAffinity = nil
		}
	}
	return out
}

func withoutCause(pool *v1.NodePool, cause provisioning.Cause) *v1.NodePool {
	pool = pool.DeepCopy()
	if pool.Spec.Limits = nil; cause == provisioning.CauseLimits {
		return pool
	}
	for i := range pool.Spec.Template.Spec.Requirements {
		pool.Spec.Template.Spec.Requirements[i].MinValues = nil
	}
	return pool
}

// TestLawReasonsLead takes away what reasons name, one after another: taints, host ports,
// volumes, devices, labels, requests, limits and minValues. What was taken away is not named
// again, and in the end the pod has a place, or no pool can launch anything for anybody.
// So a pod that follows its reasons gets there, and no reason hides another one that nothing
// can be done about. Of constraints between pods there are few: TestLawReasons has them.
func TestLawReasonsLead(t *testing.T) {
	t.Parallel()
	asked, wrong := map[provisioning.Cause]int{}, []string(nil)
	without := randproblem.Affinity | randproblem.Spread | randproblem.Defaults | randproblem.Buffers | randproblem.Static | randproblem.Reservations
	for seed := range lawSeeds(2_000, 300) {
		in, opts := richProblem(seed, randproblem.Config{Without: without})
		seen := map[string]bool{}
		for _, u := range solved(t, in, opts).Unplaced {
			if why := u.Explanation.String(); !seen[why] {
				seen[why] = true
				if fault := ledAstray(t, in, opts, u, asked); fault != "" {
					wrong = append(wrong, fmt.Sprintf("seed %d: %s: %s", seed, u.Pod.Name, fault))
				}
			}
		}
	}
	t.Log(asked)
	require.Empty(t, wrong)
	for _, cause := range []provisioning.Cause{provisioning.CauseTaints, provisioning.CauseHostPorts, provisioning.CauseVolumes,
		provisioning.CauseRequirements, provisioning.CauseResources, provisioning.CauseLimits, provisioning.CauseMinValues} {
		require.Greater(t, asked[cause], enough(0), "%s", cause)
	}
}

// ledAstray follows the reasons of a pod, and says where that leads to nothing; "" if it
// leads to a place, or to what no pod can do anything about.
func ledAstray(t *testing.T, in provisioning.Input, opts *provisioning.Options, u provisioning.Unplaced, asked map[provisioning.Cause]int) string {
	gone := map[provisioning.Cause]bool{}
	for {
		causes := reliefs(u.Explanation)
		if len(causes) == 0 {
			return pointless(u.Explanation)
		}
		for _, cause := range causes {
			if gone[cause] {
				return fmt.Sprintf("%s is named though it is gone: %s", cause, u.Explanation)
			}
			gone[cause] = true
			asked[cause]++
			in, u.Pod = eased(in, u.Pod, cause)
		}
		left := solved(t, in, opts).Unplaced
		at := slices.IndexFunc(left, func(other provisioning.Unplaced) bool { return other.Pod == u.Pod })
		if at < 0 {
			return ""
		}
		u = left[at]
	}
}

// pointless says what is wrong with a reason of which nothing can be taken away; "" if each
// pool can launch nothing, whoever asks.
func pointless(r *provisioning.Explanation) string {
	switch r.Cause {
	case provisioning.CauseNodePools:
	case provisioning.CauseNoNodePool, provisioning.CauseGated, provisioning.CauseDeleting, provisioning.CauseOtherScheduler:
		return ""
	default:
		return "nothing to take away: " + r.String()
	}
	for _, pool := range r.Pools {
		switch pool.Cause {
		case provisioning.CauseNotReady, provisioning.CauseNoInstanceTypes, provisioning.CauseReservations:
		default:
			if !fullOfDaemons(&pool) {
				return "nothing to take away: " + r.String()
			}
		}
	}
	return ""
}

// fullOfDaemons says whether DaemonSets leave no room for any pod in a pool.
func fullOfDaemons(r *provisioning.PoolExplanation) bool {
	return len(r.Shortfalls) > 0 && !slices.ContainsFunc(r.Shortfalls, func(s provisioning.Shortfall) bool { return s.Daemons < s.Largest })
}

// reliefs lists what a reason names and eased can take away: a constraint between pods by
// itself, as pools are then about the values that it lets the pod into.
func reliefs(r *provisioning.Explanation) []provisioning.Cause {
	switch r.Cause {
	case provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity:
		return []provisioning.Cause{r.Cause}
	}
	causes := []provisioning.Cause{r.Cause}
	for _, pool := range r.Pools {
		if !fullOfDaemons(&pool) {
			causes = append(causes, pool.Cause)
		}
	}
	known := []provisioning.Cause{provisioning.CauseTaints, provisioning.CauseHostPorts, provisioning.CauseVolumes, provisioning.CauseDevices,
		provisioning.CauseInvalid, provisioning.CauseRequirements, provisioning.CauseInstanceTypes, provisioning.CauseOfferings, provisioning.CauseResources,
		provisioning.CauseLimits, provisioning.CauseMinValues}
	causes = slices.DeleteFunc(causes, func(c provisioning.Cause) bool { return !slices.Contains(known, c) })
	slices.Sort(causes)
	return slices.Compact(causes)
}

// eased returns an input in which a pod has no cause of a kind any more, and the pod there.
func eased(in provisioning.Input, pod *corev1.Pod, cause provisioning.Cause) (provisioning.Input, *corev1.Pod) {
	switch cause {
	case provisioning.CauseLimits, provisioning.CauseMinValues, provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity:
		return relieved(in, pod, cause)
	}
	out := pod.DeepCopy()
	in.Pods = slices.Clone(in.Pods)
	in.Pods[slices.Index(in.Pods, pod)] = out
	switch cause {
	case provisioning.CauseTaints:
		out.Spec.Tolerations = append(out.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
	case provisioning.CauseHostPorts:
		withoutPorts(out)
	case provisioning.CauseVolumes:
		out.Spec.Volumes = nil
	case provisioning.CauseDevices:
		out.Spec.ResourceClaims = nil
	case provisioning.CauseInvalid, provisioning.CauseRequirements, provisioning.CauseInstanceTypes, provisioning.CauseOfferings:
		out.Spec.NodeSelector = nil
		if out.Spec.Affinity != nil {
			out.Spec.Affinity.NodeAffinity = nil
		}
	case provisioning.CauseResources: // of which volumes are one, where types attach so many
		withoutRequests(out)
		out.Spec.Volumes = nil
	}
	return in, out
}

func withoutPorts(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Ports = nil
		}
	}
}

func withoutRequests(pod *corev1.Pod) {
	pod.Spec.Overhead, pod.Spec.Resources = nil, nil
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Resources = corev1.ResourceRequirements{}
		}
	}
}

// TestMinValuesWithinLimits: a node that keeps two types counts as the larger, which
// the limit does not bear; the smaller alone would do. The minimum is to blame.
func TestMinValuesWithinLimits(t *testing.T) {
	t.Parallel()
	for need, cause := range map[int]provisioning.Cause{1: "", 2: provisioning.CauseMinValues} {
		pool := scenes.Pool("general")
		pool.Spec.Limits = v1.Limits(resources.MustParse("memory=16Gi").ResourceList())
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &need,
		})
		in := provisioning.Input{
			NodePools: []*v1.NodePool{pool}, Pods: []*corev1.Pod{scenes.Pod("web", "1", "1Gi")},
			InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {
				scenes.Type("small", "cpu=4, memory=8Gi, pods=20", 0.2, "linux"),
				scenes.Type("large", "cpu=16, memory=32Gi, pods=20", 0.8, "linux"),
			}},
		}
		plan := solved(t, in, nil)
		require.Empty(t, verify.Plan(in, plan, nil))
		if cause == "" {
			require.Empty(t, plan.Unplaced)
			continue
		}
		require.Len(t, plan.Unplaced, 1)
		reason := plan.Unplaced[0].Explanation.Pools[0]
		require.Equal(t, cause, reason.Cause)
		require.Contains(t, reason.Detail, "it demands 2 values of node.kubernetes.io/instance-type, and only 1 can be had for the pod within what its limits leave (")
		t.Log(reason.Detail)
	}
}

// TestMinValuesWithoutWhatLimitsForbid: the second zone is to be had with the small type as
// well, if dearer than with one that is larger than the limit.
func TestMinValuesWithoutWhatLimitsForbid(t *testing.T) {
	t.Parallel()
	pool := scenes.Pool("general")
	pool.Spec.Limits = v1.Limits(resources.MustParse("memory=16Gi").ResourceList())
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpExists, MinValues: new(2),
	})
	small, large := scenes.Type("small", "cpu=4, memory=8Gi, pods=20", 0.2, "linux"), scenes.Type("large", "cpu=16, memory=32Gi, pods=20", 0.8, "linux")
	for i := range small.Offerings {
		if small.Offerings[i].Zone == "b" {
			small.Offerings[i].Price = 0.9
		}
	}
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": {small, large}}}
	for i := range 4 {
		in.Pods = append(in.Pods, scenes.Pod("web-"+string(rune('a'+i)), "1800m", "1Gi")) // two to a node
	}
	for _, policy := range []provisioning.MinValuesPolicy{provisioning.Strict, provisioning.BestEffort} {
		opts := &provisioning.Options{MinValues: policy}
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts))
		require.Empty(t, plan.Unplaced)
		require.Len(t, plan.Create, 2)
		for i := range plan.Create {
			require.False(t, plan.Create[i].MinValuesRelaxed)
			for _, o := range plan.Create[i].Options {
				require.Equal(t, "small", o.InstanceType.Name)
			}
		}
	}
}

// TestMinValuesOfNodesThatPodsJoin: a node of a type with two architectures has as many as
// the pool demands until a pod joins that asks for one. It is marked then, or the pod goes
// elsewhere.
func TestMinValuesOfNodesThatPodsJoin(t *testing.T) {
	t.Parallel()
	in := randproblem.New(5_019_145)
	in.NodePools = slices.DeleteFunc(in.NodePools, func(p *v1.NodePool) bool { return p.Name != "pool-b" })
	in.NodePools[0].Spec.Limits = nil
	in.NodePools[0].Spec.Template.Spec.Requirements = append(in.NodePools[0].Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpExists, MinValues: new(2),
	})
	opts := &provisioning.Options{MinValues: provisioning.BestEffort}
	plan := solved(t, in, opts)
	require.Empty(t, verify.Plan(in, plan, opts))
	require.Empty(t, verify.Unplaced(in, plan, opts))
}
