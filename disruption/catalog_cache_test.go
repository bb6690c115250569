package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// TestAMarketChangesNoAnswer passes the market on from proposal to proposal, and
// asks each time without as well.
func TestAMarketChangesNoAnswer(t *testing.T) {
	n := 30
	if !testlong.On() || testlong.UnderRace {
		n = 5
	}
	used := 0
	for seed := range n {
		m := newMaker(uint64(7000 + seed))
		in, opts := m.mixed(12)
		now := noon
		for range 3 {
			with := propose(t, in, opts)
			in.CatalogCache = nil
			require.Equal(t, text(t, propose(t, in, opts)), text(t, with), "seed %d", seed)
			now = now.Add(3 * time.Hour)
			after := carriedOut(t, now, in, with.Actions, opts)
			if in = after; with.CatalogCache != nil {
				used++
			}
			in.CatalogCache = with.CatalogCache
		}
	}
	require.Greater(t, used, n/2)
}

// TestAMarketOfOtherPoolsIsNotUsed changes what a market is made from.
func TestAMarketOfOtherPoolsIsNotUsed(t *testing.T) {
	small, medium, large, all := sizes()
	input := func(types ...*cloudprovider.InstanceType) disruption.Input {
		return fleetOf(types, machine("n1", "default", large, load("a", 1500)), machine("n2", "default", large, load("b", 3900), load("c", 3900)))
	}
	in := input(all...)
	p := propose(t, in, anySaving())
	require.Equal(t, []string{"Underutilized n1 -> small saves 0.300"}, deeds(p.Actions))
	require.NotNil(t, p.CatalogCache)

	again := in
	again.CatalogCache = p.CatalogCache
	require.Equal(t, deeds(p.Actions), deeds(propose(t, again, anySaving()).Actions))
	require.NotNil(t, propose(t, again, anySaving()).CatalogCache, "it is passed on")

	tests := []struct {
		name string
		in   disruption.Input
		want []string
	}{
		{"a type less", input(medium, large), []string{"Underutilized n1 -> medium saves 0.200"}},
		{"other prices", input(sizedType("small", 2, 0.39), medium, large), []string{"Underutilized n1 -> medium saves 0.200"}},
		{"a limit", func() disruption.Input {
			in := input(all...)
			in.NodePools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(9, resource.DecimalSI)}
			return in
		}(), []string{}},
		{"a DaemonSet", func() disruption.Input {
			in := input(all...)
			in.DaemonSetPods = []*corev1.Pod{load("daemon", 1000)}
			in.Nodes[1].Pods = in.Nodes[1].Pods[:1]
			return in
		}(), []string{"Underutilized n1 ->  saves 0.400"}},
		{"a shortage", func() disruption.Input {
			in := input(all...)
			in.UnavailableOfferings = []disruption.UnavailableOffering{{Offering: small.Offerings[0].Key("small"), At: noon}}
			return in
		}(), []string{"Underutilized n1 -> medium saves 0.200"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := propose(t, tt.in, anySaving())
			require.Equal(t, tt.want, deeds(want.Actions))
			tt.in.CatalogCache = p.CatalogCache
			require.Equal(t, text(t, want), text(t, propose(t, tt.in, anySaving())))
		})
	}
}

// marketScene has an object of each kind that a market is made from.
func marketScene() disruption.Input {
	_, _, large, all := sizes()
	in := fleetOf(all, machine("n1", "default", large, load("a", 1500)), machine("n2", "default", large, load("b", 3900), load("c", 3900)))
	in.NodePools = append(in.NodePools, newPool("other"))
	in.InstanceTypes["other"] = all
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), ResourceVersion: "1"}
	}
	in.DaemonSetPods = []*corev1.Pod{load("agent", 1), load("logs", 2)}
	in.Namespaces = []*corev1.Namespace{{ObjectMeta: meta("shop")}, {ObjectMeta: meta("web")}}
	in.Volumes.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: meta("disk")}}
	in.Volumes.Volumes = []*corev1.PersistentVolume{{ObjectMeta: meta("disk")}}
	in.Volumes.Classes = []*storagev1.StorageClass{{ObjectMeta: meta("gp3"), Provisioner: "ebs"}}
	in.Volumes.CSINodes = []*storagev1.CSINode{{ObjectMeta: meta("n1")}}
	in.Services = []*corev1.Service{{ObjectMeta: meta("web")}}
	in.Controllers = []provisioning.Controller{{UID: "1"}, {UID: "2", Selector: &metav1.LabelSelector{}}}
	in.Vocabulary = fake.Vocabulary()
	return in
}

