package devicecel_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
)

var _ cloudprovider.DeviceMatcher = devicecel.New()

func TestMatches(t *testing.T) {
	yes, version, number := true, "1.2.3", int64(7)
	device := gpu("a1", "24Gi")
	device.AllowMultipleAllocations = &yes
	device.Attributes["driverVersion"] = resourcev1.DeviceAttribute{VersionValue: &version}
	device.Attributes["rack.example.com/row"] = resourcev1.DeviceAttribute{IntValue: &number}
	device.Attributes["modes"] = resourcev1.DeviceAttribute{StringValues: []string{"slow", "fast"}}
	for _, tt := range []struct {
		expression string
		want       bool
		err        string // part of it
	}{
		{expression: `true`, want: true},
		{expression: `false`},
		{expression: `device.driver == "gpu.example.com"`, want: true},
		{expression: `device.attributes["gpu.example.com"].model == "a1"`, want: true},
		{expression: `device.attributes["gpu.example.com"].model == "b1"`},
		{expression: `device.attributes["rack.example.com"].row > 6`, want: true},
		{expression: `device.attributes["gpu.example.com"].driverVersion.compareTo(semver("1.10.0")) < 0`, want: true},
		{expression: `device.capacity["gpu.example.com"].memory.compareTo(quantity("20Gi")) > 0`, want: true},
		{expression: `device.allowMultipleAllocations`, want: true},
		{expression: `device.attributes["gpu.example.com"].modes.includes("fast")`, want: true},
		{expression: `cel.bind(g, device.attributes["gpu.example.com"], g.model == "a1")`, want: true},
		{expression: `"model" in device.attributes["other.example.com"]`},
		{expression: `device.attributes["gpu.example.com"].family == "x"`, err: "no such key: family"},
		{expression: `device.name == "gpu-0"`, err: "undefined field 'name'"},
		{expression: `1 + 1`, err: "must evaluate to bool"},
		{expression: `device.driver ==`, err: "Syntax error"},
		{expression: ``, err: "Syntax error"},
		{expression: `device.attributes["gpu.example.com"].model`, err: "could not be converted to bool"},
		{expression: `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ` +
			`[1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a+b+c+d+e+f > 0))))))`,
			err: "cost limit"},
		{expression: strings.Repeat(" ", resourcev1.CELSelectorExpressionMaxLength) + "true", err: "has 10244 bytes, and Kubernetes allows no more than 10240"},
	} {
		t.Run(tt.expression[:min(len(tt.expression), 40)], func(t *testing.T) {
			m := devicecel.New()
			for range 2 { // the second time the expression is known
				got, err := m.Matches(selector(tt.expression), "gpu.example.com", device)
				if tt.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, tt.err)
					begin := strconv.Quote(tt.expression[:min(len(tt.expression), 40)])
					require.ErrorContains(t, err, "CEL expression "+begin[:len(begin)-1], "the error names the expression")
				}
				require.Equal(t, tt.want, got)
			}
		})
	}
}

func TestUnusableInput(t *testing.T) {
	m := devicecel.New()
	_, err := m.Matches(resourcev1.DeviceSelector{}, "gpu.example.com", gpu("a1", "1Gi"))
	require.EqualError(t, err, "the selector is no CEL expression, and this matcher knows no others")
	_, err = m.Matches(selector("true"), "gpu.example.com", nil)
	require.EqualError(t, err, `CEL expression "true": there is no device to evaluate it for`)
	broken := gpu("a1", "1Gi")
	broken.Attributes["empty"] = resourcev1.DeviceAttribute{}
	_, err = m.Matches(selector("true"), "gpu.example.com", broken)
	require.EqualError(t, err, `CEL expression "true": attribute empty: unsupported attribute value`)
	version := "one"
	broken.Attributes["empty"] = resourcev1.DeviceAttribute{VersionValue: &version}
	_, err = m.Matches(selector("true"), "gpu.example.com", broken)
	require.ErrorContains(t, err, "attribute empty: parse semantic version")
}

// What a Matcher keeps is bounded, and forgetting makes no difference.
func TestManyExpressions(t *testing.T) {
	m := devicecel.New()
	for round := range 2 {
		for i := range 1100 {
			if round == 1 && i%100 != 0 {
				continue
			}
			ok, err := m.Matches(selector(fmt.Sprintf(`%d < 50`, i)), "gpu.example.com", gpu("a1", "1Gi"))
			require.NoError(t, err)
			require.Equal(t, i < 50, ok)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	m := devicecel.New()
	device := gpu("a1", "24Gi")
	before := device.DeepCopy()
	var wg sync.WaitGroup
	wrong := make([]int, 8)
	for g := range wrong {
		wg.Go(func() {
			for i := range 200 {
				want := i%3 == 1
				got, err := m.Matches(selector(fmt.Sprintf(`device.attributes["gpu.example.com"].model == "a%d"`, i%3)), "gpu.example.com", device)
				if err != nil || got != want {
					wrong[g]++
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, make([]int, len(wrong)), wrong)
	require.Equal(t, before, device)
}

// FuzzMatches: whatever an expression is, the answer comes back as a value, and
// the same each time.
func FuzzMatches(f *testing.F) {
	for _, e := range []string{`true`, `device.driver == "x"`, `device.attributes["a"].b`, `[1].all(x, x > 0)`, `"\xff`, `device.capacity.exists(k, true)`, "((((", ""} {
		f.Add(e, "model")
	}
	f.Fuzz(func(t *testing.T, expression, attribute string) {
		device := gpu("a1", "24Gi")
		device.Attributes[resourcev1.QualifiedName(attribute)] = device.Attributes["model"]
		first, err := devicecel.New().Matches(selector(expression), "gpu.example.com", device)
		again, err2 := devicecel.New().Matches(selector(expression), "gpu.example.com", device)
		require.Equal(t, first, again)
		require.Equal(t, err == nil, err2 == nil)
		if err != nil {
			require.False(t, first)
			require.Contains(t, err.Error(), "CEL expression ")
		}
	})
}
