package convert_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// many returns a text of n objects that have something to do with each other: they take
// names from each other, are added to one List, and share a class or a template.
func many(n int) map[string]string {
	const class = "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, metadata: {name: a}, " +
		"spec: {role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}], amiFamily: AL2023}}\n"
	inline := func(i int) string {
		return fmt.Sprintf("{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: p%d}, "+
			"spec: {provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, instanceProfile: x}}}\n", i)
	}
	pool := func(i int) string {
		return fmt.Sprintf("{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: p%d}, "+
			"spec: {template: {spec: {nodeClassRef: {name: a}, requirements: [], kubelet: {maxPods: %d}}}}}\n", i, i+1)
	}
	text := func(head, before string, one func(int) string, last string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			b.WriteString(before + one(i))
		}
		if last != "" {
			b.WriteString(before + last)
		}
		return b.String()
	}
	const list, item, document = "apiVersion: v1\nkind: List\nitems:\n", "- ", "---\n"
	return map[string]string{
		"classes of their own, in a List":    text(list, item, inline, ""),
		"classes of their own, in documents": text("", document, inline, ""),
		"one name":                           text(list, item, func(int) string { return inline(0) }, ""),
		"copies of a class, in a List":       text(list, item, pool, class),
		"copies of a class, in documents":    text("", document, pool, class),
		"words": text(list, item, func(i int) string {
			return strings.Replace(pool(i), "name: p", "labels: {karpenter.sh/provisioner-name: a}, name: p", 1)
		}, class),
		"faults":                           text(list, item, func(i int) string { return strings.Replace(pool(i), "maxPods: ", "maxPod: ", 1) }, class),
		"settings that no object can have": pool(0)[:len(pool(0))-6] + text("", ", ", func(i int) string { return fmt.Sprintf("x%d: 1", i) }, "") + "}}}}\n",
		"annotations, and what has no change": text("", document, func(i int) string {
			return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}}\n", i)
		}, ""),
	}
}

// TestWorkGrowsWithTheTexts counts bytes that are allocated: twice the objects take twice as
// many, and in the long run four times the objects four times, however they are connected.
func TestWorkGrowsWithTheTexts(t *testing.T) {
	work := func(text string) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result := convert.Convert([]convert.Source{{Data: []byte(text)}}, nil)
		runtime.ReadMemStats(&after)
		require.NotEmpty(t, result.Outputs[0].Data)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	times := testlong.Seeds(2, 4)
	few := testlong.Seeds(40, 100)
	small, large, one := many(few), many(few*times), many(1)
	for name := range small {
		work(one[name]) // what is made once
		less, all := work(small[name]), work(large[name])
		require.Less(t, all/less, 1.1*float64(times), "%s: %.0f and %.0f bytes", name, less, all)
	}
}
