package catalog_test

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func ExampleAll() {
	types := catalog.All()
	fmt.Println(len(types), "types")
	for _, t := range types {
		if t.Name != "c7g.xlarge" {
			continue
		}
		machine, _ := t.Requirements.Get(awsv1.LabelInstanceMemory)
		fmt.Println(machine)
		fmt.Println("memory of a node in MiB:", t.Capacity.Get("memory")>>20)
		for _, o := range t.Offerings[:2] {
			fmt.Printf("%s for %.4f USD per hour\n", o.Key(t.Name), o.Price)
		}
	}
	// Output:
	// 989 types
	// karpenter.k8s.aws/instance-memory = 8192
	// memory of a node in MiB: 7518
	// c7g.xlarge/us-east-1a/on-demand for 0.1450 USD per hour
	// c7g.xlarge/us-east-1a/spot for 0.0477 USD per hour
}

func ExampleNew() {
	types, err := catalog.New(&catalog.Options{
		Region: "eu-west-1",
		Zones:  []catalog.Zone{{Name: "eu-west-1a"}, {Name: "eu-west-1b"}},
		Where: requirements.MustParse("karpenter.k8s.aws/instance-gpu-manufacturer = nvidia, " +
			"karpenter.k8s.aws/instance-cpu = 8, karpenter.sh/capacity-type = spot"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	seen := map[string]bool{}
	for _, o := range launch.Compatible(types, requirements.Set{}) {
		if !seen[o.InstanceType.Name] {
			fmt.Printf("%-12s %s %.4f\n", o.InstanceType.Name, o.Offering.Zone, o.Offering.Price)
		}
		seen[o.InstanceType.Name] = true
	}
	// Output:
	// g6f.2xlarge  eu-west-1a 0.2578
	// g5g.2xlarge  eu-west-1b 0.3322
	// g4dn.2xlarge eu-west-1b 0.3429
	// g6.2xlarge   eu-west-1a 0.3856
	// g5.2xlarge   eu-west-1a 0.4521
	// g6e.2xlarge  eu-west-1a 1.3270
	// p3.2xlarge   eu-west-1a 1.5246
}

func ExampleNew_faults() {
	_, err := catalog.New(&catalog.Options{
		Families: []string{"m5", "g5x"},
		Types:    []string{"m5.3xlarge"},
	})
	fmt.Println(err)
	// Output:
	// fake: catalog options: Families[1]: there is no family "g5x"; name one as in m5, and a type as in m5.large; those alike are g3, g3s, g4ad, g4dn, g5, g5g, g6, g6e, g6f
	// Types[0]: the family m5 has no size "3xlarge"; it comes as large, xlarge, 2xlarge, 4xlarge, 8xlarge, 12xlarge, 16xlarge, 24xlarge, metal
}

func ExampleVocabulary() {
	v := catalog.Vocabulary()
	fmt.Println(v.WellKnown("karpenter.k8s.aws/instance-family"))
	fmt.Println(requirements.DefaultVocabulary().WellKnown("karpenter.k8s.aws/instance-family"))
	// Output:
	// true
	// false
}

func ExampleWellKnownLabels() {
	for _, key := range catalog.WellKnownLabels() {
		if strings.Contains(key, "gpu") {
			fmt.Println(key)
		}
	}
	// Output:
	// karpenter.k8s.aws/instance-gpu-count
	// karpenter.k8s.aws/instance-gpu-manufacturer
	// karpenter.k8s.aws/instance-gpu-memory
	// karpenter.k8s.aws/instance-gpu-name
}

func ExampleNodePoolRules() {
	pool := &v1.NodePool{}
	pool.Name = "general"
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "karpenter.k8s.aws/instance-colour", Operator: corev1.NodeSelectorOpIn, Values: []string{"red"}},
	}
	pool.Default()
	fmt.Println(len(pool.Validate()), len(pool.ValidateWith(catalog.NodePoolRules())))
	// Output: 0 1
}

func ExampleRead() {
	types, err := catalog.Read([]byte(`
instanceTypes:
- name: big
  requirements:
  - {key: kubernetes.io/arch, operator: In, values: [amd64]}
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  capacity: {cpu: 16, memory: 64Gi, pods: 110}
  overhead: {cpu: 100m, memory: 1Gi}
  offerings:
  - {zone: cellar, capacityType: on-demand, price: 0.31}
  - {zone: attic, capacityType: on-demand, price: 0.29}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	allocatable, err := types[0].Allocatable()
	fmt.Println(types[0].Name, allocatable, err)
	for _, o := range types[0].Offerings {
		fmt.Println(o.Zone, o.CapacityType, o.Price, o.Available)
	}
	// Output:
	// big cpu=15900m, memory=63Gi, pods=110 <nil>
	// attic on-demand 0.29 true
	// cellar on-demand 0.31 true
}

func ExampleRead_faults() {
	_, err := catalog.Read([]byte(`
instanceTypes:
- name: big
  requirements:
  - {key: kubernetes.io/arch, operator: Is, values: [amd64]}
  capacity: {cpu: sixteen, memory: 64Gi}
  offerings:
  - {zone: cellar, capacityType: on-demand, prize: 0.31}
`))
	fmt.Println(err)
	// Output:
	// instance type big: requirements[0]: label "kubernetes.io/arch": operator "Is" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte
	// instance type big: capacity: resource cpu: "sixteen" is not a quantity; write a number with an optional suffix, as in 500m, 2 or 8Gi
	// instance type big: unknown field "offerings[0].prize"; use the fields in the comment of catalog.Read, each once
}

func ExampleAllNetworkInterfaces() {
	m5 := catalog.AllNetworkInterfaces()["m5.large"]
	fmt.Println(m5.Count, "interfaces of", m5.Addresses, "addresses")
	// Output: 3 interfaces of 10 addresses
}

func ExampleSorted() {
	types, err := catalog.New(&catalog.Options{Types: []string{"m5.large", "c5.large"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	types[0], types[1] = types[1], types[0]
	sorted, err := catalog.Sorted(types)
	fmt.Println(types[0].Name, "first, then", sorted[0].Name, err)
	_, err = catalog.Sorted([]*cloudprovider.InstanceType{types[0], types[0]})
	fmt.Println(err)
	// Output:
	// m5.large first, then c5.large <nil>
	// instance type m5.large: there is another one of that name; keep one
}
