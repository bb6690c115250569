package v1_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestNodeClaimValidate(t *testing.T) {
	c := claim()
	require.Empty(t, c.Validate())
	c.Spec = v1.NodeClaimSpec{
		Taints:                 []corev1.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "a", Effect: "NoSchedule"}, {}},
		StartupTaints:          []corev1.Taint{{Key: "b", Effect: "Soon"}},
		TerminationGracePeriod: &metav1.Duration{Duration: time.Millisecond},
		ExpireAfter:            v1.MustParseNillableDuration("-1h"),
	}
	before := c.DeepCopy()
	require.Equal(t, []string{
		`spec.taints[2].key: Required value: a taint needs a key`,
		`spec.taints[2].effect: Required value: use NoSchedule, PreferNoSchedule or NoExecute`,
		`spec.startupTaints[0].effect: Unsupported value: "Soon": supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"`,
		`spec.requirements: Required value: write an empty list, [], to admit every node`,
		`spec.nodeClassRef: Required value: name the provider's NodeClass by group, kind and name`,
		`spec.terminationGracePeriod: Invalid value: "1ms": want whole hours, minutes and seconds, not negative, such as 1h30m`,
		`spec.expireAfter: Invalid value: "-1h": want whole hours, minutes and seconds, not negative, such as 720h or 1h30m, or Never`,
	}, messages(c.Validate()))
	require.Equal(t, before, c)
}

func TestNodeOverlayPrices(t *testing.T) {
	for _, text := range []string{"0", "5", "0.5", "12.345"} {
		o := overlay()
		o.Spec.Price = &text
		require.Empty(t, o.Validate(), text)
	}
	for _, text := range []string{"", ".5", "5.", "-1", "+1", "1e3", "1,5", "$5", "5%"} {
		o := overlay()
		o.Spec.Price = &text
		require.Equal(t, []string{`spec.price: Invalid value: "` + text + `": want a decimal number without sign or unit, such as "0.5"`}, messages(o.Validate()))
	}
	for _, text := range []string{"+0.05", "-1.2", "+5", "-.5", "+10%", "+.5%", "+1000%", "-5%", "-15.5%", "-99.9%", "-100%"} {
		o := overlay()
		o.Spec.PriceAdjustment = &text
		require.Empty(t, o.Validate(), text)
	}
	for _, text := range []string{"", "5", "10%", "-101%", "-100.0%", "-.5%", "+", "-", "%", "+%", "-%", "+1.", "--1", "+1 %", "-5.%"} {
		o := overlay()
		o.Spec.PriceAdjustment = &text
		require.Equal(t, []string{`spec.priceAdjustment: Invalid value: "` + text +
			`": want a sign and an amount ("+0.05", "-1.2"), or a sign and a percentage ("+10%", "-15.5%", at the least "-100%")`}, messages(o.Validate()))
	}
}

func TestNodeOverlayValidate(t *testing.T) {
	one := resource.MustParse("1")
	o := overlay()
	o.Spec = v1.NodeOverlaySpec{
		Price: new("1"), PriceAdjustment: new("+1"), Weight: new(int32(10001)),
		Capacity: corev1.ResourceList{"pods": one, "cpu": one, "memory": one, "ephemeral-storage": one, "example.com/eni": one, "example.com/fuse": one},
	}
	before := o.DeepCopy()
	require.Equal(t, []string{
		`spec.requirements: Required value: write an empty list, [], to admit every node`,
		`spec.price: Forbidden: not together with priceAdjustment; remove one of the two`,
		`spec.capacity[cpu]: Forbidden: the provider reports this resource itself; an overlay can only set extended resources`,
		`spec.capacity[ephemeral-storage]: Forbidden: the provider reports this resource itself; an overlay can only set extended resources`,
		`spec.capacity[memory]: Forbidden: the provider reports this resource itself; an overlay can only set extended resources`,
		`spec.capacity[pods]: Forbidden: the provider reports this resource itself; an overlay can only set extended resources`,
		`spec.weight: Invalid value: 10001: want 1 to 10000; leave it out for the lowest weight, 0`,
	}, messages(o.Validate()))
	require.Len(t, o.ValidateWith(&v1.Rules{WellKnownResources: []corev1.ResourceName{"example.com/eni"}}), 8)
	require.Equal(t, before, o)
}

