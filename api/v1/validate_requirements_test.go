package v1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestValidateRequirements(t *testing.T) {
	type requirement = v1.NodeSelectorRequirementWithMinValues
	const at = "spec.requirements[0]"
	for name, tc := range map[string]struct {
		req                  requirement
		pool, claim, overlay []string // what each kind says; the path of a pool begins with spec.template
	}{
		"in": {req: requirement{Key: "a", Operator: "In", Values: []string{"b"}}},
		"in without values": {
			req:     requirement{Key: "a", Operator: "In"},
			pool:    []string{at + `.values: Required value: operator In needs at least one value`},
			claim:   []string{at + `.values: Required value: operator In needs at least one value`},
			overlay: []string{at + `.values: Required value: operator In needs at least one value`},
		},
		"not in without values": {
			req:     requirement{Key: "a", Operator: "NotIn"},
			overlay: []string{at + `.values: Required value: operator NotIn needs at least one value; use Exists to ask for the label alone`},
		},
		"exists":                  {req: requirement{Key: "a", Operator: "Exists"}},
		"exists with values":      {req: requirement{Key: "a", Operator: "DoesNotExist", Values: []string{"b"}}},
		"greater":                 {req: requirement{Key: "a", Operator: "Gt", Values: []string{"0"}}},
		"greater or equal":        {req: requirement{Key: "a", Operator: v1.NodeSelectorOpGte, Values: []string{"10"}}},
		"less or equal, no value": same(requirement{Key: "a", Operator: v1.NodeSelectorOpLte}, at+`.values: Invalid value: null: operator Lte needs exactly one value, a whole number of 0 or more`),
		"less, two values":        same(requirement{Key: "a", Operator: "Lt", Values: []string{"1", "2"}}, at+`.values: Invalid value: ["1","2"]: operator Lt needs exactly one value, a whole number of 0 or more`),
		"less, a fraction":        same(requirement{Key: "a", Operator: "Lt", Values: []string{"1.5"}}, at+`.values[0]: Invalid value: "1.5": operator Lt needs exactly one value, a whole number of 0 or more`),
		"no operator":             same(requirement{Key: "a"}, at+`.operator: Required value: use one of DoesNotExist, Exists, Gt, Gte, In, Lt, Lte, NotIn`),
		"unknown operator":        same(requirement{Key: "a", Operator: "in"}, at+`.operator: Unsupported value: "in": supported values: "DoesNotExist", "Exists", "Gt", "Gte", "In", "Lt", "Lte", "NotIn"`),
		"no key":                  same(requirement{Operator: "Exists"}, at+`.key: Required value: a requirement needs a label key`),
		"host name":               same(requirement{Key: corev1.LabelHostname, Operator: "Exists"}, at+`.key: Forbidden: the host name of a new node cannot be known; remove "kubernetes.io/hostname"`),
		"reserved":                same(requirement{Key: "karpenter.sh/registered", Operator: "Exists"}, at+`.key: Forbidden: domains that end in "karpenter.sh" are reserved, except for the key "karpenter.sh/capacity-type"; use a domain of your own for "karpenter.sh/registered"`),
		"pool": {
			req:  requirement{Key: "karpenter.sh/nodepool", Operator: "Exists"},
			pool: []string{at + `.key: Forbidden: the pool of a node is set for you; remove "karpenter.sh/nodepool"`},
		},
		"alias":                        {req: requirement{Key: "beta.kubernetes.io/arch", Operator: "In", Values: []string{"amd64"}}},
		"capacity types, some unknown": {req: requirement{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"spot", "cheap"}}},
		"capacity types, none known": {
			req:     requirement{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"cheap"}},
			pool:    []string{at + `.values: Invalid value: ["cheap"]: karpenter.sh/capacity-type knows none of these values; use on-demand, reserved, spot`},
			overlay: []string{at + `.values: Invalid value: ["cheap"]: karpenter.sh/capacity-type knows none of these values; use on-demand, reserved, spot`},
		},
		"capacity types, excluded": {req: requirement{Key: "karpenter.sh/capacity-type", Operator: "NotIn", Values: []string{"cheap"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p, c, o := pool(), claim(), overlay()
			p.Spec.Template.Spec.Requirements = []requirement{tc.req}
			c.Spec.Requirements = []requirement{tc.req}
			o.Spec.Requirements = []v1.NodeSelectorRequirement{{Key: tc.req.Key, Operator: tc.req.Operator, Values: tc.req.Values}}
			got := messages(p.Validate())
			for i := range got {
				got[i] = strings.Replace(got[i], "spec.template.spec.", "spec.", 1)
			}
			require.Equal(t, tc.pool, got)
			require.Equal(t, tc.claim, messages(c.Validate()))
			require.Equal(t, tc.overlay, messages(o.Validate()))
		})
	}
}

