package nodeclaim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// asking asks for a node of the pool "web", by requirements of one key each.
func asking(requests string, reqs ...v1.NodeSelectorRequirementWithMinValues) *v1.NodeClaim {
	return &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "uid-1", Labels: map[string]string{v1.NodePoolLabelKey: "web"}},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
			Requirements: reqs,
			Resources:    v1.ResourceRequirements{Requests: resources.MustParse(requests).ResourceList()},
			Taints:       []corev1.Taint{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}},
		},
	}
}

func in(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// sized returns a type of a family, without offerings.
func sized(family, size string) *cloudprovider.InstanceType {
	name := family + "." + size
	return &cloudprovider.InstanceType{Name: name, Requirements: requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name),
		requirements.In("family", family), requirements.In("size", "large"))}
}

// shelf returns a small type in two zones and a large one in one.
func shelf() []*cloudprovider.InstanceType {
	small, large := sized("m5", "large"), sized("m5", "xlarge")
	small.Capacity, large.Capacity = resources.MustParse("cpu=2, memory=8Gi, pods=20"), resources.MustParse("cpu=4, memory=16Gi, pods=50")
	small.Offerings = []cloudprovider.Offering{
		{Zone: "zone-a", CapacityType: "on-demand", Price: 0.1, Available: true},
		{Zone: "zone-a", CapacityType: "spot", Price: 0.04, Available: true},
		{Zone: "zone-b", CapacityType: "spot", Price: 0.03},
	}
	large.Offerings = []cloudprovider.Offering{{Zone: "zone-a", CapacityType: "spot", Price: 0.08, Available: true}}
	return []*cloudprovider.InstanceType{small, nil, large}
}

func TestRequest(t *testing.T) {
	c := asking("cpu=1, pods=3", in(v1.CapacityTypeLabelKey, "spot"))
	req, err := nodeclaim.Request(c, shelf(), nil)
	require.NoError(t, err)
	require.NoError(t, req.Validate())
	require.Equal(t, "uid-1", req.Token)
	require.Equal(t, "web-1", req.Name)
	require.Equal(t, "web", req.NodePool)
	require.Equal(t, "default", req.NodeClassRef.Name)
	require.Equal(t, c.Spec.Taints, req.Taints)
	require.Equal(t, c.Labels, req.Labels)
	require.Equal(t, resources.MustParse("cpu=1, pods=3"), req.Requests)
	var keys []string
	for _, o := range req.Options {
		keys = append(keys, o.Key().String())
	}
	require.Equal(t, []string{"m5.large/zone-a/spot", "m5.xlarge/zone-a/spot"}, keys)
}

// An offering may have more or less room than its type.
func TestRequestByOffering(t *testing.T) {
	types := shelf()
	more, less := resources.MustParse("cpu=8"), resources.MustParse("cpu=3500m")
	types[0].Offerings[1].Capacity = &more // m5.large/zone-a/spot
	types[2].Offerings[0].Overhead = &less // m5.xlarge/zone-a/spot
	for requests, want := range map[string][]string{
		"cpu=3":    {"m5.large/zone-a/spot"},
		"cpu=500m": {"m5.large/zone-a/spot", "m5.xlarge/zone-a/spot", "m5.large/zone-a/on-demand"},
	} {
		req, err := nodeclaim.Request(asking(requests), types, nil)
		require.NoError(t, err)
		var keys []string
		for _, o := range req.Options {
			keys = append(keys, o.Key().String())
		}
		require.Equal(t, want, keys)
	}
}

