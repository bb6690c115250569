package requirements_test

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// A pod that may run in either of two zones meets a NodePool that has one of
// them.
func Example() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1b", "us-east-1c"}},
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	pod.Spec.NodeSelector = map[string]string{"team": "shop"}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1a"}},
				}},
				{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1b"}},
				}},
			},
		},
	}}

	vocabulary := requirements.DefaultVocabulary()
	have, err := requirements.FromNodePool(pool, vocabulary)
	if err != nil {
		fmt.Println(err)
		return
	}
	want, err := requirements.FromPod(pod, vocabulary)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, alternative := range want.Alternatives {
		fmt.Printf("alternative %d: %s\n", i+1, alternative.Set)
		for _, conflict := range have.Conflicts(alternative.Set, vocabulary) {
			fmt.Println("  ", conflict)
		}
	}
	// Output:
	// alternative 1: team = shop, topology.kubernetes.io/zone = us-east-1a
	//    wanted team = shop, but label team is not defined here
	//    wanted topology.kubernetes.io/zone = us-east-1a, but have topology.kubernetes.io/zone in (us-east-1b, us-east-1c)
	// alternative 2: team = shop, topology.kubernetes.io/zone = us-east-1b
	//    wanted team = shop, but label team is not defined here
}

func ExampleFromLabels() {
	have := requirements.FromLabels(map[string]string{
		"beta.kubernetes.io/arch": "arm64", // an old name of kubernetes.io/arch
		"team":                    "shop",
	}, nil)
	fmt.Println(have)
	fmt.Println(have.Compatible(requirements.MustParse("kubernetes.io/arch = arm64, !gpu"), requirements.EmptyVocabulary()))
	// Output:
	// kubernetes.io/arch = arm64, team = shop
	// true
}

func ExampleFromNodeSelectorRequirements() {
	set, err := requirements.FromNodeSelectorRequirements([]corev1.NodeSelectorRequirement{
		{Key: "cpu", Operator: corev1.NodeSelectorOpGt, Values: []string{"4"}},
		{Key: "cpu", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"16"}},
	}, nil)
	fmt.Println(set, err)

	_, err = requirements.FromNodeSelectorRequirements([]corev1.NodeSelectorRequirement{
		{Key: "cpu", Operator: corev1.NodeSelectorOpGt, Values: []string{"four"}},
	}, nil)
	fmt.Println(err)
	// Output:
	// cpu > 4, cpu notin (16) <nil>
	// [0].values: Invalid value: ["four"]: label "cpu": operator Gt needs exactly one integer of at most 64 bits, found ["four"]; write one such as "4"
}

func ExampleFromRequirements() {
	three := 3
	set, err := requirements.FromRequirements([]v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists, MinValues: &three},
		{Key: "cpu", Operator: v1.NodeSelectorOpGte, Values: []string{"4"}},
	}, nil)
	fmt.Println(set, err)
	// Output:
	// cpu > 3, node.kubernetes.io/instance-type minvalues 3 <nil>
}

func ExampleFromNodePool() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Labels = map[string]string{"team": "shop"}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{
		Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default",
	}
	set, err := requirements.FromNodePool(pool, nil)
	fmt.Println(set, err)
	// Output:
	// karpenter.k8s.aws/ec2nodeclass = default, karpenter.sh/nodepool = general, team = shop <nil>
}

func ExampleFromNodeClaim() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "general-7xk2p", Labels: map[string]string{v1.NodePoolLabelKey: "general"},
	}}
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"spot"}},
	}
	set, err := requirements.FromNodeClaim(claim, nil)
	fmt.Println(set, err)
	// Output:
	// karpenter.sh/capacity-type = spot, karpenter.sh/nodepool = general <nil>
}

func ExampleFromPod() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	pod.Spec.NodeSelector = map[string]string{"team": "shop"}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{}, // an empty term matches no node
				{MatchFields: []corev1.NodeSelectorRequirement{
					{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-1"}},
				}},
			},
		},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 50, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}},
			}}},
		},
	}}
	want, err := requirements.FromPod(pod, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range want.Alternatives {
		fmt.Println("must have", a.Set, "and", a.NodeNames)
	}
	for _, p := range want.Preferences {
		fmt.Println("prefers", p.Set, "by", p.Weight)
	}
	// Output:
	// must have team = shop and metadata.name = node-1
	// prefers kubernetes.io/arch = arm64 by 50
}

