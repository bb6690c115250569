package requirements_test

import (
	"fmt"

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
