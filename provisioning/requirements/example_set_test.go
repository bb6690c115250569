package requirements_test

import (
	"errors"
	"fmt"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

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