func ExampleFromNodeSelector() {
	volume := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "failure-domain.beta.kubernetes.io/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}},
		}},
	}}
	alternatives, err := requirements.FromNodeSelector(volume, nil)
	fmt.Println(alternatives[0].Set, err)
	// Output:
	// topology.kubernetes.io/zone = a <nil>
}

func ExampleNew() {
	r, err := requirements.New("cpu", "Gt", "4")
	fmt.Println(r, err)
	_, err = requirements.New("cpu", "In")
	fmt.Println(err)
	// Output:
	// cpu > 4 <nil>
	// label "cpu": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent
}

func ExampleIn() {
	fmt.Println(requirements.In("zone", "b", "a"))
	fmt.Println(requirements.In("zone", "a"))
	fmt.Println(requirements.In("zone"), requirements.In("zone").Impossible())
	// Output:
	// zone in (a, b)
	// zone = a
	// zone in () true
}

func ExampleNotIn() {
	r := requirements.NotIn("zone", "a")
	fmt.Println(r, r.Has("a"), r.Has("b"), r.AllowsAbsent())
	// Output:
	// zone notin (a) false true true
}

func ExampleExists() {
	r := requirements.Exists("gpu")
	fmt.Println(r, r.Has("anything"), r.AllowsAbsent())
	// Output:
	// gpu true false
}

func ExampleDoesNotExist() {
	r := requirements.DoesNotExist("gpu")
	fmt.Println(r, r.Has("anything"), r.AllowsAbsent())
	// Output:
	// !gpu false true
}

func ExampleGt() {
	r := requirements.Gt("cpu", 4)
	fmt.Println(r, r.Has("4"), r.Has("5"), r.Has("005"), r.Has("many"))
	fmt.Println(requirements.Gt("cpu", math.MaxInt64).Impossible())
	// Output:
	// cpu > 4 false true true false
	// true
}

func ExampleGte() {
	fmt.Println(requirements.Gte("cpu", 4))
	fmt.Println(requirements.Gte("cpu", 0))
	// Output:
	// cpu > 3
	// cpu >= 0
}

func ExampleLt() {
	fmt.Println(requirements.Lt("cpu", 16))
	// Output:
	// cpu < 16
}

func ExampleLte() {
	fmt.Println(requirements.Lte("cpu", 16))
	// Output:
	// cpu < 17
}

func ExampleRequirement_Key() {
	fmt.Println(requirements.Exists("team").Key())
	// Output:
	// team
}

func ExampleRequirement_WithMinValues() {
	r := requirements.Exists("instance-family").WithMinValues(3)
	fmt.Println(r)
	fmt.Println(r.Intersect(requirements.In("instance-family", "c5", "m5")))
	// Output:
	// instance-family minvalues 3
	// instance-family in (c5, m5) minvalues 3
}

func ExampleRequirement_MinValues() {
	fmt.Println(requirements.Exists("zone").WithMinValues(2).MinValues())
	// Output:
	// 2
}

func ExampleRequirement_Has() {
	r := requirements.Gt("cpu", 4).Intersect(requirements.NotIn("cpu", "8"))
	fmt.Println(r.Has("6"), r.Has("8"), r.Has("08"))
	// Output:
	// true false true
}

func ExampleRequirement_AllowsAbsent() {
	fmt.Println(requirements.NotIn("gpu", "a").AllowsAbsent())
	fmt.Println(requirements.NotIn("gpu", "a").Intersect(requirements.Exists("gpu")).AllowsAbsent())
	// Output:
	// true
	// false
}

func ExampleRequirement_AllowsPresent() {
	fmt.Println(requirements.NotIn("gpu", "a").AllowsPresent())
	fmt.Println(requirements.DoesNotExist("gpu").AllowsPresent())
	// Output:
	// true
	// false
}

// An empty intersection is not the same as DoesNotExist: no label will do, not
// even none.
func ExampleRequirement_Impossible() {
	r := requirements.In("team", "a").Intersect(requirements.NotIn("team", "a"))
	fmt.Println(r, r.Impossible(), r.AllowsAbsent())
	fmt.Println(requirements.DoesNotExist("team").Impossible())
	// Output:
	// team in () true false
	// false
}

