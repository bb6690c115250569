package scenes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Type returns an instance type with offerings in zones a and b, on demand and, at half the price,
// as spot.
func Type(name, capacity string, price float64, systems ...string) *cloudprovider.InstanceType {
	t := &cloudprovider.InstanceType{
		Name:     name,
		Capacity: resources.MustParse(capacity),
		Overhead: cloudprovider.Overhead{
			KubeReserved:      resources.MustParse("cpu=100m, memory=200Mi"),
			EvictionThreshold: resources.MustParse("memory=100Mi"),
		},
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, name),
			requirements.In(corev1.LabelArchStable, "amd64"),
			requirements.In(corev1.LabelOSStable, systems...),
			requirements.In(corev1.LabelTopologyZone, "a", "b"),
			requirements.In(corev1.LabelTopologyRegion, "r"),
			requirements.In(v1.CapacityTypeLabelKey, "on-demand", "spot"),
			requirements.DoesNotExist(corev1.LabelWindowsBuild),
		),
	}
	for _, zone := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			cloudprovider.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: true},
			cloudprovider.Offering{Zone: zone, CapacityType: "spot", Price: price / 2, Available: true},
		)
	}
	return t
}

// Options returns all ways to launch the types.
func Options(types ...*cloudprovider.InstanceType) []cloudprovider.LaunchOption {
	var options []cloudprovider.LaunchOption
	for _, t := range types {
		for i := range t.Offerings {
			options = append(options, cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]})
		}
	}
	slices.SortFunc(options, cloudprovider.LaunchOption.Compare)
	return options
}

// Pool returns a NodePool without requirements.
func Pool(name string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	return pool
}

// Pod asks for CPU and memory and nothing else.
func Pod(name, cpu, memory string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse("cpu=" + cpu + ", memory=" + memory).ResourceList(),
	}}}
	return pod
}

// Node has 2 CPU and 4Gi.
func Node(name string, labels map[string]string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	labels[corev1.LabelHostname] = name
	node.Status.Capacity = resources.MustParse("cpu=2, memory=4Gi, pods=8").ResourceList()
	node.Status.Allocatable = resources.MustParse("cpu=1900m, memory=3796Mi, pods=8").ResourceList()
	return node
}

// Generic returns an input with one pool without requirements, and pods of 50 shapes that request
// only CPU and memory, as small as those of Karpenter's own benchmark.
func Generic(pods, types int) provisioning.Input {
	catalog := fake.Catalog()
	catalog = catalog[:min(types, len(catalog))]
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "fake", Kind: "NodeClass", Name: "default"}
	pool.Default()
	in := provisioning.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"default": catalog},
		Vocabulary:    fake.Vocabulary(),
	}
	cpus := []int{100, 200, 250, 400, 500, 750, 1000, 1250, 1500, 2000}
	memories := []int{128, 256, 1024, 2048, 4096}
	for i := range pods {
		cpu, memory := cpus[(i*7)%len(cpus)], memories[(i*3+i/50)%len(memories)]
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("pod-%06d", i)}}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: resources.MustParse(fmt.Sprintf("cpu=%dm, memory=%dMi", cpu, memory)).ResourceList(),
		}}}
		in.Pods = append(in.Pods, pod)
	}
	return in
}
