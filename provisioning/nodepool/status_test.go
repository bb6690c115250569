package nodepool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodepool"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func general() *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general", Generation: 3}}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "Class", Name: "default"}
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	return p
}

// says returns the conditions of a pool in order.
func says(p *v1.NodePool) (out []string) {
	for _, c := range p.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return out
}

func TestEdit(t *testing.T) {
	p := general()
	good := nodepool.Edit(noon, p, nil, &provisioning.PoolUsage{Nodes: 2, Resources: resources.MustParse("cpu=8")})
	require.Equal(t, []string{"ValidationSucceeded=True ValidationSucceeded", "NodeClassReady=True NodeClassReady", "Ready=True Ready"}, says(good))
	require.EqualValues(t, 2, *good.Status.Nodes)
	require.Equal(t, "8", good.Status.Resources.Cpu().String())
	require.EqualValues(t, 3, good.Status.Conditions[0].ObservedGeneration)
	require.Equal(t, p.Spec, good.Spec, "defaults are not written")
	require.Empty(t, p.Status.Conditions, "what is given stays as it is")
	require.Same(t, good, nodepool.Edit(noon.Add(time.Hour), good, nil, &provisioning.PoolUsage{Nodes: 2, Resources: resources.MustParse("cpu=8000m")}))
	require.Same(t, good, nodepool.Edit(noon.Add(time.Hour), good, nil, nil), "no usage leaves it")
	require.NotSame(t, good, nodepool.Edit(noon, good, nil, &provisioning.PoolUsage{Nodes: 2, Resources: resources.MustParse("cpu=9")}))

	unready := nodepool.Edit(noon.Add(time.Hour), good, errors.New("no subnets"), nil)
	require.Equal(t, []string{"ValidationSucceeded=True ValidationSucceeded", "NodeClassReady=False NodeClassNotReady", "Ready=False NodeClassNotReady"}, says(unready))
	require.Equal(t, noon, unready.Status.Conditions[0].LastTransitionTime.Time, "it has not turned")
	require.Equal(t, noon.Add(time.Hour), unready.Status.Conditions[1].LastTransitionTime.Time)
	require.Len(t, nodepool.News(good, unready), 1)
	require.Equal(t, "no subnets", nodepool.News(good, unready)[0].Message)
	require.Empty(t, nodepool.News(unready, unready))
	require.Len(t, nodepool.News(unready, nodepool.Edit(noon, unready, errors.New("no security groups"), nil)), 1, "it says something else")

	broken := general()
	broken.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "zone", Operator: "Near"}}
	bad := nodepool.Edit(noon, broken, nil, nil)
	require.Equal(t, []string{"ValidationSucceeded=False NodePoolValidationFailed", "Ready=False NodePoolValidationFailed"}, says(bad))
	require.Len(t, nodepool.News(nil, bad), 1)
	require.Equal(t, metav1.ConditionTrue, nodepool.Edit(noon, good, nil, nil).Status.Conditions[1].Status)
	require.Nil(t, nodepool.Edit(noon, nil, nil, nil))
	require.Empty(t, nodepool.News(bad, nil))
}

// TestEditCanBeStored: faults and class errors of any length make no status that the API
// server refuses.
func TestEditCanBeStored(t *testing.T) {
	p := general()
	for i := range 300 {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: "zone", Operator: "In", Values: []string{fmt.Sprint("no value ", i)}})
	}
	for _, edited := range []*v1.NodePool{nodepool.Edit(noon, p, nil, nil), nodepool.Edit(noon, general(), errors.New(strings.Repeat("no subnets ", 9_000)), nil)} {
		ready := edited.Status.Conditions[len(edited.Status.Conditions)-1]
		require.Equal(t, metav1.ConditionFalse, ready.Status)
		for _, c := range edited.Status.Conditions {
			require.LessOrEqual(t, len(c.Message), 32_768, c.Type)
		}
		require.Contains(t, ready.Message, "no ")
		require.True(t, strings.HasSuffix(ready.Message, "..."))
	}
}

func ExampleEdit() {
	pool := nodepool.Edit(noon, general(), errors.New("no subnets"), nil)
	for _, c := range pool.Status.Conditions {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	// Output:
	// ValidationSucceeded True ValidationSucceeded
	// NodeClassReady False NodeClassNotReady
	// Ready False NodeClassNotReady
}

func ExampleNews() {
	pool := nodepool.Edit(noon, general(), errors.New("no subnets"), nil)
	fmt.Println(nodepool.News(general(), pool)[0].Reason)
	// Output: NodeClassNotReady
}