func ExampleRequirement_Values() {
	fmt.Println(requirements.In("zone", "c", "a", "b").Intersect(requirements.NotIn("zone", "b")).Values())
	fmt.Println(requirements.NotIn("zone", "b").Values())
	// Output:
	// [a c] true
	// [] false
}

func ExampleRequirement_Any() {
	fmt.Println(requirements.In("zone", "b", "a").Any())
	fmt.Println(requirements.Gt("cpu", 4).Intersect(requirements.NotIn("cpu", "5")).Any())
	fmt.Println(requirements.Exists("team").Any())
	_, ok := requirements.DoesNotExist("team").Any()
	fmt.Println(ok)
	// Output:
	// a true
	// 6 true
	// 0 true
	// false
}

func ExampleRequirement_Intersect() {
	cpu := requirements.Gt("cpu", 4).Intersect(requirements.Lt("cpu", 16))
	fmt.Println(cpu)
	fmt.Println(cpu.Intersect(requirements.NotIn("cpu", "8", "32")))
	fmt.Println(cpu.Intersect(requirements.In("cpu", "4", "8", "16")))
	fmt.Println(cpu.Intersect(requirements.DoesNotExist("cpu")))
	// Output:
	// cpu > 4, cpu < 16
	// cpu > 4, cpu < 16, cpu notin (8)
	// cpu = 8
	// cpu in ()
}

func ExampleRequirement_Overlaps() {
	fmt.Println(requirements.In("zone", "a", "b").Overlaps(requirements.In("zone", "b", "c")))
	fmt.Println(requirements.NotIn("zone", "a").Overlaps(requirements.DoesNotExist("zone")))
	fmt.Println(requirements.Exists("zone").Overlaps(requirements.DoesNotExist("zone")))
	// Output:
	// true
	// true
	// false
}

func ExampleRequirement_Equal() {
	fmt.Println(requirements.Gt("cpu", 3).Equal(requirements.Gte("cpu", 4)))
	fmt.Println(requirements.In("cpu").Equal(requirements.DoesNotExist("cpu")))
	// Output:
	// true
	// false
}

func ExampleRequirement_String() {
	fmt.Println(requirements.In("zone", "a", "b"))
	fmt.Println(requirements.In("note", "needs quotes"))
	fmt.Println(requirements.Exists("gpu").Intersect(requirements.NotIn("gpu", "t4")))
	// Output:
	// zone in (a, b)
	// note = "needs quotes"
	// gpu, gpu notin (t4)
}

// AppendText makes a map key without allocating: the compiler does not copy the
// bytes for a lookup.
func ExampleRequirement_AppendText() {
	ids := map[string]int{"zone = a": 7}
	var buffer []byte
	buffer, _ = requirements.In("zone", "a").AppendText(buffer[:0])
	fmt.Println(ids[string(buffer)])
	// Output:
	// 7
}

func ExampleRequirement_MarshalText() {
	text, err := requirements.In("zone", "a").MarshalText()
	fmt.Println(string(text), err)
	// Output:
	// zone = a <nil>
}

func ExampleRequirement_NodeSelectorRequirements() {
	r := requirements.Gt("cpu", 4).Intersect(requirements.NotIn("cpu", "8"))
	for _, e := range r.NodeSelectorRequirements() {
		fmt.Println(e.Key, e.Operator, e.Values)
	}
	for _, e := range requirements.In("team").NodeSelectorRequirements() { // impossible
		fmt.Println(e.Key, e.Operator)
	}
	// Output:
	// cpu Gte [5]
	// cpu NotIn [8]
	// team Exists
	// team DoesNotExist
}

func ExampleNewSet() {
	set := requirements.NewSet(
		requirements.In("zone", "a", "b"),
		requirements.Exists("gpu"),
		requirements.NotIn("zone", "b"),
	)
	fmt.Println(set)
	// Output:
	// gpu, zone = a
}

