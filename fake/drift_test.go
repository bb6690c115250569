package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
)

func claimOf(i *cloudprovider.Instance) *v1.NodeClaim {
	claim := &v1.NodeClaim{}
	claim.Status.ProviderID = i.ID
	return claim
}

func driftOf(t testing.TB, cloud *fake.Cloud, i *cloudprovider.Instance) string {
	t.Helper()
	drift, err := cloudprovider.IsDrifted(t.Context(), cloud, claimOf(i))
	require.NoError(t, err)
	if drift.Reason == "" {
		return ""
	}
	return drift.Reason + ": " + drift.Detail
}

func TestImages(t *testing.T) {
	cloud := world(t, fake.Options{})
	amd, arm := mustLaunch(t, cloud, "amd", odA), mustLaunch(t, cloud, "arm", "kubernetes.io/arch = arm64")
	require.Equal(t, []string{"image-amd64", "image-arm64"}, []string{amd.ImageID, arm.ImageID})
	require.Empty(t, driftOf(t, cloud, amd))

	require.NoError(t, cloud.After(time.Hour, fake.Action{Image: fake.Image{ID: "v2", Architecture: "x86_64"}}))
	cloud.Advance(time.Hour)
	require.Equal(t, "ImageDrift: image is image-amd64, today it would be v2", driftOf(t, cloud, amd))
	require.Empty(t, driftOf(t, cloud, arm))
	second := mustLaunch(t, cloud, "second", odA)
	require.Equal(t, "v2", second.ImageID)

	// The new one was bad: it is deprecated, and the old one is back.
	v1 := fake.Image{ID: "image-amd64", Architecture: "x86_64", Created: epoch.AddDate(0, 0, -1)}
	v2 := fake.Image{ID: "v2", Architecture: "x86_64", Created: cloud.Now(), DeprecationTime: cloud.Now()}
	require.NoError(t, cloud.Do(fake.Action{Image: v2}))
	require.Empty(t, driftOf(t, cloud, amd))
	require.Equal(t, "ImageDrift: image is v2, today it would be image-amd64", driftOf(t, cloud, second))
	// Of images that are all deprecated the newest is booted all the same.
	v1.DeprecationTime = cloud.Now()
	require.NoError(t, cloud.Do(fake.Action{Image: v1}))
	require.Equal(t, "v2", mustLaunch(t, cloud, "third", odA).ImageID)
	// An image can go without a replacement.
	require.NoError(t, cloud.Do(
		fake.Action{Image: fake.Image{ID: "v2", Architecture: "x86_64", State: "disabled"}},
		fake.Action{Image: fake.Image{ID: "image-amd64", Architecture: "x86_64", State: "failed"}}))
	_, err := cloud.Create(t.Context(), ask(t, cloud, "fourth", odA))
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	require.ErrorContains(t, err, `node class default has no image for architecture "amd64"`)
	require.Empty(t, driftOf(t, cloud, amd), "nothing better is known")
}

// The fake and amiselect agree on which image is the one to boot.
func TestImageOrder(t *testing.T) {
	var images []fake.Image
	for _, id := range []string{"a", "b"} {
		for _, name := range []string{"", "n1", "n2"} {
			for _, created := range []time.Time{epoch, epoch.Add(time.Hour)} {
				for _, deprecated := range []time.Time{{}, epoch, epoch.Add(2 * time.Hour)} {
					images = append(images, fake.Image{ID: id, Name: name, Architecture: "x86_64", Created: created, DeprecationTime: deprecated})
				}
			}
		}
	}
	for _, a := range images {
		for _, b := range images {
			if a.ID == b.ID {
				continue
			}
			cloud := world(t, fake.Options{Images: []fake.Image{a, b}})
			want := a.ID
			if amiselect.Compare(epoch, amiselect.Image(a), amiselect.Image(b)) > 0 {
				want = b.ID
			}
			require.Equal(t, want, mustLaunch(t, cloud, "t", odA).ImageID, "%+v %+v", a, b)
		}
	}
}

