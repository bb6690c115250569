package v1_test

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
)

func Example() {
	c, err := v1.DecodeEC2NodeClass([]byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  role: KarpenterNodeRole-demo
  amiSelectorTerms: [{alias: al2023@v20250920}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Default()
	fmt.Println("faults:", len(c.Validate()))
	fmt.Println("family:", c.ResolvedAMIFamily())
	fmt.Println("hash:", c.Hash(""), v1.EC2NodeClassHashVersion)
	// Output:
	// faults: 0
	// family: AL2023
	// hash: 477699353285763520 v6
}

func ExampleDecodeEC2NodeClass() {
	_, err := v1.DecodeEC2NodeClass([]byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  subnetSelector: {karpenter.sh/discovery: demo}
  rolle: nodes
`))
	fmt.Println(strings.ReplaceAll(err.Error(), "; s", "\ns"))
	// Output:
	// EC2NodeClass "default": spec.rolle: Forbidden: unknown field; did you mean "role"?
	// spec.subnetSelector: Forbidden: unknown field; write spec.subnetSelectorTerms, a list of terms
}

func ExampleDecodeEC2NodeClasses() {
	classes, err := v1.DecodeEC2NodeClasses([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
`))
	fmt.Println(len(classes), classes[0].Name, err)
	// Output: 1 default <nil>
}

func ExampleEC2NodeClass_Validate() {
	c := class()
	c.Spec.SubnetSelectorTerms[0].ID = "subnet-0a"
	c.Spec.Tags = map[string]string{"karpenter.sh/nodepool": "mine"}
	c.Spec.BlockDeviceMappings = []v1.BlockDeviceMapping{{RootVolume: true}}
	for _, fault := range c.Validate() {
		fmt.Println(fault)
	}
	// Output:
	// spec.subnetSelectorTerms[0].tags: Forbidden: does not go with id, which decides alone; put it in a term of its own, or remove it
	// spec.tags[karpenter.sh/nodepool]: Forbidden: this tag is set by the controller; remove it
	// spec.blockDeviceMappings[0].deviceName: Required value: name the device, such as /dev/xvda
	// spec.blockDeviceMappings[0].ebs: Required value: describe the volume, such as {volumeSize: 20Gi, volumeType: gp3}
}

func ExampleEC2NodeClass_Hash() {
	c := class()
	before := c.Hash("")
	c.Spec.SubnetSelectorTerms = nil
	fmt.Println("subnets:", c.Hash("") != before)
	c.Spec.Tags = map[string]string{"team": "a"}
	fmt.Println("tags:", c.Hash("") != before)
	// Output:
	// subnets: false
	// tags: true
}

func ExampleEC2NodeClass_Default() {
	c := class()
	c.Default()
	fmt.Println(*c.Spec.MetadataOptions.HTTPTokens, *c.Spec.MetadataOptions.HTTPPutResponseHopLimit)
	// Output: required 1
}

func ExampleEC2NodeClass_AMITerms() {
	c := class()
	queries, err := amiselect.Queries(c.AMITerms(), amiselect.Environment{KubernetesVersion: "1.33"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, query := range queries[:1] {
		fmt.Println(query.Kind, query.Parameter)
	}
	// Output: Parameter /aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id
}

func ExampleNodePoolRules() {
	pool := &karpv1.NodePool{}
	pool.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: v1.Group, Kind: v1.EC2NodeClassKind, Name: "default"}
	pool.Spec.Template.Spec.Requirements = []karpv1.NodeSelectorRequirementWithMinValues{
		{Key: v1.LabelInstanceFamily, Operator: "In", Values: []string{"m7g"}},
		{Key: v1.Group + "/instance-famly", Operator: "In", Values: []string{"m7g"}},
	}
	for _, fault := range pool.ValidateWith(v1.NodePoolRules()) {
		fmt.Println(fault)
	}
	// Output:
	// spec.template.spec.requirements[1].key: Forbidden: "karpenter.k8s.aws/instance-famly" is not a label of the provider, and domains that end in "karpenter.k8s.aws" are reserved; use a domain of your own
}

func ExampleVocabulary() {
	v := v1.Vocabulary()
	fmt.Println(v.WellKnown(v1.LabelInstanceCPU), v.NormalizeKey(v1.LabelEBSTopologyZone))
	// Output: true topology.kubernetes.io/zone
}

func ExampleInstanceProfileName() {
	fmt.Println(v1.InstanceProfilePath("demo", "eu-west-1", "6f9c1c3e"))
	fmt.Println(v1.InstanceProfileName("demo", "eu-west-1", "default", "some-random-text"))
	// Output:
	// /karpenter/eu-west-1/demo/6f9c1c3e/
	// demo_902863787525239202
}

func ExampleIsRestrictedTag() {
	fmt.Println(v1.IsRestrictedTag(v1.ClusterTagKey("demo")), v1.IsRestrictedTag("dovetail/turn"), v1.IsRestrictedTag("team"))
	// Output: true true false
}

func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	fmt.Println(v1.AddToScheme(scheme), scheme.Recognizes(v1.GroupVersion.WithKind(v1.EC2NodeClassKind)))
	// Output: <nil> true
}

func ExampleKubeletConfiguration() {
	c, err := v1.DecodeEC2NodeClass([]byte(`{
		"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
		"spec": {"kubelet": {"maxPods": 50, "podPidsLimit": 1024}}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Spec.Kubelet.MaxPods, c.Spec.Kubelet.Extra)
	// Output: 50 map[podPidsLimit:1024]
}

func ExampleKubeletConfiguration_EvaluateExpressions() {
	k := &v1.KubeletConfiguration{
		MaxPods:      new(intstr.FromString("min(110, max_pods)")),
		KubeReserved: map[string]string{"cpu": "max(60, vcpus * 30)", "memory": "11 * max_pods + 255"},
	}
	for _, x := range k.Expressions() {
		fmt.Println(x.Field, x.Text)
	}
	pods := func(maxPods *int32) int64 {
		if maxPods != nil {
			return int64(*maxPods)
		}
		return 58 // by addresses
	}
	own, err := k.EvaluateExpressions(kubeletcel.New(), v1.ExpressionVariables{InstanceType: "m5.xlarge", VCPUs: 4, MemoryMiB: 16384}, pods)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(own.MaxPods, own.KubeReserved)
	// Output:
	// spec.kubelet.maxPods min(110, max_pods)
	// spec.kubelet.kubeReserved[cpu] max(60, vcpus * 30)
	// spec.kubelet.kubeReserved[memory] 11 * max_pods + 255
	// 58 map[cpu:120m memory:896Mi]
}

func ExampleEC2NodeClass_ValidateExpressions() {
	c := class()
	c.Spec.Kubelet = &v1.KubeletConfiguration{KubeReserved: map[string]string{"cpu": "100mm"}}
	fmt.Println(len(c.Validate()), c.ValidateExpressions(kubeletcel.New())[0])
	// Output: 0 spec.kubelet.kubeReserved[cpu]: Invalid value: "100mm": line 1, column 4: Syntax error: extraneous input 'mm' expecting <EOF>
}

func ExampleReadyConditions() {
	for _, condition := range v1.ReadyConditions(false)[:3] {
		fmt.Println(condition)
	}
	// Output:
	// AMIsReady
	// InstanceProfileReady
	// PlacementGroupReady
}

func ExampleEC2NodeClass_InstanceProfileTags() {
	tags := class().InstanceProfileTags("demo", "eu-west-1")
	fmt.Println(tags[v1.ClusterTagKey("demo")], tags[v1.NodeClassTagKey])
	// Output: owned default
}