// TestNodePoolValidateUpdate has fields of two specs, and what is said of the change.
func TestNodePoolValidateUpdate(t *testing.T) {
	for _, tc := range []struct {
		old, now string
		want     []string
	}{
		{`{}`, `{}`, nil},
		{`{}`, `{template: {spec: {nodeClassRef: {name: other}}}}`, nil},
		{`{}`, `{template: {spec: {nodeClassRef: {group: g, kind: k, name: n}}}}`, []string{
			`spec.template.spec.nodeClassRef.group: Invalid value: "g": cannot be changed from "karpenter.k8s.aws"; create another pool`,
			`spec.template.spec.nodeClassRef.kind: Invalid value: "k": cannot be changed from "EC2NodeClass"; create another pool`,
		}},
		{`{}`, `{template: {spec: {nodeClassRef: null}}}`, nil},
		{`{replicas: 1}`, `{replicas: 2}`, nil},
		{`{}`, `{replicas: 1}`, []string{`spec.replicas: Forbidden: a dynamic pool cannot become static; remove replicas, or create another pool`}},
		{`{replicas: 1}`, `{}`, []string{`spec.replicas: Forbidden: a static pool cannot become dynamic; put replicas back, or create another pool`}},
	} {
		old, now := pool(), pool()
		require.NoError(t, yaml.Unmarshal([]byte(tc.old), &old.Spec))
		require.NoError(t, yaml.Unmarshal([]byte(tc.now), &now.Spec))
		require.Equal(t, tc.want, messages(now.ValidateUpdate(old)), tc.now)
	}
	require.Empty(t, pool().ValidateUpdate(nil))
	require.Empty(t, (*v1.NodePool)(nil).ValidateUpdate(pool()))
}

func TestNodeClaimValidateUpdate(t *testing.T) {
	old := claim()
	old.Spec.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1000m")}
	now := claim()
	now.Spec.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
	now.Spec.ExpireAfter = v1.MustParseNillableDuration("720h")
	now.Labels = map[string]string{"a": "b"}
	now.Status.NodeName = "n"
	require.Empty(t, now.ValidateUpdate(old), "written the same")

	const changed = ": Forbidden: the spec of a NodeClaim cannot be changed, not even the way a value is written; create another one"
	now.Spec.ExpireAfter = v1.MustParseNillableDuration("43200m")
	now.Spec.Taints = []corev1.Taint{}
	require.Equal(t, []string{"spec.taints" + changed, "spec.expireAfter" + changed}, messages(now.ValidateUpdate(old)))

	now.Spec = v1.NodeClaimSpec{
		Taints:                 []corev1.Taint{{Key: "a"}},
		StartupTaints:          []corev1.Taint{{Key: "a"}},
		Requirements:           []v1.NodeSelectorRequirementWithMinValues{{Key: "a"}},
		TerminationGracePeriod: &metav1.Duration{},
		ExpireAfter:            v1.NeverDuration(),
	}
	before := now.DeepCopy()
	var want []string
	for _, name := range []string{"taints", "startupTaints", "requirements", "resources", "nodeClassRef", "terminationGracePeriod", "expireAfter"} {
		want = append(want, "spec."+name+changed)
	}
	require.Equal(t, want, messages(now.ValidateUpdate(old)))
	require.Equal(t, before, now)
	require.Empty(t, now.ValidateUpdate(nil))
	require.Empty(t, overlay().ValidateUpdate(overlay()))
}

// TestNodeClaimNamesItsNodeClass has the requirements that Karpenter itself writes
// into each NodeClaim: its pool, and its NodeClass by the key of group and kind.
func TestNodeClaimNamesItsNodeClass(t *testing.T) {
	rules := &v1.Rules{RestrictedDomains: []string{"karpenter.k8s.aws"}}
	c := claim()
	c.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "private"}
	for _, key := range []string{"karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass"} {
		c.Spec.Requirements = append(c.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: "In", Values: []string{"private"}})
	}
	require.Empty(t, c.ValidateWith(rules))

	other := "karpenter.k8s.aws/pondnodeclass" // of a kind that is not the claim's
	c.Spec.Requirements[1].Key = other
	require.Equal(t, []string{`spec.requirements[1].key: Forbidden: "` + other +
		`" is not a label of the provider, and domains that end in "karpenter.k8s.aws" are reserved; use a domain of your own`,
	}, messages(c.ValidateWith(rules)))
	c.Spec.NodeClassRef = nil
	c.Spec.Requirements[1].Key = "karpenter.k8s.aws/ec2nodeclass"
	require.Len(t, c.ValidateWith(rules), 2)
}
