package aws_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func TestCollectLaunchTemplatesAndProfiles(t *testing.T) {
	s := newScene(t)
	s.create("one", large)
	require.NotEmpty(t, s.cloud.LaunchTemplates())
	require.Len(t, s.cloud.InstanceProfiles(), 1)
	deleted, err := s.p.CollectLaunchTemplates(t.Context())
	require.NoError(t, err)
	require.Empty(t, deleted)
	s.cloud.Advance(11 * time.Minute)
	deleted, err = s.p.CollectLaunchTemplates(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, deleted)
	require.Empty(t, s.cloud.LaunchTemplates())
	s.create("two", large) // makes it anew
	require.Len(t, s.cloud.LaunchTemplates(), 1)

	s.cloud.Advance(2 * time.Hour)
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{awsv1.InstanceProfileAnnotationKey: s.cloud.InstanceProfiles()[0].Name}}}
	gone, err := s.p.CollectInstanceProfiles(t.Context(), nil, []*karpv1.NodeClaim{nil, claim})
	require.NoError(t, err)
	require.Empty(t, gone)
	gone, err = s.p.CollectInstanceProfiles(t.Context(), []*awsv1.EC2NodeClass{nil, s.class}, nil)
	require.NoError(t, err)
	require.Len(t, gone, 1)
	require.Empty(t, s.cloud.InstanceProfiles())
}

func TestReleaseNodeClass(t *testing.T) {
	s := newScene(t)
	s.create("one", large)
	require.NoError(t, s.p.ReleaseNodeClass(t.Context(), s.class))
	require.Empty(t, s.cloud.InstanceProfiles())
	require.Empty(t, s.cloud.LaunchTemplates())
	require.NoError(t, s.p.ReleaseNodeClass(t.Context(), s.class), "it can be repeated")
	require.NoError(t, s.p.ReleaseNodeClass(t.Context(), nil))
}

func TestTagInstance(t *testing.T) {
	s := newScene(t)
	i := s.create("one", large)
	claim := s.claim(i)
	annotations, err := s.p.TagInstance(t.Context(), claim)
	require.NoError(t, err)
	require.Nil(t, annotations, "its node has not joined")
	claim.Status.NodeName = "ip-10-0-0-1.ec2.internal"
	annotations, err = s.p.TagInstance(t.Context(), claim)
	require.NoError(t, err)
	require.Equal(t, map[string]string{awsv1.InstanceTaggedAnnotationKey: "true", awsv1.ClusterNameTaggedAnnotationKey: "true"}, annotations)
	tags := s.cloud.Instances()[0].Tags
	require.Equal(t, "ip-10-0-0-1.ec2.internal", tags["Name"])
	require.Equal(t, "general-one", tags["karpenter.sh/nodeclaim"])
	claim.Annotations = annotations
	s.cloud.ForgetCalls()
	annotations, err = s.p.TagInstance(t.Context(), claim)
	require.NoError(t, err)
	require.Nil(t, annotations)
	require.Empty(t, s.cloud.Calls(), "it is done")
}
