package place_test

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

// asked is what flags say.
func asked(t *testing.T, args ...string) (a place.Asked) {
	t.Helper()
	set := flag.NewFlagSet("x", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	a.Flags(set)
	require.NoError(t, set.Parse(args))
	return a
}

// node returns a manifest of a Node with labels.
func node(name, labels string) string {
	return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {" + labels + "}}, status: {allocatable: {cpu: 1}}}\n"
}

func in(zone string) string { return "topology.kubernetes.io/zone: " + zone }

const (
	pool = `---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {template: {spec: {
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web},
  requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1c]}]}}}}
`
	class = `---
{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: web}, spec: {},
  status: {subnets: [{id: s-1, zone: eu-west-1a, zoneID: euw1-az1}, {id: s-2, zone: eu-west-1b, zoneID: euw1-az3}]}}
`
	volume = `---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],
  csi: {driver: ebs.csi.aws.com, volumeHandle: v}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
  {key: topology.ebs.csi.aws.com/zone, operator: In, values: [ap-southeast-2b]}]}]}}}}
`
)

func TestFind(t *testing.T) {
	three := node("n1", in("us-west-2a")+", topology.k8s.aws/zone-id: usw2-az2") + node("n2", in("us-west-2b")) + node("n3", in("us-west-2c"))
	for _, tt := range []struct {
		name, manifests string
		flags           []string
		want            string // region, and zones with their IDs
	}{
		{"nothing is known", node("n0", "a: b"), nil, "us-east-1 us-east-1a= us-east-1b= us-east-1c= us-east-1d="},
		{"zones of nodes", three, nil, "us-west-2 us-west-2a=usw2-az2 us-west-2b= us-west-2c="},
		{"names of old", node("n0", "failure-domain.beta.kubernetes.io/zone: us-west-2a"), nil, "us-west-2 us-west-2a="},
		{"the label of the region", node("n0", in("rack-1")+", topology.kubernetes.io/region: here"), nil, "here rack-1="},
		{"a zone whose name says nothing", node("n0", in("rack-1")), nil, "us-east-1 rack-1="},
		{"a local zone", three + node("n4", in("us-west-2-lax-1a")+", topology.kubernetes.io/region: us-west-2"), nil,
			"us-west-2 us-west-2-lax-1a= us-west-2a=usw2-az2 us-west-2b= us-west-2c="},
		{"most nodes", three + node("n4", in("us-east-1a")), nil, "us-west-2 us-west-2a=usw2-az2 us-west-2b= us-west-2c="},
		{"subnets", class, nil, "eu-west-1 eu-west-1a=euw1-az1 eu-west-1b=euw1-az3"},
		{"nodes and subnets", class + node("n0", in("eu-west-1c")+", topology.k8s.aws/zone-id: euw1-az2"), nil,
			"eu-west-1 eu-west-1a=euw1-az1 eu-west-1b=euw1-az3 eu-west-1c=euw1-az2"},
		{"IDs of nodes first", class + node("n0", in("eu-west-1a")+", topology.k8s.aws/zone-id: euw1-az2"), nil,
			"eu-west-1 eu-west-1a=euw1-az2 eu-west-1b=euw1-az3"},
		{"pools", pool, nil, "eu-west-1 eu-west-1a= eu-west-1c="},
		{"nodes and pools", pool + node("n0", in("eu-west-1b")), nil, "eu-west-1 eu-west-1a= eu-west-1b= eu-west-1c="},
		{"subnets and not pools", pool + class, nil, "eu-west-1 eu-west-1a=euw1-az1 eu-west-1b=euw1-az3"},
		{"volumes tell the region only", volume, nil,
			"ap-southeast-2 ap-southeast-2a= ap-southeast-2b= ap-southeast-2c= ap-southeast-2d="},
		{"a region asked for", three, []string{"-region", "eu-central-1"},
			"eu-central-1 eu-central-1a= eu-central-1b= eu-central-1c= eu-central-1d="},
		{"zones asked for", three, []string{"-zones", "us-west-2d,us-west-2a"}, "us-west-2 us-west-2a=usw2-az2 us-west-2d="},
		{"zones of another region", three, []string{"-zones", "eu-west-1a", "-zones", "eu-west-1b"}, "eu-west-1 eu-west-1a= eu-west-1b="},
		{"both", three, []string{"-region", "there", "-zones", "x"}, "there x="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cluster, err := manifest.Read(manifest.Rules{}, manifest.Source{Name: "-", Data: []byte(tt.manifests)})
			require.NoError(t, err)
			p := place.Find(cluster, asked(t, tt.flags...))
			got := p.Region
			for _, z := range p.Zones {
				got += " " + z.Name + "=" + z.ID
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestFlags(t *testing.T) {
	a := asked(t, "-zones", "a, b", "-zones", "c")
	require.Equal(t, []string{"a", "b", "c"}, a.Zones)
	require.True(t, a.Given())
	require.False(t, new(place.Asked).Given())
	for _, bad := range []string{"", "a,", "a,a"} {
		set := flag.NewFlagSet("x", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		new(place.Asked).Flags(set)
		require.Error(t, set.Parse([]string{"-zones", bad}), bad)
	}
}

// Nothing is sold in a zone that the cluster has not, and what is sold in one costs
// what it costs in the zone of its letter.
func TestCatalog(t *testing.T) {
	zonesOf := func(p place.Place) (zones []string, prices map[string]float64, families map[string]bool) {
		prices, families = map[string]float64{}, map[string]bool{}
		types, err := p.Catalog()
		require.NoError(t, err)
		for _, it := range types {
			require.NotEmpty(t, it.Offerings)
			for _, o := range it.Offerings {
				if !slices.Contains(zones, o.Zone) {
					zones = append(zones, o.Zone)
				}
				if it.Name == "m5.large" {
					prices[o.Zone[len(o.Zone)-1:]+o.CapacityType] = o.Price
				}
				families[strings.Split(it.Name, ".")[0]+o.Zone[len(o.Zone)-1:]] = true
			}
			r, _ := it.Requirements.Get(corev1.LabelTopologyRegion)
			values, _ := r.Values()
			require.Equal(t, []string{p.Region}, values)
		}
		slices.Sort(zones)
		return zones, prices, families
	}
	all, _, whole := zonesOf(place.Find(&manifest.Cluster{}, place.Asked{}))
	require.Equal(t, []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"}, all)
	some, _, part := zonesOf(place.Place{Region: "us-east-1", Zones: []catalog.Zone{{Name: "us-east-1b", ID: "use1-az6"}, {Name: "us-east-1d"}}})
	require.Equal(t, []string{"us-east-1b", "us-east-1d"}, some)
	for name := range part {
		require.True(t, whole[name], "%s is sold where it is always sold", name)
	}
	_, prices, _ := zonesOf(place.Place{Region: "us-east-1", Zones: []catalog.Zone{{Name: "us-east-1c"}}})
	require.Equal(t, 0.096, prices["con-demand"])
	elsewhere, _, _ := zonesOf(place.Place{Region: "here", Zones: []catalog.Zone{{Name: "rack-1"}}})
	require.Equal(t, []string{"rack-1"}, elsewhere)
}

func TestZonesOfOneRegion(t *testing.T) {
	for _, tt := range []struct {
		asked place.Asked
		want  command.Faults
	}{
		{place.Asked{}, nil},
		{place.Asked{Region: "us-east-1", Zones: []string{"us-east-1a", "us-east-1b"}}, nil},
		{place.Asked{Region: "us-east-1", Zones: []string{"rack-7", "us-east-1-bos-1a"}}, nil},
		{place.Asked{Zones: []string{"us-east-1a", "us-west-2a"}}, command.Faults{"zone us-west-2a of flag -zones is not of region us-east-1; name zones of one region"}},
		{place.Asked{Region: "us-west-2", Zones: []string{"us-east-1a"}}, command.Faults{"zone us-east-1a of flag -zones is not of region us-west-2; name zones of one region"}},
	} {
		var faults command.Faults
		tt.asked.Check(&faults)
		require.Equal(t, tt.want, faults)
	}
}
