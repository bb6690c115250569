package v1_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// sums is an evaluator for texts such as "vcpus 30 max_pods", the sum of its words.
type sums struct{}

func (sums) Check(text string) error {
	_, err := sums{}.Evaluate(text, v1.ExpressionVariables{})
	return err
}

func (sums) Evaluate(text string, v v1.ExpressionVariables) (sum int64, err error) {
	for _, word := range strings.Fields(text) {
		n, known := map[string]int64{
			"vcpus": v.VCPUs, "memory_mib": v.MemoryMiB, "default_enis": v.DefaultENIs, "ips_per_eni": v.IPsPerENI,
			"max_pods": v.MaxPods, "instance_type": int64(len(v.InstanceType)),
		}[word]
		if !known {
			if n, err = strconv.ParseInt(word, 10, 64); err != nil {
				return 0, errors.New("unknown word " + word)
			}
		}
		sum += n
	}
	return sum, nil
}

func kubelet(maxPods string, kube map[string]string) *v1.KubeletConfiguration {
	k := &v1.KubeletConfiguration{KubeReserved: kube}
	if maxPods != "" {
		k.MaxPods = new(intstr.FromString(maxPods))
	}
	return k
}

func TestExpressions(t *testing.T) {
	require.Nil(t, (*v1.KubeletConfiguration)(nil).Expressions())
	k := kubelet("vcpus 1", map[string]string{"pid": "vcpus", "cpu": "100m", "memory": "lots", "ephemeral-storage": "1e-99999999"})
	k.SystemReserved = map[string]string{"cpu": "vcpus * memory_mib", "memory": "-vcpus", "pid": ""}
	require.Equal(t, []v1.KubeletExpression{
		{Field: "spec.kubelet.maxPods", Text: "vcpus 1"},
		{Field: "spec.kubelet.systemReserved[cpu]", Text: "vcpus * memory_mib"},
		{Field: "spec.kubelet.kubeReserved[memory]", Text: "lots"},
		{Field: "spec.kubelet.kubeReserved[pid]", Text: "vcpus"},
	}, k.Expressions())
	k = &v1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(5)), SystemReserved: map[string]string{"cpu": "1"}}
	require.Nil(t, k.Expressions())
	require.Nil(t, kubelet("", nil).Expressions())
	require.Nil(t, (&v1.KubeletConfiguration{MaxPods: new(intstr.FromString(""))}).Expressions())
}

func TestValidateExpressions(t *testing.T) {
	c := class()
	require.Empty(t, c.ValidateExpressions(nil))
	require.Empty(t, (*v1.EC2NodeClass)(nil).ValidateExpressions(nil))
	c.Spec.Kubelet = kubelet("vcpus", map[string]string{"cpu": "lots"})
	require.Empty(t, c.Validate())
	require.Equal(t, []string{
		`spec.kubelet.maxPods: Forbidden: "vcpus" is an expression, and expressions are switched off; write a number or a quantity, or give an evaluator`,
		`spec.kubelet.kubeReserved[cpu]: Forbidden: "lots" is an expression, and expressions are switched off; write a number or a quantity, or give an evaluator`,
	}, messages(c.ValidateExpressions(nil)))
	require.Equal(t, []string{`spec.kubelet.kubeReserved[cpu]: Invalid value: "lots": unknown word lots`}, messages(c.ValidateExpressions(sums{})))
}

// TestAmountsAreThoseOfKarpenter: units and rounding are those of the provider
// 1.15.1, most cases those of its own test.
func TestAmountsAreThoseOfKarpenter(t *testing.T) {
	for _, test := range []struct{ key, text, want string }{
		{"cpu", "60", "60"}, {"cpu", "60 0", "60m"}, {"cpu", "61 0", "70m"}, {"cpu", "70 vcpus", "80m"}, {"cpu", "0 0", "0m"},
		{"cpu", "9223372036854775807 0", "9223372036854775807m"}, {"cpu", "500 0", "500m"},
		{"memory", "0 0", "0Mi"}, {"memory", "1 0", "16Mi"}, {"memory", "17 0", "32Mi"}, {"memory", "81 0", "96Mi"}, {"memory", "128 0", "128Mi"},
		{"ephemeral-storage", "3 0", "3Gi"}, {"pid", "71 0", "71"}, {"memory", "256Mi", "256Mi"},
		{"cpu", "max_pods 0", "20m"}, {"pid", "max_pods 0", "17"}, {"pid", "default_enis ips_per_eni", "13"},
		{"pid", "memory_mib instance_type", "8200"},
	} {
		k := kubelet("max_pods 7", map[string]string{test.key: test.text})
		out, err := k.EvaluateExpressions(sums{}, v1.ExpressionVariables{
			InstanceType: "m5.large", VCPUs: 2, MemoryMiB: 8192, DefaultENIs: 3, IPsPerENI: 10, MaxPods: 99,
		}, func(maxPods *int32) int64 {
			if maxPods == nil {
				return 10
			}
			return int64(*maxPods)
		})
		require.NoError(t, err, test.text)
		require.Equal(t, test.want, out.KubeReserved[test.key], test.text)
		require.Equal(t, intstr.FromInt32(17), *out.MaxPods, "by the number that there would be without it")
		require.Equal(t, intstr.FromString("max_pods 7"), *k.MaxPods, "inputs are not changed")
		require.Equal(t, test.text, k.KubeReserved[test.key])
	}
}

func TestEvaluateExpressionsThatHaveNoValue(t *testing.T) {
	pods := func(*int32) int64 { return 10 }
	large := v1.ExpressionVariables{InstanceType: "m5.large", VCPUs: 2}
	for maxPods, want := range map[string]string{
		"-5 vcpus":      `spec.kubelet.maxPods: "-5 vcpus" for m5.large: it is -3; make it zero or more, as by max`,
		"2147483647 1":  `spec.kubelet.maxPods: "2147483647 1" for m5.large: it is 2147483648; make it 2147483647 at most, as by min`,
		"something new": `spec.kubelet.maxPods: "something new" for m5.large: unknown word something`,
	} {
		_, err := kubelet(maxPods, map[string]string{"cpu": "lots"}).EvaluateExpressions(sums{}, large, pods)
		require.EqualError(t, err, want)
	}
	k := kubelet("", map[string]string{"cpu": "1 -9", "pid": "lots"})
	_, err := k.EvaluateExpressions(sums{}, large, pods)
	require.EqualError(t, err, `spec.kubelet.kubeReserved[cpu]: "1 -9" for m5.large: it is -8; make it zero or more, as by max`+"\n"+
		`spec.kubelet.kubeReserved[pid]: "lots" for m5.large: unknown word lots`)
	_, err = k.EvaluateExpressions(nil, large, pods)
	require.EqualError(t, err, "expressions are switched off; give an evaluator")

	none, err := (*v1.KubeletConfiguration)(nil).EvaluateExpressions(nil, large, nil)
	require.NoError(t, err)
	require.Nil(t, none)
	k = &v1.KubeletConfiguration{MaxPods: new(intstr.FromInt32(math.MaxInt32)), SystemReserved: map[string]string{"pid": "max_pods 1"}}
	out, err := k.EvaluateExpressions(sums{}, large, func(maxPods *int32) int64 { return int64(*cmpOr(maxPods, new(int32(1)))) })
	require.NoError(t, err)
	require.Equal(t, "2147483648", out.SystemReserved["pid"])
}

func cmpOr(p, other *int32) *int32 {
	if p == nil {
		return other
	}
	return p
}
