package nodeclass_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
)

// Whatever a class says, it is resolved to conditions that agree with each other.
func FuzzResolve(f *testing.F) {
	const head = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: web}\nspec:\n"
	for _, spec := range []string{
		"  {role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{tags: {team: web}}], securityGroupSelectorTerms: [{name: nodes}]}",
		"  {instanceProfile: p, amiFamily: Custom, amiSelectorTerms: [{name: '*', owner: self}, {ssmParameter: /x}], subnetSelectorTerms: [{id: subnet-a}], securityGroupSelectorTerms: [{id: sg-1, name: x}]}",
		"  {amiSelectorTerms: [{alias: al2023@v2@x}], subnetSelectorTerms: [{tags: {}}], capacityReservationSelectorTerms: [{ownerID: '1'}, {id: cr-1}], placementGroupSelector: {name: '', id: pg-1}}",
		"  {amiSelectorTerms: [{alias: bottlerocket@latest~1}], instanceProfile: '', kubelet: {maxPods: -1}, blockDeviceMappings: [{}], tags: {a: b}}",
		"  {}",
	} {
		f.Add([]byte(head + spec))
	}
	cloud := account()
	f.Fuzz(func(t *testing.T, data []byte) {
		class, err := awsv1.DecodeEC2NodeClass(data)
		if err != nil {
			return
		}
		src, err := nodeclass.NewSources(cloud.Clients(), nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: newClock().Now})
		require.NoError(t, err)
		r, err := nodeclass.NewResolver(src, nodeclass.ResolverOptions{Now: newClock().Now, ReservedCapacity: true})
		require.NoError(t, err)
		before := class.DeepCopy()
		got, err := r.Resolve(bg, class)
		require.NoError(t, err)
		require.Equal(t, before, class)
		ready := condition(t, got, awsv1.ConditionTypeReady)
		require.Equal(t, ready.Status == metav1.ConditionTrue, got.Err() == nil)
		if got.Err() == nil {
			require.Empty(t, class.Validate())
			require.NotEmpty(t, got.Class.Status.AMIs)
			require.NotEmpty(t, got.Class.Status.Subnets)
			require.NotEmpty(t, got.Class.Status.SecurityGroups)
		}
		for _, c := range got.Class.Status.Conditions {
			require.NotContains(t, c.Message, "\n")
		}
		again, err := r.Resolve(bg, class)
		require.NoError(t, err)
		require.Equal(t, got.Class, again.Class, "the same twice")
	})
}
