package provisioning_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// genericInput is one open pool and pods of 50 shapes that ask for nothing but
// CPU and memory, as small as those of Karpenter's own benchmark.
func genericInput(pods, types int) provisioning.Input {
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

func BenchmarkSolve(b *testing.B) {
	for _, pods := range []int{100, 1000, 5000, 20000, 100000} {
		in := genericInput(pods, 700)
		b.Run(fmt.Sprintf("family=generic/pods=%d/types=700", pods), func(b *testing.B) {
			problem, err := provisioning.Prepare(in, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var plan *provisioning.Plan
			for b.Loop() {
				if plan, err = problem.Solve(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pods)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			b.ReportMetric(plan.Cost/plan.LowerBound, "cost/bound")
			b.ReportMetric(float64(len(plan.Create)), "nodes")
		})
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, pods := range []int{1000, 5000, 100000} {
		in := genericInput(pods, 700)
		b.Run(fmt.Sprintf("family=generic/pods=%d/types=700", pods), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := provisioning.Prepare(in, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pods)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}