func TestRequestRefuses(t *testing.T) {
	deleted := asking("cpu=1")
	deleted.DeletionTimestamp, deleted.UID, deleted.Spec.NodeClassRef = &metav1.Time{}, "", nil
	*deleted.DeletionTimestamp = metav1.Unix(1, 0)
	deleted.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "x", Operator: "Is"}}
	deleted.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9e30")}
	for _, tt := range []struct {
		name  string
		claim *v1.NodeClaim
		types []*cloudprovider.InstanceType
		kind  error
		says  []string
	}{
		{"nil", nil, shelf(), cloudprovider.ErrDenied, []string{"the NodeClaim is nil"}},
		{"all faults", deleted, shelf(), cloudprovider.ErrDenied,
			[]string{"being deleted", "metadata.uid", "spec.nodeClassRef", "spec.requirements[0].operator", "spec.resources.requests"}},
		{"empty catalog", asking("cpu=1"), nil, cloudprovider.ErrInsufficientCapacity, []string{"web-1", "the catalog is empty"}},
		{"labels", asking("cpu=1", in(corev1.LabelTopologyZone, "zone-z"), in("team", "a")), shelf(), cloudprovider.ErrInsufficientCapacity,
			[]string{"no offering of 2 instance types", "topology.kubernetes.io/zone = zone-z"}},
		{"contradiction", asking("cpu=1", in(corev1.LabelTopologyZone, "zone-a"), in(corev1.LabelTopologyZone, "zone-b"), in("kubernetes.io/arch", "amd64"),
			v1.NodeSelectorRequirementWithMinValues{Key: "kubernetes.io/arch", Operator: "DoesNotExist"}), shelf(), cloudprovider.ErrDenied,
			[]string{`spec.requirements: Invalid value: "kubernetes.io/arch": the requirements on this label contradict`, `spec.requirements: Invalid value: "topology.kubernetes.io/zone"`}},
		{"negative", asking("cpu=-1"), shelf(), cloudprovider.ErrDenied, []string{`spec.resources.requests[cpu]: Invalid value: "-1": it is negative`}},
		{"room", asking("cpu=64"), shelf(), cloudprovider.ErrInsufficientCapacity, []string{"none of 4 offerings", "room for cpu=64"}},
		{"stock", asking("cpu=1", in(corev1.LabelTopologyZone, "zone-b")), shelf(), cloudprovider.ErrInsufficientCapacity,
			[]string{"none of 1 matching offerings can be launched now, such as m5.large/zone-b/spot"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := nodeclaim.Request(tt.claim, tt.types, nil)
			require.ErrorIs(t, err, tt.kind)
			var typed *cloudprovider.Error
			require.True(t, errors.As(err, &typed))
			for _, text := range tt.says {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "team", "no type could have it, and none has to")
		})
	}
}

// TestRequestWithoutCommand: the record of the command that launches a claim stays with
// the claim; no provider puts it on the Node, where command.Recover finds a fault in it.
func TestRequestWithoutCommand(t *testing.T) {
	claim := asking("cpu=1")
	claim.Annotations = map[string]string{v1.DisruptionCommandAnnotationKey: "record", "team": "a"}
	before := claim.DeepCopy()
	req, err := nodeclaim.Request(claim, shelf(), nil)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"team": "a"}, req.Annotations)
	require.Equal(t, before, claim)
}

func ExampleRequest() {
	stored := asking("cpu=1, memory=2Gi", in(v1.CapacityTypeLabelKey, "spot", "on-demand"))
	request, err := nodeclaim.Request(stored, shelf(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(request.Name, request.Token)
	for _, o := range request.Options {
		fmt.Println(o.Key(), o.Offering.Price)
	}

	stored.Spec.Resources.Requests = resources.MustParse("cpu=64").ResourceList()
	_, err = nodeclaim.Request(stored, shelf(), nil)
	fmt.Println(err)
	// Output:
	// web-1 uid-1
	// m5.large/zone-a/spot 0.04
	// m5.xlarge/zone-a/spot 0.08
	// m5.large/zone-a/on-demand 0.1
	// launch web-1: insufficient capacity: none of 4 offerings with the labels that it requires has room for cpu=64
}

// A NodeClaim may be written by hand. Whatever it says, it is refused with a typed
// error, or asked for with options that do.
func FuzzRequest(f *testing.F) {
	for _, c := range []*v1.NodeClaim{asking("cpu=1, memory=1Gi", in(v1.CapacityTypeLabelKey, "spot")), asking("cpu=64"), {}} {
		text, err := json.Marshal(c)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"metadata":{"uid":"u"},"spec":{"nodeClassRef":{"name":"x"},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"Exists","minValues":3}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var c v1.NodeClaim
		if json.Unmarshal(text, &c) != nil {
			return
		}
		before := c.DeepCopy()
		req, err := nodeclaim.Request(&c, shelf(), nil)
		require.Equal(t, before, &c)
		if err != nil {
			var typed *cloudprovider.Error
			require.True(t, errors.As(err, &typed))
			require.NotEqual(t, cloudprovider.KindUnknown, typed.Kind)
			return
		}
		require.NoError(t, req.Validate())
		for i, o := range req.Options {
			room, err := o.InstanceType.AllocatableFor(o.Offering)
			require.NoError(t, err)
			require.True(t, req.Requests.Fits(room))
			require.True(t, o.Offering.Launchable())
			require.True(t, i == 0 || req.Options[i-1].Compare(o) < 0)
		}
	})
}