func ExampleParse() {
	set, err := requirements.Parse("zone in (a, b), arch = arm64, cpu > 4, cpu <= 16, gpu, !spot, team notin (x)")
	fmt.Println(set, err)
	_, err = requirements.Parse("zone in (a, b")
	fmt.Println(err)
	// Output:
	// arch = arm64, cpu > 4, cpu < 17, gpu, !spot, team notin (x), zone in (a, b) <nil>
	// requirements: byte 13 of "zone in (a, b": found the end of the text, want "," or ")"
}

func ExampleMustParse() {
	fmt.Println(requirements.MustParse("zone = b, zone in (a, b)"))
	// Output:
	// zone = b
}

func ExampleSyntaxError() {
	_, err := requirements.Parse("zone is a")
	var syntax *requirements.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Println(syntax.Offset, syntax.Found)
	}
	// Output:
	// 5 "is"
}

func ExampleSyntaxError_Error() {
	_, err := requirements.Parse("cpu > four")
	fmt.Println(err)
	// Output:
	// requirements: byte 6 of "cpu > four": found "four", want a whole number of at most 64 bits
}

func ExampleSet_Get() {
	set := requirements.MustParse("zone = a")
	fmt.Println(set.Get("zone"))
	fmt.Println(set.Get("team"))
	// Output:
	// zone = a true
	// team notin () false
}

func ExampleSet_All() {
	for r := range requirements.MustParse("zone = a, !gpu, arch = arm64").All() {
		fmt.Println(r.Key(), "|", r)
	}
	// Output:
	// arch | arch = arm64
	// gpu | !gpu
	// zone | zone = a
}

func ExampleSet_Len() {
	fmt.Println(requirements.MustParse("cpu > 4, cpu < 16, !gpu").Len())
	// Output:
	// 2
}

func ExampleSet_With() {
	set := requirements.MustParse("zone in (a, b)")
	fmt.Println(set.With(requirements.NotIn("zone", "b"), requirements.Exists("gpu")))
	// Output:
	// gpu, zone = a
}

func ExampleSet_Without() {
	fmt.Println(requirements.MustParse("zone = a, gpu, arch = arm64").Without("gpu", "team"))
	// Output:
	// arch = arm64, zone = a
}

func ExampleSet_Intersect() {
	pool := requirements.MustParse("zone in (a, b), arch = arm64")
	pod := requirements.MustParse("zone in (b, c), team = shop")
	fmt.Println(pool.Intersect(pod))
	// Output:
	// arch = arm64, team = shop, zone = b
}

func ExampleSet_Impossible() {
	fmt.Println(requirements.MustParse("cpu > 4, cpu < 5").Impossible())
	fmt.Println(requirements.MustParse("!cpu").Impossible())
	// Output:
	// true
	// false
}

func ExampleSet_Equal() {
	fmt.Println(requirements.MustParse("a, b >= 4").Equal(requirements.MustParse("b > 3, a")))
	// Output:
	// true
}

func ExampleSet_Matches() {
	set := requirements.MustParse("zone in (a, b), cpu > 4, !gpu")
	fmt.Println(set.Matches(map[string]string{"zone": "a", "cpu": "8"}))
	fmt.Println(set.Matches(map[string]string{"zone": "a", "cpu": "8", "gpu": "t4"}))
	// Output:
	// true
	// false
}

func ExampleSet_Compatible() {
	pool := requirements.MustParse("kubernetes.io/arch = arm64")
	pod := requirements.MustParse("topology.kubernetes.io/zone = a")
	// A node that is to be launched can be launched in zone a; a node that
	// exists and has no zone is not in it.
	fmt.Println(pool.Compatible(pod, nil))
	fmt.Println(pool.Compatible(pod, requirements.EmptyVocabulary()))
	// Output:
	// true
	// false
}

func ExampleSet_Conflicts() {
	pool := requirements.MustParse("kubernetes.io/arch = arm64, example.com/team in (shop, search)")
	pod := requirements.MustParse("kubernetes.io/arch = amd64, example.com/taem = shop")
	for _, c := range pool.Conflicts(pod, requirements.DefaultVocabulary()) {
		fmt.Println(c)
	}
	// Output:
	// wanted example.com/taem = shop, but label example.com/taem is not defined here; did you mean example.com/team?
	// wanted kubernetes.io/arch = amd64, but have kubernetes.io/arch = arm64
}

