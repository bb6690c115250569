package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func names(t *testing.T, opts *catalog.Options) []string {
	t.Helper()
	types, err := catalog.New(opts)
	require.NoError(t, err)
	out := []string{}
	for _, it := range types {
		require.NoError(t, it.Validate())
		out = append(out, it.Name)
	}
	return out
}

func TestNewCatalogChooses(t *testing.T) {
	require.Equal(t, []string{"m5.large", "m5.metal", "t3a.2xlarge", "t3a.large", "t3a.medium", "t3a.micro", "t3a.nano", "t3a.small", "t3a.xlarge"},
		names(t, &catalog.Options{Families: []string{"t3a"}, Types: []string{"m5.metal", "m5.large", "t3a.nano"}}))
	require.Equal(t, []string{"c7g.medium"},
		names(t, &catalog.Options{Families: []string{"c7g", "c7i"}, Where: requirements.MustParse(
			"kubernetes.io/arch = arm64, " + awsv1.LabelInstanceCPU + " < 2")}))
	require.Len(t, names(t, nil), len(catalog.All()))
}

func TestNewCatalogNarrowsOfferings(t *testing.T) {
	types, err := catalog.New(&catalog.Options{
		Types: []string{"m5.large"},
		Where: requirements.MustParse("karpenter.sh/capacity-type = spot, topology.kubernetes.io/zone in (us-east-1b, us-east-1d)"),
	})
	require.NoError(t, err)
	require.Len(t, types, 1)
	require.Len(t, types[0].Offerings, 2)
	require.Equal(t, []string{v1.CapacityTypeSpot}, values(t, types[0], v1.CapacityTypeLabelKey))
	require.Equal(t, []string{"us-east-1b", "us-east-1d"}, values(t, types[0], corev1.LabelTopologyZone))
	require.Equal(t, []string{"use1-az2", "use1-az4"}, values(t, types[0], awsv1.LabelTopologyZoneID))
}

func TestZones(t *testing.T) {
	for region, id := range map[string]string{
		"us-east-1":      "use1-az1",
		"ap-southeast-2": "apse2-az1",
		"ap-northeast-1": "apne1-az1",
		"eu-north-1":     "eun1-az1",
		"ca-central-1":   "cac1-az1",
		"us-gov-west-1":  "usgw1-az1",
		"us-west-12":     "usw12-az1",
		"elsewhere":      "elsewhere-az1",
		"a--b":           "ab-az1",
	} {
		types, err := catalog.New(&catalog.Options{Region: region, Types: []string{"m5.large"}})
		require.NoError(t, err)
		require.Equal(t, id, values(t, types[0], awsv1.LabelTopologyZoneID)[0])
		require.Equal(t, []string{region}, values(t, types[0], corev1.LabelTopologyRegion))
		require.Equal(t, region+"a", types[0].Offerings[0].Zone)
	}
}

func TestOwnZones(t *testing.T) {
	types, err := catalog.New(&catalog.Options{
		Region: "here-1", Types: []string{"m5.large", "trn2.48xlarge"},
		Zones: []catalog.Zone{{Name: "z", ID: "z-id"}, {Name: "y"}, {Name: "x"}, {Name: "w"}, {Name: "v"}, {Name: "u"}, {Name: "t"}},
	})
	require.NoError(t, err)
	// Trainium 2 is in the third zone, and so in the seventh.
	require.Equal(t, []string{"t", "x"}, values(t, types[1], corev1.LabelTopologyZone))
	require.Equal(t, []string{"here1-az3", "here1-az7"}, values(t, types[1], awsv1.LabelTopologyZoneID))
	require.Contains(t, values(t, types[0], awsv1.LabelTopologyZoneID), "z-id")
	// Offerings are in the order of keys, not of the option.
	require.Equal(t, "t", types[0].Offerings[0].Zone)
	require.Equal(t, "here1-az7", func() string {
		r, _ := types[0].Offerings[0].Requirements.Get(awsv1.LabelTopologyZoneID)
		v, _ := r.Values()
		return v[0]
	}())
}

// The IDs of an account need not be in the order of the names.
func TestZonesHaveIDsOfTheirOwn(t *testing.T) {
	types, err := catalog.New(&catalog.Options{Types: []string{"m5.large"},
		Zones: []catalog.Zone{{Name: "us-east-1a", ID: "use1-az4"}, {Name: "us-east-1b", ID: "use1-az5"}, {Name: "us-east-1c"}, {Name: "us-east-1d"}}})
	require.NoError(t, err)
	require.Equal(t, []string{"use1-az3", "use1-az4", "use1-az5", "use1-az6"}, values(t, types[0], awsv1.LabelTopologyZoneID))
}

func TestNewCatalogFaults(t *testing.T) {
	for name, c := range map[string]struct {
		opts catalog.Options
		want []string
	}{
		"names": {
			catalog.Options{Families: []string{"m5", "m99", "x"}, Types: []string{"m5.3xlarge", "zz9.large", "large", ""}},
			[]string{
				`Families[1]: there is no family "m99"; name one as in m5, and a type as in m5.large; those alike are m4, m5, m5a`,
				`Families[2]: there is no family "x"`,
				`Types[0]: the family m5 has no size "3xlarge"; it comes as large, xlarge, 2xlarge`,
				`Types[1]: there is no family "zz9"`,
				`Types[2]: there is no family "large"`,
				`Types[3]: there is no family ""`,
			},
		},
		"zones": {
			catalog.Options{Zones: []catalog.Zone{{Name: "a"}, {}, {Name: "a"}}},
			[]string{"Zones[1]: the name is empty", "Zones[2]: a is listed twice"},
		},
		"not in the zones": {
			catalog.Options{Zones: []catalog.Zone{{Name: "a"}}, Families: []string{"p3dn"}, Types: []string{"trn2.48xlarge", "m5.large"}},
			[]string{
				"Families[0]: none of the zones has the family p3dn; list 4 zones, which have all families",
				"Types[0]: none of the zones has the family trn2; list 4 zones, which have all families",
			},
		},
		"unknown label": {
			catalog.Options{Where: requirements.MustParse("team = a, kubernetes.io/arch = amd64")},
			[]string{"Where: no instance type has the label team; WellKnownLabels lists"},
		},
		"nothing left": {
			catalog.Options{Families: []string{"m5"}, Where: requirements.MustParse("kubernetes.io/arch = arm64")},
			[]string{"Where: no instance type satisfies kubernetes.io/arch = arm64; ask for less"},
		},
		"no offering left": {
			catalog.Options{Families: []string{"u-6tb1"}, Where: requirements.MustParse("karpenter.sh/capacity-type = spot")},
			[]string{"Where: no instance type satisfies"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			types, err := catalog.New(&c.opts)
			require.Nil(t, types)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}
