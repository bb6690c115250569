package convert_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

const oldClass = `# nodes of the shop
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata:
  name: shop
spec:
  amiFamily: Bottlerocket
  subnetSelector:
    karpenter.sh/discovery: ${CLUSTER_NAME} # set by the pipeline
  securityGroupSelector:
    aws-ids: sg-1,sg-2
`

func ExampleBytes() {
	text, notes := convert.Bytes([]byte(oldClass), &convert.Options{AMIVersion: "v1.20.3"})
	fmt.Print(string(text))
	for _, n := range notes {
		if n.Severity >= convert.Warning {
			fmt.Println(n)
		}
	}
	// Output:
	// # nodes of the shop
	// apiVersion: karpenter.k8s.aws/v1
	// kind: EC2NodeClass
	// metadata:
	//   name: shop
	// spec:
	//   amiSelectorTerms:
	//     - alias: bottlerocket@v1.20.3
	//   subnetSelectorTerms:
	//     - tags:
	//         karpenter.sh/discovery: ${CLUSTER_NAME} # set by the pipeline
	//   securityGroupSelectorTerms:
	//     - id: sg-1
	//     - id: sg-2
	//   role: $KARPENTER_NODE_ROLE
	//   metadataOptions:
	//     httpPutResponseHopLimit: 2
	// line 2: action: AWSNodeTemplate shop: spec.role: replace $KARPENTER_NODE_ROLE by the IAM role of nodes, or name an instanceProfile: the default of the global settings is not known here
}

// The kubelet settings of a pool belong to its class now, so both are converted
// together, wherever they stand.
func ExampleConvert() {
	pool := convert.Source{Name: "pool.yaml", Data: []byte(`apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: shop
spec:
  template:
    spec:
      requirements: []
      nodeClassRef:
        name: shop
      kubelet:
        maxPods: 50
`)}
	class := convert.Source{Name: "class.yaml", Data: []byte(oldClass)}
	r := convert.Convert(&convert.Options{Role: "shop-nodes"}, pool, class)
	fmt.Print(string(r.Stream()))
	fmt.Println("changed:", r.Changed(), "- worst note:", convert.Worst(r.Notes))
	// Output:
	// apiVersion: karpenter.sh/v1
	// kind: NodePool
	// metadata:
	//   name: shop
	// spec:
	//   template:
	//     spec:
	//       requirements: []
	//       nodeClassRef:
	//         group: karpenter.k8s.aws
	//         kind: EC2NodeClass
	//         name: shop
	//   disruption:
	//     consolidationPolicy: WhenEmptyOrUnderutilized
	//     consolidateAfter: 0s
	// ---
	// # nodes of the shop
	// apiVersion: karpenter.k8s.aws/v1
	// kind: EC2NodeClass
	// metadata:
	//   name: shop
	// spec:
	//   amiSelectorTerms:
	//     - alias: bottlerocket@latest
	//   subnetSelectorTerms:
	//     - tags:
	//         karpenter.sh/discovery: ${CLUSTER_NAME} # set by the pipeline
	//   securityGroupSelectorTerms:
	//     - id: sg-1
	//     - id: sg-2
	//   role: shop-nodes
	//   metadataOptions:
	//     httpPutResponseHopLimit: 2
	//   kubelet:
	//     maxPods: 50
	// changed: true - worst note: warning
}

func ExampleWorst() {
	fmt.Println(convert.Worst([]convert.Note{{Severity: convert.Info}, {Severity: convert.Action}}))
	fmt.Println(convert.Worst(nil) >= convert.Action)
	// Output:
	// action
	// false
}