// TestAMarketIsToldByWhatIsInIt passes a market on to an input whose objects are all
// others, and to some that say otherwise.
func TestAMarketIsToldByWhatIsInIt(t *testing.T) {
	first := propose(t, marketScene(), anySaving())
	require.Equal(t, []string{"Underutilized n1 -> small saves 0.300"}, deeds(first.Actions))
	require.NotNil(t, first.CatalogCache)
	for _, tt := range []struct {
		name string
		edit func(in *disruption.Input)
	}{
		{"copies", func(*disruption.Input) {}},
		{"another order", func(in *disruption.Input) {
			slices.Reverse(in.NodePools)
			slices.Reverse(in.DaemonSetPods)
			slices.Reverse(in.Namespaces)
			slices.Reverse(in.Controllers)
			in.InstanceTypes["other"] = slices.Clone(in.InstanceTypes["other"])
			slices.Reverse(in.InstanceTypes["other"])
		}},
		{"another version of a namespace", func(in *disruption.Input) { in.Namespaces[0].ResourceVersion = "2" }},
		{"nodes counted anew", func(in *disruption.Input) {
			in.NodePools[0].ResourceVersion = "2"
			in.NodePools[0].Status.Resources = corev1.ResourceList{"nodes": resource.MustParse("2")}
		}},
		{"a pool with a limit", func(in *disruption.Input) {
			in.NodePools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: resource.MustParse("100")}
		}},
		{"a pool made anew", func(in *disruption.Input) { in.NodePools[0].UID = "another" }},
		{"a pool being deleted", func(in *disruption.Input) { in.NodePools[1].DeletionTimestamp = &metav1.Time{Time: noon} }},
		{"a pool that is not ready", func(in *disruption.Input) {
			in.NodePools[1].Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionFalse}}
		}},
		{"a pool less", func(in *disruption.Input) {
			in.NodePools = in.NodePools[:1]
			delete(in.InstanceTypes, "other")
		}},
		{"a pool without types", func(in *disruption.Input) { in.InstanceTypes["other"] = nil }},
		{"another price", func(in *disruption.Input) { in.InstanceTypes["default"][0].Offerings[0].Price = 0.01 }},
		{"an offering sold out", func(in *disruption.Input) { in.InstanceTypes["default"][0].Offerings[0].Available = false }},
		{"more overhead", func(in *disruption.Input) {
			in.InstanceTypes["default"][0].Overhead.SystemReserved = resources.MustParse("cpu=1")
		}},
		{"a DaemonSet that asks for more", func(in *disruption.Input) { in.DaemonSetPods[0] = load("agent", 100) }},
		{"a namespace with a label", func(in *disruption.Input) { in.Namespaces[0].Labels = map[string]string{"team": "a"} }},
		{"a claim bound", func(in *disruption.Input) { in.Volumes.Claims[0].Spec.VolumeName = "disk" }},
		{"a volume with a zone", func(in *disruption.Input) {
			in.Volumes.Volumes[0].Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
		}},
		{"another class", func(in *disruption.Input) { in.Volumes.Classes[0].Provisioner = "efs" }},
		{"a driver", func(in *disruption.Input) {
			in.Volumes.CSINodes[0].Spec.Drivers = []storagev1.CSINodeDriver{{Name: "ebs"}}
		}},
		{"a selector of a Service", func(in *disruption.Input) {
			in.Services[0].Spec.Selector = map[string]string{"app": "web"}
		}},
		{"a selector of a controller", func(in *disruption.Input) {
			in.Controllers[1].Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		}},
		{"another vocabulary", func(in *disruption.Input) { in.Vocabulary = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := marketScene()
			tt.edit(&in)
			want := propose(t, in, anySaving())
			in.CatalogCache = first.CatalogCache
			got := propose(t, in, anySaving())
			require.Equal(t, text(t, want), text(t, got))
			for _, a := range got.Actions {
				for _, n := range a.Replacements {
					require.Contains(t, in.NodePools, n.Pool)
					require.True(t, slices.ContainsFunc(in.NodePools, func(p *v1.NodePool) bool { return p == n.Pool }), "it is the pool of the input")
				}
			}
		})
	}
}

// TestACacheSavesReadingTheCatalog counts allocations, with NodePools that say the same in other
// objects, as a program has them that sets defaults in copies.
func TestACacheSavesReadingTheCatalog(t *testing.T) {
	in := halfFull(3)
	allocs := func(in disruption.Input) float64 {
		return testing.AllocsPerRun(3, func() { propose(t, in, nil) })
	}
	without := allocs(in)
	in.CatalogCache = propose(t, in, nil).CatalogCache
	require.Less(t, allocs(in), 0.9*without, "the same objects")
	in.NodePools = []*v1.NodePool{in.NodePools[0].DeepCopy()}
	in.NodePools[0].ResourceVersion = "2"
	in.NodePools[0].Status.Resources = corev1.ResourceList{"nodes": resource.MustParse("2")}
	require.Less(t, allocs(in), 0.9*without, "nodes counted anew")
}

// The market of a proposal is for the next one, if pools and catalogs say the same
// by then.
func ExampleCatalogCache() {
	small, _, large, all := sizes()
	in := fleetOf(all, machine("n1", "default", large, load("web", 1500)), machine("n2", "default", small, load("db", 1900)))
	for range 2 {
		p, _, err := disruption.Propose(context.Background(), noon, in, nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(len(p.Actions), "actions with a market:", in.CatalogCache != nil)
		if in, err = disruption.After(noon, in, p.Actions, nil); err != nil {
			panic(err)
		}
		in.CatalogCache = p.CatalogCache
	}
	// Output:
	// 1 actions with a market: false
	// 0 actions with a market: true
}
