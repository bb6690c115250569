package kubeletcel_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
)

func large() awsv1.ExpressionVariables {
	return awsv1.ExpressionVariables{InstanceType: "m5.large", VCPUs: 2, MemoryMiB: 8192, DefaultENIs: 3, IPsPerENI: 10, MaxPods: 20}
}

// TestEvaluate has the cases of Karpenter's own test of its expressions, and more.
func TestEvaluate(t *testing.T) {
	e := kubeletcel.New()
	for text, want := range map[string]int64{
		"((default_enis - 1) * (ips_per_eni - 1)) + 2":                20,
		"min(250, ((default_enis - 1) * (ips_per_eni - 1)) * 16 + 2)": 250,
		"max(60, vcpus * 30)":                             60,
		"11 * max_pods + 255":                             475,
		"min(110, max_pods)":                              20,
		"max(vcpus, 60.5)":                                60,
		"min(110.5, max_pods)":                            20,
		`instance_type == "m5.large" ? vcpus * 2 : vcpus`: 4,
		"vcpus - 100":                                     -98,
		"max(3, 7)":                                       7,
		"max(3.9, 7.9)":                                   7,
		"max(3, 7.9)":                                     7,
		"max(7.9, 3)":                                     7,
		"min(3, 7)":                                       3,
		"min(3.9, 7.9)":                                   3,
		"min(3, 7.9)":                                     3,
		"min(7.9, 3)":                                     3,
		"double(memory_mib) * 0.5":                        4096,
		"memory_mib / 100":                                81,
		"110":                                             110,
		"-1.9":                                            -1,
		`instance_type.startsWith("m5.") && vcpus < 4 ? 1 : 2`:        1,
		"max(max(vcpus, default_enis), min(ips_per_eni, memory_mib))": 10,
		`{"m5.large": 7}[instance_type]`:                              7,
		"9223372036854775807 - vcpus + 2":                             9223372036854775807,
		"[vcpus, default_enis].map(n, n * 2)[1]":                      6,
	} {
		require.NoError(t, e.Check(text), text)
		n, err := e.Evaluate(text, large())
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
}

// TestOverflow: what people write fits in 64 bits on the largest machine there is.
func TestOverflow(t *testing.T) {
	huge := awsv1.ExpressionVariables{InstanceType: "u-24tb1.metal", VCPUs: 448, MemoryMiB: 25165824, DefaultENIs: 15, IPsPerENI: 50, MaxPods: 737}
	for text, want := range map[string]int64{"memory_mib / 100": 251658, "max_pods * 11": 8107, "memory_mib * 1024 * 1024": 26388279066624} {
		n, err := kubeletcel.New().Evaluate(text, huge)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	_, err := kubeletcel.New().Evaluate("memory_mib * 1024 * 1024 * 1024 * 1024", huge)
	require.ErrorContains(t, err, "overflow")
}

func TestNoValue(t *testing.T) {
	e := kubeletcel.New()
	for text, want := range map[string]string{
		"100 / (vcpus - vcpus)":           "division by zero",
		"100 % (vcpus - vcpus)":           "modulus by zero",
		"100.0 / 0.0":                     "it is +Inf; make it a number within 64 bits",
		"-100.0 / 0.0":                    "it is -Inf; make it a number within 64 bits",
		"0.0 / 0.0":                       "it is NaN; make it a number within 64 bits",
		"1e19":                            "it is 1e+19; make it a number within 64 bits",
		`{"m5.xlarge": 7}[instance_type]`: "no such key: m5.large",
		"[1,2,3,4,5,6,7,8].map(a, [1,2,3,4,5,6,7,8].map(b, [1,2,3,4,5,6,7,8].map(c, [1,2,3,4,5,6,7,8].map(d, [1,2,3,4,5,6,7,8].map(f, a)))))" +
			"[0][0][0][0][0]": "operation cancelled: actual cost limit exceeded",
	} {
		require.NoError(t, e.Check(text), text)
		_, err := e.Evaluate(text, large())
		require.EqualError(t, err, want, text)
	}
}

func TestCheck(t *testing.T) {
	e := kubeletcel.New()
	for text, want := range map[string]string{
		"":                         "it is empty; write a number or an expression",
		"100mm":                    "line 1, column 4: Syntax error: extraneous input 'mm' expecting <EOF>",
		"cpus":                     "line 1, column 1: undeclared reference to 'cpus' (in container '')",
		"vcpus * 0.5":              "line 1, column 7: found no matching overload for '_*_' applied to '(int, double)'",
		"max(1, 2, 3)":             "line 1, column 4: found no matching overload for 'max' applied to '(int, int, int)'",
		"instance_type":            "it is of type string; make it an int or a double",
		"vcpus > 3":                "it is of type bool; make it an int or a double",
		"dyn(vcpus)":               "it is of type dyn; make it an int or a double",
		"uint(vcpus)":              "it is of type uint; make it an int or a double",
		"a +\nb":                   "line 1, column 1: undeclared reference to 'a' (in container ''); line 2, column 1: undeclared reference to 'b' (in container '')",
		strings.Repeat("1", 10001): "it has 10001 bytes; use at most 10000",
	} {
		require.EqualError(t, e.Check(text), want, text)
		_, err := e.Evaluate(text, large())
		require.EqualError(t, err, want, text)
	}
}

func TestManyExpressionsAtOnce(t *testing.T) {
	e := kubeletcel.New()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := range 1500 {
				text := "vcpus + " + strings.Repeat("1", n%18+1) + strings.Repeat(" ", n)
				if _, err := e.Evaluate(text, large()); err != nil {
					t.Error(i, err)
				}
			}
		})
	}
	group.Wait()
}

// FuzzEvaluate feeds any text: what Check refuses has no value, and nothing panics.
func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{"max(60, vcpus * 30)", `instance_type == "m5.large" ? 1 : 2.5`, "[1].map(a, a)[0]", "100mm", "1e400", "((("} {
		f.Add(text)
	}
	e := kubeletcel.New()
	f.Fuzz(func(t *testing.T, text string) {
		refused := e.Check(text)
		_, err := e.Evaluate(text, large())
		if refused != nil {
			require.Equal(t, refused, err)
		}
	})
}