// same returns a requirement that all kinds judge alike.
func same(req v1.NodeSelectorRequirementWithMinValues, want ...string) (tc struct {
	req                  v1.NodeSelectorRequirementWithMinValues
	pool, claim, overlay []string
}) {
	tc.req, tc.pool, tc.claim, tc.overlay = req, want, want, want
	return tc
}

func TestValidateMinValues(t *testing.T) {
	validate := func(req v1.NodeSelectorRequirementWithMinValues) []string {
		c := claim()
		c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{req}
		p := pool()
		p.Spec.Template.Spec.Requirements = c.Spec.Requirements
		claims, pools := messages(c.Validate()), messages(p.Validate())
		for i := range pools {
			pools[i] = strings.Replace(pools[i], "spec.template.spec.", "spec.", 1)
		}
		require.Subset(t, pools, claims)
		return pools
	}
	require.Empty(t, validate(v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "Exists", MinValues: new(50)}))
	require.Empty(t, validate(v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "In", Values: []string{"b", "c"}, MinValues: new(2)}))
	require.Equal(t, []string{`spec.requirements[0].minValues: Invalid value: 0: want 1 to 50`},
		validate(v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "Exists", MinValues: new(0)}))
	require.Equal(t, []string{`spec.requirements[0].minValues: Invalid value: 51: want 1 to 50`},
		validate(v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "Exists", MinValues: new(51)}))
	require.Equal(t, []string{`spec.requirements[0].minValues: Invalid value: 3: only 2 values are listed; list more or lower minValues`},
		validate(v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "In", Values: []string{"b", "c"}, MinValues: new(3)}))
	require.Equal(t, []string{`spec.requirements[0].values: Invalid value: ["spot","cheap"]: minValues asks for 2, but karpenter.sh/capacity-type knows only 1 of these values; use on-demand, reserved, spot`},
		validate(v1.NodeSelectorRequirementWithMinValues{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"spot", "cheap"}, MinValues: new(2)}))
}

func TestValidateRequirementBounds(t *testing.T) {
	c := claim()
	for range 101 {
		c.Spec.Requirements = append(c.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: "a", Operator: "Exists"})
	}
	require.Equal(t, []string{`spec.requirements: Too many: 101: must have at most 100 items`}, messages(c.Validate()))

	c.Spec.Requirements = c.Spec.Requirements[:1]
	c.Spec.Requirements[0].Key = strings.Repeat("a", 317)
	require.Len(t, c.Validate(), 1)
	require.Contains(t, messages(c.Validate())[0], "spec.requirements[0].key: Too long: may not be more than 316")

	p := pool()
	p.Spec.Template.Spec.Requirements = c.Spec.Requirements
	got := messages(p.Validate())
	require.Contains(t, got[0], "spec.template.spec.requirements[0].key: Too long: may not be more than 316")
	require.Contains(t, got[1], "not a label key: name part must be no more than 63")
}

// TestValidateClaimNames: the form of a name counts for a claim, its length
// only for a pool.
func TestValidateClaimNames(t *testing.T) {
	long := strings.Repeat("a", 64)
	for key, good := range map[string]bool{
		"a": true, "A-b_c.9": true, "example.com/A": true, "9a.b-c/x": true, long: true, "example.com/" + long: true,
		"-a": false, "a-": false, "a b": false, "a/b/c": false, "/a": false, "a/": false, "Example.com/a": false,
		"example..com/a": false, "-e.com/a": false, "é": false,
	} {
		c := claim()
		c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: key, Operator: "Exists"}}
		require.Equal(t, good, len(c.Validate()) == 0, key)
		c = claim()
		c.Spec.Taints = []corev1.Taint{{Key: key, Effect: "NoSchedule"}}
		require.Equal(t, good, len(c.Validate()) == 0, key)

		p := pool()
		p.Spec.Template.Spec.Taints = c.Spec.Taints
		require.Equal(t, good && !strings.HasSuffix(key, long), len(p.Validate()) == 0, key)
	}
}

// TestValidateClaimValues: a claim is made from pods, which may exclude values
// that no label can have.
func TestValidateClaimValues(t *testing.T) {
	c, p := claim(), pool()
	c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "a", Operator: "NotIn", Values: []string{"no good"}}}
	require.Empty(t, c.Validate())
	p.Spec.Template.Spec.Requirements = c.Spec.Requirements
	require.Len(t, p.Validate(), 1)
}
