package convert_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/api/convert"
)

// The kubelet settings of a pool belong to its class now, so both are converted
// together, wherever they are.
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
	class := convert.Source{Name: "class.yaml", Data: []byte(`# nodes of the shop
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata:
  name: shop
spec:
  amiFamily: Bottlerocket
  subnetSelector:
    karpenter.sh/discovery: ${CLUSTER_NAME}
  securityGroupSelector:
    aws-ids: sg-1,sg-2
`)}
	r := convert.Convert([]convert.Source{pool, class}, &convert.Options{AMIVersion: "v1.20.3"})
	fmt.Print(string(r.Stream()))
	for _, n := range r.Notes {
		if n.Severity >= convert.Action {
			fmt.Println(n)
		}
	}
	// Output:
	// apiVersion: karpenter.sh/v1
	// kind: NodePool
	// metadata:
	//   name: shop
	// spec:
	//   template:
	//     spec:
	//       nodeClassRef:
	//         group: karpenter.k8s.aws
	//         kind: EC2NodeClass
	//         name: shop
	//       requirements: []
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
	//   kubelet:
	//     maxPods: 50
	//   subnetSelectorTerms:
	//     - tags:
	//         karpenter.sh/discovery: ${CLUSTER_NAME}
	//   securityGroupSelectorTerms:
	//     - id: sg-1
	//     - id: sg-2
	//   role: $KARPENTER_NODE_ROLE
	//   amiSelectorTerms:
	//     - alias: bottlerocket@v1.20.3
	//   metadataOptions:
	//     httpPutResponseHopLimit: 2
	// class.yaml:6: action: AWSNodeTemplate shop: spec.role: replace $KARPENTER_NODE_ROLE by the IAM role of nodes, or name an instanceProfile: the default of the global settings is not known here
}

func ExampleWorst() {
	fmt.Println(convert.Worst([]convert.Note{{Severity: convert.Info}, {Severity: convert.Action}}))
	fmt.Println(convert.Worst(nil) >= convert.Action)
	// Output:
	// action
	// false
}
