package puddle

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
)

// TestContract is all that the provider has for tests, and all that it needs to
// begin with.
func TestContract(t *testing.T) {
	cloudprovidertest.Run(t, open)
}

// TestContractInFull checks that the harness leaves nothing out.
func TestContractInFull(t *testing.T) {
	for _, r := range cloudprovidertest.Examine(t, open) {
		require.True(t, r.Passed(), "%s", r)
	}
}

// TestKubelet holds what the kubelet of a new machine registers its Node with.
func TestKubelet(t *testing.T) {
	c := puddlecloud.New()
	api := httptest.NewServer(c.Handler())
	defer api.Close()
	refused, err := availability.New(c.Now, nil)
	require.NoError(t, err)
	p := New(api.URL, "ours", c.Now, refused).(*provider)
	catalog, err := p.catalog(t.Context())
	require.NoError(t, err)
	i, err := p.Create(t.Context(), cloudprovider.LaunchRequest{
		Token: "uid-1", NodeClassRef: v1.NodeClassReference{Name: "default"},
		Options:       []cloudprovider.LaunchOption{{InstanceType: catalog[0], Offering: &catalog[0].Offerings[0]}},
		Labels:        map[string]string{"team": "shop", v1.NodePoolLabelKey: "general", "node-role.kubernetes.io/web": ""},
		Taints:        []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}},
		StartupTaints: []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}},
	})
	require.NoError(t, err)
	s, err := p.find(t.Context(), "Get", i.ID)
	require.NoError(t, err)
	require.Equal(t, puddlecloud.Kubelet{
		Labels: map[string]string{"team": "shop", v1.NodePoolLabelKey: "general", v1.NodeDoNotSyncTaintsLabelKey: "true"},
		Taints: []string{"gpu=yes:NoSchedule", "cni:NoExecute", "karpenter.sh/unregistered:NoExecute"},
	}, s.Kubelet)
}

// TestProviderIsSmall holds what the documentation says of its size.
func TestProviderIsSmall(t *testing.T) {
	lines := 0
	for _, name := range []string{"provider.go", "catalog.go", "client.go"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		lines += bytes.Count(text, []byte("\n"))
	}
	require.Less(t, lines, 300)
}

// open starts a cloud with two clusters.
func open(t testing.TB) *cloudprovidertest.Harness {
	c := puddlecloud.New()
	api := httptest.NewServer(c.Handler())
	t.Cleanup(api.Close)
	provider := func(cluster string) cloudprovider.CloudProvider {
		refused, err := availability.New(c.Now, nil)
		require.NoError(t, err)
		p := New(api.URL, cluster, c.Now, refused)
		t.Cleanup(p.(*provider).client.http.CloseIdleConnections)
		return p
	}
	// Which call of the cloud a method of the provider is about.
	routes := map[string]string{
		"InstanceTypes": puddlecloud.RouteShapes, "Create": puddlecloud.RouteOrder, "Delete": puddlecloud.RouteStop, "Get": puddlecloud.RouteServer,
		"List": puddlecloud.RouteList, "Interruptions": puddlecloud.RouteNotices,
	}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: NodeClass().Group, Kind: NodeClass().Kind, Name: "default"}
	return &cloudprovidertest.Harness{
		Provider:        provider("ours"),
		Pool:            pool,
		WellKnownLabels: labels(),
		Advance:         c.Advance,
		Machines:        func() int { return c.Running("ours") },
		Restart:         func() cloudprovider.CloudProvider { return provider("ours") },
		Neighbor:        func() cloudprovider.CloudProvider { return provider("theirs") },
		RunDry:          func(keys ...cloudprovider.OfferingKey) { c.SetStock(true, choices(keys)...) },
		Restock:         func(keys ...cloudprovider.OfferingKey) { c.SetStock(false, choices(keys)...) },
		Fail: func(method string, kind cloudprovider.Kind) {
			code := puddlecloud.CodeBroken
			if kind == cloudprovider.KindThrottled {
				code = puddlecloud.CodeTooMany
			}
			c.Fail(routes[method], code)
		},
		Lose:      c.Lose,
		Hang:      func(method string) (<-chan struct{}, func()) { return c.Hang(routes[method]) },
		Unready:   func() { c.SetClass(puddlecloud.Class{Name: "default", NotReady: "no network"}) },
		Drift:     func(string) { c.SetClass(puddlecloud.Class{Name: "default", Image: "image-8"}) },
		Terminate: func(id string) { c.Stop(path.Base(id)) },
		Interrupt: func(id string) cloudprovider.InterruptionKind {
			c.Announce(path.Base(id), "maintenance", time.Hour)
			return cloudprovider.InterruptionMaintenance
		},
		Reboots: func(id string) int { return c.Restarts(path.Base(id)) },
	}
}

func choices(keys []cloudprovider.OfferingKey) (out []puddlecloud.Choice) {
	for _, k := range keys {
		out = append(out, puddlecloud.Choice{Shape: k.InstanceType, Zone: k.Zone, Market: k.CapacityType})
	}
	return out
}
