package resources_test

import (
	"math/rand"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func BenchmarkFits(b *testing.B) {
	need, available := parse("cpu=1, memory=1Gi, pods=1"), parse("cpu=4, ephemeral-storage=20Gi, memory=16Gi, nvidia.com/gpu=1, pods=58")
	for b.Loop() {
		need.Fits(available)
	}
}

func BenchmarkAdd(b *testing.B) {
	l, m := parse("cpu=1, memory=1Gi, pods=1"), parse("cpu=4, ephemeral-storage=20Gi, memory=16Gi, pods=58")
	for b.Loop() {
		if _, err := l.Add(m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	l := parse("cpu=4, ephemeral-storage=20Gi, memory=16Gi, nvidia.com/gpu=1, pods=58")
	for b.Loop() {
		l.Get(corev1.ResourcePods)
	}
}

func BenchmarkFromResourceList(b *testing.B) {
	rl := quantities("cpu=1500m, ephemeral-storage=20Gi, memory=1536Mi, pods=58")
	for b.Loop() {
		if _, err := resources.FromResourceList(rl); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPodRequests(b *testing.B) {
	plain := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("main", "cpu=500m, memory=1Gi")}}}
	for _, bb := range []struct {
		name string
		pod  *corev1.Pod
	}{{"plain", plain}, {"full", randomPod(rand.New(rand.NewSource(3)))}} {
		b.Run("pod="+bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := resources.PodRequests(bb.pod); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := resources.Parse("cpu=3920m, ephemeral-storage=20Gi, memory=14Gi, pods=58"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkString(b *testing.B) {
	l := parse("cpu=3920m, ephemeral-storage=20Gi, memory=14Gi, pods=58")
	for b.Loop() {
		_ = l.String()
	}
}