func TestNodeClasses(t *testing.T) {
	cloud := world(t, fake.Options{
		NodeClasses: []fake.NodeClass{{Name: "default", Hash: "1"}, {Name: "pinned", Images: []string{"image-amd64", "old"}}, {Name: "broken", NotReady: "no subnets"}},
		Images:      []fake.Image{{ID: "image-amd64", Architecture: "x86_64"}, {ID: "old", Architecture: "x86_64", Created: epoch.Add(-time.Hour)}},
	})
	ref := func(name string) v1.NodeClassReference {
		return v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name}
	}
	require.NoError(t, cloudprovider.NodeClassReady(t.Context(), cloud, ref("default")))
	require.ErrorIs(t, cloudprovider.NodeClassReady(t.Context(), cloud, ref("broken")), cloudprovider.ErrNotReady)
	require.ErrorContains(t, cloudprovider.NodeClassReady(t.Context(), cloud, ref("broken")), "no subnets")
	require.ErrorIs(t, cloudprovider.NodeClassReady(t.Context(), cloud, ref("none")), cloudprovider.ErrNotFound)
	require.Equal(t, cloudprovider.KindUnsupported, cloudprovider.KindOf(cloudprovider.NodeClassReady(t.Context(), cloud, v1.NodeClassReference{Name: "default"})))
	require.Equal(t, cloudprovider.KindUnsupported, cloudprovider.KindOf(cloud.NodeClassReady(t.Context(), v1.NodeClassReference{Name: "default"})))
	require.Equal(t, []schema.GroupKind{{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}}, cloud.SupportedNodeClasses())

	pool := &v1.NodePool{}
	_, err := cloud.InstanceTypes(t.Context(), pool)
	require.Equal(t, cloudprovider.KindDenied, cloudprovider.KindOf(err))
	r := ref("broken")
	pool.Spec.Template.Spec.NodeClassRef = &r
	_, err = cloud.InstanceTypes(t.Context(), pool)
	require.ErrorIs(t, err, cloudprovider.ErrNotReady)
	req := ask(t, cloud, "t", odA)
	req.NodeClassRef = ref("none")
	_, err = cloud.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)

	one := mustLaunch(t, cloud, "one", odA)
	req = ask(t, cloud, "pinned", odA)
	req.NodeClassRef = ref("pinned")
	pinned := create(t, cloud, req)
	require.Empty(t, driftOf(t, cloud, one))
	require.NoError(t, cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "default", Hash: "2"}}, fake.Action{Image: fake.Image{ID: "v2", Architecture: "x86_64", Created: epoch.Add(1)}}))
	require.Equal(t, `NodeClassDrift: node class default is at "2", the machine was launched at "1"`, driftOf(t, cloud, one), "the class comes first")
	require.Empty(t, driftOf(t, cloud, pinned), "v2 is not for it")
	require.NoError(t, cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "default", Hash: "1"}}))
	require.Equal(t, "ImageDrift: image is image-amd64, today it would be v2", driftOf(t, cloud, one))
	require.NoError(t, cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "pinned", Images: []string{"old"}}}))
	require.Equal(t, "ImageDrift: image is image-amd64, today it would be old", driftOf(t, cloud, pinned))

	require.NoError(t, cloud.Delete(t.Context(), one.ID))
	_, err = cloud.IsDrifted(t.Context(), claimOf(one))
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	_, err = cloud.IsDrifted(t.Context(), nil)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
}

// Without options all node classes exist, until one is set.
func TestFirstNodeClass(t *testing.T) {
	cloud := world(t, fake.Options{})
	one := mustLaunch(t, cloud, "one", odA)
	require.NoError(t, cloud.NodeClassReady(t.Context(), v1.NodeClassReference{Name: "any"}))
	require.NoError(t, cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "default", Hash: "x"}}))
	require.Equal(t, `NodeClassDrift: node class default is at "x", the machine was launched at ""`, driftOf(t, cloud, one))
	require.Error(t, cloud.NodeClassReady(t.Context(), v1.NodeClassReference{Name: "any"}))

	cloud = world(t, fake.Options{})
	one = mustLaunch(t, cloud, "one", odA)
	require.NoError(t, cloud.Do(fake.Action{NodeClass: fake.NodeClass{Name: "another"}}))
	_, err := cloud.IsDrifted(t.Context(), claimOf(one))
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
}
