package instancetype_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// evaluator knows some expressions, and notes the variables that it was given.
type evaluator struct {
	asked []string
}

func (e *evaluator) Check(string) error { return nil }

func (e *evaluator) Evaluate(text string, v awsv1.ExpressionVariables) (int64, error) {
	e.asked = append(e.asked, fmt.Sprintf("%s of %+v", text, v))
	switch text {
	case "half of the pods":
		return v.MaxPods / 2, nil
	case "eleven for each pod":
		return v.MaxPods * 11, nil
	case "beyond":
		return 1 << 62, nil
	}
	return 0, errors.New("unknown")
}

func TestExpressionsAreEvaluatedForEachMachine(t *testing.T) {
	e := &evaluator{}
	s, err := instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{
		MaxPods:        new(intstr.FromString("half of the pods")),
		PodsPerCore:    new(int32(11)),
		KubeReserved:   map[string]string{"memory": "eleven for each pod", "cpu": "100m"},
		SystemReserved: map[string]string{"pid": "eleven for each pod"},
	}), e)
	require.NoError(t, err)
	require.Empty(t, e.asked)
	require.Nil(t, s.Evaluated())
	require.EqualValues(t, 22, s.Pods(m5largeMachine(), instancetype.Cluster{}), "as if maxPods were not set")

	large := m5largeMachine()
	large.Name = "m5.large"
	own, err := s.For(large, instancetype.Cluster{})
	require.NoError(t, err)
	require.EqualValues(t, 11, own.Pods(large, instancetype.Cluster{}))
	require.Equal(t, []string{
		"half of the pods of {InstanceType:m5.large VCPUs:2 MemoryMiB:8192 DefaultENIs:3 IPsPerENI:10 MaxPods:22}",
		"eleven for each pod of {InstanceType:m5.large VCPUs:2 MemoryMiB:8192 DefaultENIs:3 IPsPerENI:10 MaxPods:11}",
		"eleven for each pod of {InstanceType:m5.large VCPUs:2 MemoryMiB:8192 DefaultENIs:3 IPsPerENI:10 MaxPods:11}",
	}, e.asked)
	require.Equal(t, &awsv1.KubeletConfiguration{
		MaxPods:        new(intstr.FromInt32(11)),
		PodsPerCore:    new(int32(11)),
		KubeReserved:   map[string]string{"memory": "128Mi", "cpu": "100m"},
		SystemReserved: map[string]string{"pid": "121"},
	}, own.Evaluated())
	got := own.Overhead(large, resources.New(map[corev1.ResourceName]int64{
		corev1.ResourceCPU: 2000, corev1.ResourceMemory: 8 << 30, corev1.ResourcePods: 11,
	}))
	require.EqualValues(t, 128<<20, got.KubeReserved.Get(corev1.ResourceMemory))
	require.EqualValues(t, 100, got.KubeReserved.Get(corev1.ResourceCPU))

	again, err := own.For(large, instancetype.Cluster{})
	require.NoError(t, err)
	require.Equal(t, own, again, "there is nothing left to evaluate")
	other, err := s.For(large, instancetype.Cluster{ReservedInterfaces: 2})
	require.NoError(t, err)
	require.EqualValues(t, 5, other.Pods(large, instancetype.Cluster{ReservedInterfaces: 2}), "of 11 addresses")
}

func TestExpressionsWithoutAValue(t *testing.T) {
	k := &awsv1.KubeletConfiguration{MaxPods: new(intstr.FromString("half of the pods")), KubeReserved: map[string]string{"cpu": "lots"}}
	_, err := instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, k), nil)
	require.ErrorContains(t, err, `maxPods: "half of the pods" is not a number; write one, or set an evaluator for expressions`)
	require.ErrorContains(t, err, `kubeReserved: cpu: "lots" is no quantity`)

	s, err := instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, k), &evaluator{})
	require.NoError(t, err)
	_, err = s.For(m5largeMachine(), instancetype.Cluster{})
	require.ErrorContains(t, err, `spec.kubelet.kubeReserved[cpu]: "lots"`)

	s, err = instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{SystemReserved: map[string]string{"memory": "beyond"}}), &evaluator{})
	require.NoError(t, err)
	_, err = s.For(m5largeMachine(), instancetype.Cluster{})
	require.ErrorContains(t, err, "spec.kubelet: systemReserved: memory")

	_, err = instancetype.NewSettings(kubeletClass(amiselect.FamilyAL2023, &awsv1.KubeletConfiguration{
		MaxPods: new(intstr.FromString("half of the pods")), EvictionHard: map[string]string{"memory.available": "lots"},
	}), &evaluator{})
	require.ErrorContains(t, err, "memory.available", "what is no expression is read at once")
}
