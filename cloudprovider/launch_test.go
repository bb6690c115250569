package cloudprovider_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestLaunchOptionLabels(t *testing.T) {
	it := large()
	it.Requirements = it.Requirements.With(
		requirements.DoesNotExist("example.com/gpu"),
		requirements.NotIn("example.com/rack", "r1"),
		requirements.Gt("example.com/speed", 3),
		requirements.Exists("example.com/any"),
	)
	it.Offerings[2].Requirements = requirements.MustParse("example.com/zone-id = z1")
	option := cloudprovider.LaunchOption{InstanceType: it, Offering: &it.Offerings[2]}
	reqs := option.Requirements()
	for key, value := range map[string]string{"topology.kubernetes.io/zone": "zone-a", "karpenter.sh/capacity-type": "spot", "example.com/zone-id": "z1"} {
		r, found := reqs.Get(key)
		require.True(t, found, key)
		require.True(t, r.Equal(requirements.In(key, value)), "%s", r)
	}
	labels := option.NodeLabels()
	require.Equal(t, map[string]string{
		"node.kubernetes.io/instance-type": "m5.large",
		"kubernetes.io/arch":               "amd64",
		"karpenter.sh/capacity-type":       "spot",
		"topology.kubernetes.io/zone":      "zone-a",
		"example.com/zone-id":              "z1",
	}, labels, "only what is certain")
	require.Equal(t, labels, option.NodeLabels(), "a fresh map each time")
}

func TestLaunchOptionString(t *testing.T) {
	it := large()
	require.Equal(t, "?", cloudprovider.LaunchOption{}.String())
	require.Equal(t, "?", cloudprovider.LaunchOption{InstanceType: it}.String())
	options := launch.Compatible([]*cloudprovider.InstanceType{nil, it}, requirements.MustParse("karpenter.sh/capacity-type = on-demand"))
	require.Equal(t, "[m5.large/zone-a/on-demand at 0.096 USD/h m5.large/zone-b/on-demand at 0.096 USD/h]", fmt.Sprint(options))
}

func TestLaunchRequestValidate(t *testing.T) {
	it := large()
	good := cloudprovider.LaunchRequest{
		Token: "uid-1", NodeClassRef: v1.NodeClassReference{Name: "default"},
		Options: []cloudprovider.LaunchOption{{InstanceType: it, Offering: &it.Offerings[0]}},
	}
	require.NoError(t, good.Validate())

	bad := cloudprovider.LaunchRequest{Name: "web-x7"}
	err := bad.Validate()
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.EqualError(t, err, "Create web-x7: denied: launch request web-x7: token: empty; set one that is unique to this machine, or a retry may launch a second; "+
		"launch request web-x7: nodeClassRef.name: empty; name the node class to launch with; "+
		"launch request web-x7: options: none; give at least one offering to launch")

	bare := good
	bare.NodePool, bare.NodeClassRef = "small-a", v1.NodeClassReference{}
	require.EqualError(t, bare.Validate(), "Create: denied: launch request: nodeClassRef.name: empty; "+
		`NodePool "small-a" names no node class in spec.template.spec.nodeClassRef; set it`)

	good.Options = []cloudprovider.LaunchOption{good.Options[0], {InstanceType: it}, {Offering: &it.Offerings[0]}}
	require.EqualError(t, good.Validate(), "Create: denied: launch request: options[1]: instance type or offering is nil; set both; "+
		"launch request: options[2]: instance type or offering is nil; set both")
}

func TestInstanceOfferingKey(t *testing.T) {
	i := &cloudprovider.Instance{ID: "i-1", Type: "m5.large", Zone: "zone-a", CapacityType: "reserved", ReservationID: "cr-1"}
	it := large()
	o, found := it.Offering(i.OfferingKey())
	require.True(t, found)
	require.Equal(t, "cr-1", o.ReservationID)
}