func ExampleConflict_String() {
	have, want := requirements.MustParse("zone in (a, b, c, d, e, f, g)"), requirements.MustParse("zone = x")
	fmt.Println(have.Conflicts(want, requirements.EmptyVocabulary())[0].String())
	// Output:
	// wanted zone = x, but have zone in (a, b, c, d, e and 2 more)
}

func ExampleSet_String() {
	fmt.Println(requirements.MustParse("b in (y,x), a != 1").String())
	// Output:
	// a notin (1), b in (x, y)
}

func ExampleSet_AppendText() {
	line, _ := requirements.MustParse("zone = a").AppendText([]byte("needs "))
	fmt.Println(string(line))
	// Output:
	// needs zone = a
}

func ExampleSet_MarshalText() {
	text, err := requirements.MustParse("zone=a,!gpu").MarshalText()
	fmt.Println(string(text), err)
	// Output:
	// !gpu, zone = a <nil>
}

func ExampleSet_UnmarshalText() {
	var set requirements.Set
	err := set.UnmarshalText([]byte("zone in (a, b)"))
	fmt.Println(set, err)
	// Output:
	// zone in (a, b) <nil>
}

func ExampleSet_NodeSelectorRequirements() {
	for _, e := range requirements.MustParse("zone in (a, b), gpu, gpu notin (t4)").NodeSelectorRequirements() {
		fmt.Println(e.Key, e.Operator, e.Values)
	}
	// Output:
	// gpu Exists []
	// gpu NotIn [t4]
	// zone In [a b]
}

func ExampleDefaultVocabulary() {
	v := requirements.DefaultVocabulary()
	fmt.Println(v.WellKnown("topology.kubernetes.io/zone"), v.WellKnown("team"))
	// Output:
	// true false
}

func ExampleVocabulary_Extend() {
	v := requirements.DefaultVocabulary().Extend(requirements.Extension{
		WellKnown:         []string{"cloud.example.com/instance-family"},
		RestrictedDomains: []string{"cloud.example.com"},
		Aliases:           map[string]string{"topology.csi.example.com/zone": "topology.kubernetes.io/zone"},
	})
	fmt.Println(v.WellKnown("cloud.example.com/instance-family"))
	fmt.Println(v.CheckKey("cloud.example.com/instance-family"))
	fmt.Println(v.NormalizeKey("topology.csi.example.com/zone"))
	// Output:
	// true
	// <nil>
	// topology.kubernetes.io/zone
}

func ExampleVocabulary_WellKnown() {
	fmt.Println(requirements.DefaultVocabulary().WellKnown("kubernetes.io/arch"))
	// Output:
	// true
}

func ExampleVocabulary_Aliases() {
	fmt.Println(requirements.DefaultVocabulary().Aliases()["beta.kubernetes.io/arch"])
	// Output: kubernetes.io/arch
}

func ExampleVocabulary_NormalizeKey() {
	fmt.Println(requirements.DefaultVocabulary().NormalizeKey("failure-domain.beta.kubernetes.io/zone"))
	// Output:
	// topology.kubernetes.io/zone
}

func ExampleVocabulary_NormalizeValue() {
	v := requirements.DefaultVocabulary().Extend(requirements.Extension{
		ValueAliases: map[string]map[string]string{"topology.kubernetes.io/zone": {"": "0"}},
	})
	fmt.Println(v.NormalizeValue("topology.kubernetes.io/zone", ""))
	// Output:
	// 0
}

func ExampleVocabulary_CheckKey() {
	v := new(requirements.Vocabulary).Extend(requirements.Extension{
		WellKnown:         []string{"example.com/size"},
		RestrictedDomains: []string{"example.com"},
	})
	fmt.Println(v.CheckKey("example.com/size"))
	fmt.Println(v.CheckKey("example.com/other"))
	// Output:
	// <nil>
	// label "example.com/other" is restricted, as it may interfere with the provisioning of nodes; use a label outside the domains example.com, or a well-known one: example.com/size (restricted here by example.com)
}

func ExampleVocabulary_CheckRequirement() {
	err := requirements.DefaultVocabulary().CheckRequirement(requirements.In("karpenter.sh/capacity-type", "spott"))
	fmt.Println(err)
	// Output:
	// label "karpenter.sh/capacity-type": no node can have any of the values spott; use some of on-demand, reserved, spot
}
