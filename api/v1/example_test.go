package v1_test

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func ExampleDecode() {
	_, err := v1.Decode([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  wieght: 10
  disruption:
    expireAfter: 720h
    budgets:
      - nodes: 5
`))
	var decodeError *v1.DecodeError
	if errors.As(err, &decodeError) {
		fmt.Println(decodeError.Kind, decodeError.Name)
		for _, fault := range decodeError.Faults {
			fmt.Println("-", fault)
		}
	}
	// Output:
	// NodePool default
	// - spec.disruption.budgets[0].nodes: Invalid value: 5: want a string, got a number; put it in quotes
	// - spec.disruption.expireAfter: Forbidden: unknown field; it belongs at spec.template.spec.expireAfter
	// - spec.wieght: Forbidden: unknown field; did you mean "weight"?
}

func ExampleDecodeNodePool() {
	pool, err := v1.DecodeNodePool([]byte(`{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}}`))
	fmt.Println(pool.Name, err)
	// Output: default <nil>
}

func ExampleDecodeAll() {
	objects, err := v1.DecodeAll([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: b}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range objects {
		fmt.Printf("%T\n", obj)
	}
	// Output:
	// *v1.NodePool
	// *v1.NodeOverlay
}

func ExampleDocuments() {
	docs, err := v1.Documents([]byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, doc := range docs {
		fmt.Println(doc.GroupVersionKind().Group, doc.GroupVersionKind().Kind, doc.Name())
	}
	// Output:
	// karpenter.k8s.aws EC2NodeClass default
	// karpenter.sh NodePool default
}

func ExampleDocument_Line() {
	docs, err := v1.Documents([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  wieght: 10
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = docs[0].Into(v1.GroupVersion.WithKind("NodePool"), &v1.NodePool{})
	var decodeError *v1.DecodeError
	if errors.As(err, &decodeError) {
		for _, fault := range decodeError.Faults {
			fmt.Printf("pool.yaml:%d: %v\n", docs[0].Line(fault.Field), fault)
		}
	}
	// Output:
	// pool.yaml:6: spec.wieght: Forbidden: unknown field; did you mean "weight"?
}

func ExampleNodePool_Default() {
	p := &v1.NodePool{}
	p.Default()
	fmt.Println(p.Spec.Template.Spec.ExpireAfter)
	fmt.Println(p.Spec.Disruption.ConsolidateAfter, p.Spec.Disruption.ConsolidationPolicy)
	fmt.Println(p.Spec.Disruption.Budgets[0].Nodes)
	// Output:
	// 720h
	// 0s WhenEmptyOrUnderutilized
	// 10%
}

func ExampleNodePool_Validate() {
	p := pool()
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: v1.CapacityTypeLabelKey, Operator: "In", Values: []string{"sport"}},
		{Key: "example.com/cores", Operator: "Gt", Values: []string{"many"}},
	}
	for _, fault := range p.Validate() {
		fmt.Println(fault)
	}
	// Output:
	// spec.template.spec.requirements[0].values: Invalid value: ["sport"]: karpenter.sh/capacity-type knows none of these values; use on-demand, reserved, spot
	// spec.template.spec.requirements[1].values[0]: Invalid value: "many": operator Gt needs exactly one value, a whole number of 0 or more
}

func ExampleNodePool_ValidateUpdate() {
	before, after := pool(), pool()
	replicas := int64(3)
	after.Spec.Replicas = &replicas
	fmt.Println(after.ValidateUpdate(before))
	// Output: [spec.replicas: Forbidden: a dynamic pool cannot become static; remove replicas, or create another pool]
}

func ExampleNodePool_Hash() {
	p := pool()
	p.Default()
	fmt.Println(p.Hash(), v1.NodePoolHashVersion)
	p.Spec.Template.Labels = map[string]string{"team": "a"}
	fmt.Println(p.Hash())
	// Output:
	// 6821555240594823858 v3
	// 1617844334411263980
}

func ExampleParseNillableDuration() {
	for _, text := range []string{"90m", "Never", "soon"} {
		d, err := v1.ParseNillableDuration(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(d, d.IsNever(), d.Duration != nil)
	}
	// Output:
	// 90m false true
	// Never true false
	// "soon" is not a duration; write one such as "720h" or "1h30m", or "Never"
}

func ExampleDocument_ValidateUpdate() {
	claim := func(expireAfter string) v1.Document {
		docs, err := v1.Documents([]byte(`
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  requirements: []
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  expireAfter: ` + expireAfter))
		if err != nil {
			panic(err)
		}
		return docs[0]
	}
	fmt.Println(claim("720h").ValidateUpdate(claim("720h")))
	fmt.Println(claim("43200m").ValidateUpdate(claim("720h")))
	// Output:
	// <nil>
	// NodeClaim "a": spec.expireAfter: Forbidden: the spec of a NodeClaim cannot be changed, not even the way a value is written; create another one
}

func ExampleValidateMetadata() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{
		Name: "spot", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Event", Name: "a", UID: "b"}},
	}}
	for _, fault := range v1.ValidateMetadata(&pool.ObjectMeta) {
		fmt.Println(fault)
	}
	// Output:
	// metadata.ownerReferences[0].kind: Forbidden: an Event owns nothing; remove it
}

func ExampleDecodeNodeClaim() {
	claim, err := v1.DecodeNodeClaim([]byte(`{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "default-x7"}}`))
	fmt.Println(claim.Name, err)
	_, err = v1.DecodeNodeClaim([]byte(`{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}}`))
	fmt.Println(err)
	// Output:
	// default-x7 <nil>
	// NodePool "default": kind: Invalid value: "NodePool": want NodeClaim
}

func ExampleDecodeNodeOverlay() {
	overlay, err := v1.DecodeNodeOverlay([]byte(`
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: spot-risk}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  priceAdjustment: "+20%"
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(overlay.Name, *overlay.Spec.PriceAdjustment)
	// Output: spot-risk +20%
}

// DecodeInto puts the fields into a value that is already there, such as the node class of a
// provider; here it is a NodePool. A field that its Go type does not have is a fault.
func ExampleDecodeInto() {
	pool := &v1.NodePool{}
	kind := schema.GroupVersionKind{Group: "karpenter.sh", Version: "v1", Kind: "NodePool"}
	err := v1.DecodeInto([]byte(`{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {wieght: 3}}`), kind, pool)
	fmt.Println(err, pool.Name == "")
	err = v1.DecodeInto([]byte(`{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {weight: 3}}`), kind, pool)
	fmt.Println(err, *pool.Spec.Weight)
	// Output:
	// NodePool "a": spec.wieght: Forbidden: unknown field; did you mean "weight"? true
	// <nil> 3
}

// Durations of a NodePool that a program makes: a length, or Never.
func ExampleNewDuration() {
	pool := &v1.NodePool{}
	pool.Spec.Template.Spec.ExpireAfter = v1.NeverDuration()
	pool.Spec.Disruption.ConsolidateAfter = v1.NewDuration(10 * time.Minute)
	fmt.Println(pool.Spec.Template.Spec.ExpireAfter, pool.Spec.Disruption.ConsolidateAfter)
	// Output: Never 10m0s
}

// A provider says what it knows of labels: here that its own domain has one label which
// users may write, with three values.
func ExampleNodePool_ValidateWith() {
	pool := &v1.NodePool{}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "pond.example", Kind: "PondNodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "pond.example/family", Operator: "In", Values: []string{"standard"}},
		{Key: "pond.example/host", Operator: "Exists"},
	}
	for _, fault := range pool.ValidateWith(&v1.Rules{
		RestrictedDomains: []string{"pond.example"},
		WellKnownLabels:   []string{"pond.example/family"},
		KnownValues:       map[string][]string{"pond.example/family": {"gpu", "small", "std"}},
	}) {
		fmt.Println(fault)
	}
	// Output:
	// spec.template.spec.requirements[0].values: Invalid value: ["standard"]: pond.example/family knows none of these values; use gpu, small, std
	// spec.template.spec.requirements[1].key: Forbidden: "pond.example/host" is not a label of the provider, and domains that end in "pond.example" are reserved; use a domain of your own
}

func ExampleDocument_Into() {
	docs, err := v1.Documents([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, lables: {team: web}}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(docs[0].GroupVersionKind().Kind, docs[0].Name())
	fmt.Println(docs[0].Into(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, &corev1.Namespace{}))
	// Output:
	// Namespace shop
	// Namespace "shop": metadata.lables: Forbidden: unknown field; did you mean "labels"?
}

func ExampleNodeClaimTemplate_ToNodeClaim() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Labels = map[string]string{"team": "web"}
	claim := pool.Spec.Template.ToNodeClaim()
	claim.Name, claim.Labels[v1.NodePoolLabelKey] = "general-x7k2p", pool.Name
	fmt.Println(claim.Labels, pool.Spec.Template.Labels)
	// Output: map[karpenter.sh/nodepool:general team:web] map[team:web]
}

func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}
	kind, known := v1.GroupVersionKindOf(v1.NodeOverlayKind)
	fmt.Println(kind, known, scheme.Recognizes(kind))
	// Output: karpenter.sh/v1alpha1, Kind=NodeOverlay true true
}

func ExampleNodeClassLabelKey() {
	ref := &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	fmt.Println(v1.NodeClassLabelKey(ref.GroupKind()))
	// Output: karpenter.k8s.aws/ec2nodeclass
}

// What a machine has to join with, and what keeps pods from one that leaves or restarts.
func ExampleUnregisteredNoExecuteTaint() {
	for _, taint := range []corev1.Taint{v1.UnregisteredNoExecuteTaint(), v1.DisruptedNoScheduleTaint(), v1.RebootingNoScheduleTaint()} {
		fmt.Println(taint.ToString())
	}
	// Output:
	// karpenter.sh/unregistered:NoExecute
	// karpenter.sh/disrupted:NoSchedule
	// karpenter.sh/rebooting:NoSchedule
}

func ExampleDisruptionReasons() {
	fmt.Println(v1.DisruptionReasons(), v1.CapacityTypes())
	// Output: [Drifted Empty Underutilized Unhealthy] [on-demand reserved spot]
}

func ExampleNillableDuration_Equal() {
	hour := v1.MustParseNillableDuration("60m")
	fmt.Println(hour, hour.Equal(v1.NewDuration(time.Hour)), hour.Equal(v1.NeverDuration()), v1.NillableDuration{}.IsZero())
	// Output: 60m true false true
}
