package launch_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func echo(instanceType, subnet, zone string) *ec2types.LaunchTemplateAndOverridesResponse {
	o := &ec2types.FleetLaunchTemplateOverrides{InstanceType: ec2types.InstanceType(instanceType), SubnetId: new(subnet), ImageId: new("ami-1")}
	if zone != "" {
		o.AvailabilityZone = new(zone)
	}
	return &ec2types.LaunchTemplateAndOverridesResponse{
		LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{LaunchTemplateName: new("lt")}, Overrides: o,
	}
}

func TestReadAnswer(t *testing.T) {
	launched, failures := launch.ReadAnswer(&ec2.CreateFleetOutput{
		Instances: []ec2types.CreateFleetInstance{
			{InstanceIds: []string{"i-2", "", "i-1", "i-2"}, InstanceType: "m5.large", LaunchTemplateAndOverrides: echo("m5.large", "subnet-a", "")},
			{InstanceIds: []string{"i-0"}},
		},
		Errors: []ec2types.CreateFleetError{
			{ErrorCode: new("B"), ErrorMessage: new("b"), LaunchTemplateAndOverrides: echo("m5.large", "subnet-b", "zone-b")},
			{ErrorCode: new("A")},
			{ErrorCode: new("B"), ErrorMessage: new("b"), LaunchTemplateAndOverrides: echo("m5.large", "subnet-b", "zone-b")},
			{LaunchTemplateAndOverrides: &ec2types.LaunchTemplateAndOverridesResponse{}},
		},
	}, map[string]string{"subnet-a": "zone-a"})
	require.Equal(t, []launch.Launched{
		{ID: "i-0"},
		{ID: "i-1", InstanceType: "m5.large", Zone: "zone-a", SubnetID: "subnet-a", ImageID: "ami-1", Template: "lt"},
		{ID: "i-2", InstanceType: "m5.large", Zone: "zone-a", SubnetID: "subnet-a", ImageID: "ami-1", Template: "lt"},
	}, launched)
	require.Equal(t, []launch.Failure{
		{}, {Code: "A"}, {Code: "B", Message: "b", InstanceType: "m5.large", Zone: "zone-b", SubnetID: "subnet-b", Template: "lt"},
	}, failures)
	launched, failures = launch.ReadAnswer(nil, nil)
	require.Empty(t, launched)
	require.Empty(t, failures)
}

// failed are failures at m5.large in zone a.
func failed(code, message string) launch.Failure {
	return launch.Failure{Code: code, Message: message, InstanceType: "m5.large", Zone: "a", SubnetID: "subnet-a"}
}

func TestJudge(t *testing.T) {
	key := func(instanceType, zone, capacityType string) cloudprovider.OfferingKey {
		return cloudprovider.OfferingKey{InstanceType: instanceType, Zone: zone, CapacityType: capacityType}
	}
	demand := spec(onDemand, launch.ReservationKind{}, group("1", "ami",
		option("m5.large", "a", onDemand, 0.1), option("m5.large", "b", onDemand, 0.1),
		option("c5.large", "a", onDemand, 0.1), option("g4dn.xlarge", "a", onDemand, 0.5)))
	onSpot := spec(spot, launch.ReservationKind{}, group("1", "ami", option("m5.large", "a", spot, 0.1)))
	onSpot.Types = []string{"c5.large", "g4dn.xlarge", "g5.xlarge", "m5.large"} // of which one went into the call
	held := spec("reserved", launch.ReservationKind{}, group("1", "ami", option("m5.large", "a", "", 1e-8, reserved("cr-1", 1, standard, "false"))))
	for name, c := range map[string]struct {
		spec         *launch.Spec
		failures     []launch.Failure
		kind         cloudprovider.Kind
		reason       string
		offerings    []cloudprovider.OfferingKey
		scopes       []cloudprovider.Scope
		subnets      []string
		reservations []string
		text         string
	}{
		"no stock": {failures: []launch.Failure{failed("InsufficientInstanceCapacity", "no capacity")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InsufficientInstanceCapacity", offerings: []cloudprovider.OfferingKey{key("m5.large", "a", onDemand)}},
		"not sold there": {failures: []launch.Failure{failed("Unsupported", "not in this zone")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "Unsupported", offerings: []cloudprovider.OfferingKey{key("m5.large", "a", onDemand)}},
		"quota of a type": {failures: []launch.Failure{failed("InstanceLimitExceeded", "more than 5")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InstanceLimitExceeded", offerings: []cloudprovider.OfferingKey{key("m5.large", "a", onDemand)}},
		"no override in the error": {failures: []launch.Failure{{Code: "UnfulfillableCapacity", Message: "too few instances"}},
			kind: cloudprovider.KindInsufficientCapacity, reason: "UnfulfillableCapacity", offerings: []cloudprovider.OfferingKey{
				key("c5.large", "a", onDemand), key("g4dn.xlarge", "a", onDemand), key("m5.large", "a", onDemand), key("m5.large", "b", onDemand)}},
		"no reason at all": {kind: cloudprovider.KindInsufficientCapacity, reason: "NoInstances", offerings: []cloudprovider.OfferingKey{
			key("c5.large", "a", onDemand), key("g4dn.xlarge", "a", onDemand), key("m5.large", "a", onDemand), key("m5.large", "b", onDemand)}},
		"quota of vCPUs": {failures: []launch.Failure{failed("VcpuLimitExceeded", "more than 32")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "VcpuLimitExceeded", scopes: []cloudprovider.Scope{
				{InstanceType: "c5.large", CapacityType: onDemand}, {InstanceType: "m5.large", CapacityType: onDemand}}},
		"quota of GPUs": {failures: []launch.Failure{{Code: "VcpuLimitExceeded", InstanceType: "g4dn.xlarge", Zone: "a"}},
			kind: cloudprovider.KindInsufficientCapacity, reason: "VcpuLimitExceeded", scopes: []cloudprovider.Scope{{InstanceType: "g4dn.xlarge", CapacityType: onDemand}}},
		"quota of spot": {spec: onSpot, failures: []launch.Failure{failed("MaxSpotInstanceCountExceeded", "")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "MaxSpotInstanceCountExceeded", scopes: []cloudprovider.Scope{
				{InstanceType: "c5.large", CapacityType: spot}, {InstanceType: "m5.large", CapacityType: spot}}},
		"quota of spot GPUs": {spec: onSpot, failures: []launch.Failure{{Code: "MaxSpotInstanceCountExceeded", InstanceType: "g4dn.xlarge", Zone: "a"}},
			kind: cloudprovider.KindInsufficientCapacity, reason: "MaxSpotInstanceCountExceeded", scopes: []cloudprovider.Scope{
				{InstanceType: "g4dn.xlarge", CapacityType: spot}, {InstanceType: "g5.xlarge", CapacityType: spot}}},
		"no role for spot": {spec: onSpot, failures: []launch.Failure{failed("AuthFailure.ServiceLinkedRoleCreationNotPermitted", "")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", scopes: []cloudprovider.Scope{{CapacityType: spot}}},
		"no addresses": {failures: []launch.Failure{failed("InsufficientFreeAddressesInSubnet", "no addresses")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InsufficientFreeAddressesInSubnet", subnets: []string{"subnet-a"},
			offerings: []cloudprovider.OfferingKey{key("m5.large", "a", onDemand)}, text: "larger subnet"},
		"spread placement group": {failures: []launch.Failure{failed("InvalidParameterValue", "You have reached the limit of instances in the spread placement group")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InvalidParameterValue", scopes: []cloudprovider.Scope{{Zone: "a"}}},
		"a full spread placement group": {failures: []launch.Failure{failed("InsufficientInstanceCapacity", "The limit of 7 running instances in the spread placement group pg-1 is reached")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InsufficientInstanceCapacity", scopes: []cloudprovider.Scope{{Zone: "a"}}},
		"a full spread placement group somewhere": {failures: []launch.Failure{{Code: "InvalidParameterValue", Message: "Spread placement group is full"}},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InvalidParameterValue", scopes: []cloudprovider.Scope{{Zone: "a"}, {Zone: "b"}}},
		"too few, and no stock of one": {failures: []launch.Failure{{Code: "UnfulfillableCapacity", Message: "too few instances"}, failed("InsufficientInstanceCapacity", "no capacity")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InsufficientInstanceCapacity", offerings: []cloudprovider.OfferingKey{key("m5.large", "a", onDemand)}},
		"too few, and a quota": {failures: []launch.Failure{{Code: "UnfulfillableCapacity"}, failed("VcpuLimitExceeded", "more than 32")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "VcpuLimitExceeded", scopes: []cloudprovider.Scope{
				{InstanceType: "c5.large", CapacityType: onDemand}, {InstanceType: "m5.large", CapacityType: onDemand}}},
		"too few, twice": {failures: []launch.Failure{{Code: "UnfulfillableCapacity", Message: "one"}, {Code: "InsufficientCapacity", Message: "two"}},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InsufficientCapacity", offerings: []cloudprovider.OfferingKey{
				key("c5.large", "a", onDemand), key("g4dn.xlarge", "a", onDemand), key("m5.large", "a", onDemand), key("m5.large", "b", onDemand)}},
		"a price above what is allowed": {spec: onSpot, failures: []launch.Failure{failed("SpotMaxPriceTooLow", "too low")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "SpotMaxPriceTooLow", offerings: []cloudprovider.OfferingKey{
				key("m5.large", "a", "spot")}},
		"a reservation that is taken back": {spec: held, failures: []launch.Failure{failed("InvalidCapacityReservationState.Unavailable", "reclaimed")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InvalidCapacityReservationState.Unavailable", reservations: []string{"cr-1"},
			offerings: []cloudprovider.OfferingKey{{InstanceType: "m5.large", Zone: "a", CapacityType: "reserved", ReservationID: "cr-1"}}},
		"a full reservation": {spec: held, failures: []launch.Failure{failed("ReservationCapacityExceeded", "full")},
			kind: cloudprovider.KindInsufficientCapacity, reason: "ReservationCapacityExceeded", reservations: []string{"cr-1"},
			offerings: []cloudprovider.OfferingKey{{InstanceType: "m5.large", Zone: "a", CapacityType: "reserved", ReservationID: "cr-1"}}},
		"several refusals": {failures: []launch.Failure{failed("InsufficientInstanceCapacity", "no capacity"), {Code: "Unsupported", InstanceType: "m5.large", Zone: "b"}},
			kind: cloudprovider.KindInsufficientCapacity, reason: "InsufficientInstanceCapacity",
			offerings: []cloudprovider.OfferingKey{key("m5.large", "a", onDemand), key("m5.large", "b", onDemand)}},
		"not allowed, and no stock": {failures: []launch.Failure{failed("InsufficientInstanceCapacity", "no capacity"), failed("UnauthorizedOperation", "no")},
			kind: cloudprovider.KindDenied, reason: "UnauthorizedOperation", text: "aws/iam"},
		"no such image":     {failures: []launch.Failure{failed("InvalidAMIID.NotFound", "ami-1")}, kind: cloudprovider.KindDenied, reason: "InvalidAMIID.NotFound", text: "image that exists"},
		"foreign image":     {failures: []launch.Failure{failed("AuthFailure", "Not authorized for images: [ami-1]")}, kind: cloudprovider.KindDenied, reason: "AuthFailure", text: "share the image"},
		"service policy":    {failures: []launch.Failure{failed("UnauthorizedOperation", "explicit deny in a service control policy")}, kind: cloudprovider.KindDenied, reason: "UnauthorizedOperation", text: "organization"},
		"two networks":      {failures: []launch.Failure{failed("InvalidParameter", "Security group sg-1 and subnet subnet-1 belong to different networks.")}, kind: cloudprovider.KindDenied, reason: "InvalidParameter", text: "one VPC"},
		"throttled":         {failures: []launch.Failure{failed("RequestLimitExceeded", "slow down")}, kind: cloudprovider.KindThrottled, reason: "RequestLimitExceeded"},
		"too many fleets":   {failures: []launch.Failure{failed("MaxFleetCountExceeded", "")}, kind: cloudprovider.KindThrottled, reason: "MaxFleetCountExceeded", text: "quota"},
		"internal error":    {failures: []launch.Failure{failed("InternalError", "oops")}, kind: cloudprovider.KindUnknown, reason: "InternalError"},
		"lost template":     {failures: []launch.Failure{failed("InvalidLaunchTemplateId.NotFound", "lt")}, kind: cloudprovider.KindUnknown, reason: "InvalidLaunchTemplateId.NotFound", text: "repeat"},
		"worst comes first": {failures: []launch.Failure{failed("InternalError", "oops"), failed("RequestLimitExceeded", ""), failed("InvalidParameterValue", "bad")}, kind: cloudprovider.KindDenied, reason: "InvalidParameterValue"},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.spec
			if s == nil {
				s = demand
			}
			v := launch.Judge(s, c.failures, nil)
			require.Equal(t, c.kind, cloudprovider.KindOf(v.Err), "%v", v.Err)
			require.Equal(t, c.reason, v.Err.Reason)
			require.Equal(t, c.offerings, v.Err.Offerings)
			require.Equal(t, c.scopes, v.Err.Scopes)
			require.Equal(t, c.subnets, v.FullSubnets)
			require.Equal(t, c.reservations, v.FullReservations)
			require.Contains(t, v.Err.Error(), c.text)
			require.Equal(t, name == "lost template", v.LostTemplates)
			require.Equal(t, name == "internal error" || name == "worst comes first", v.Internal)
		})
	}
}

func TestRefusalsAreFoundBelowOtherErrors(t *testing.T) {
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami", option("m5.large", "a", onDemand, 0.1)))
	v := launch.Judge(s, []launch.Failure{failed("InsufficientInstanceCapacity", "no capacity"), failed("UnauthorizedOperation", "no")}, nil)
	var found bool
	for _, e := range v.Err.Unwrap().(interface{ Unwrap() []error }).Unwrap() {
		var refusal *cloudprovider.Error
		if errors.As(e, &refusal) && refusal.Kind == cloudprovider.KindInsufficientCapacity {
			found = len(refusal.Offerings) == 1
		}
	}
	require.True(t, found)
}

// A failure that names no override says nothing of stock beside one that is denied.
func TestTooFewBesideAnotherCauseMarksNothing(t *testing.T) {
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami", option("m5.large", "a", onDemand, 0.1)))
	v := launch.Judge(s, []launch.Failure{{Code: "UnfulfillableCapacity", Message: "too few instances"}, failed("UnauthorizedOperation", "no")}, nil)
	require.Equal(t, cloudprovider.KindDenied, v.Err.Kind)
	require.NotErrorIs(t, v.Err, cloudprovider.ErrInsufficientCapacity)
	require.NotContains(t, v.Err.Error(), "too few")
}

func TestInternalErrorsThatLast(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	var e launch.InternalErrors
	require.False(t, e.Failed(now, spot, "one"))
	require.False(t, e.Failed(now, spot, "two"))
	require.False(t, e.Failed(now, spot, "one"), "the same call once more")
	require.False(t, e.Failed(now, "reserved", "three"), "another capacity type")
	require.True(t, e.Failed(now, spot, "three"))
	require.True(t, e.Failed(now.Add(10*time.Minute), spot, "four"))
	require.False(t, e.Failed(now.Add(30*time.Minute), spot, "five"), "most are long ago")
	require.True(t, e.Failed(now.Add(31*time.Minute), spot, "six"))
	e.Worked(spot)
	require.False(t, e.Failed(now.Add(31*time.Minute), spot, "seven"))
}

func TestCause(t *testing.T) {
	for code, text := range map[string]string{
		"InvalidParameterValue":                 "instance profile",
		"InvalidSubnetID.NotFound":              "spec.subnetSelectorTerms",
		"InvalidGroup.NotFound":                 "spec.securityGroupSelectorTerms",
		"InvalidSecurityGroupID.NotFound":       "spec.securityGroupSelectorTerms",
		"InvalidCapacityReservationId.NotFound": "spec.capacityReservationSelectorTerms",
		"InvalidPlacementGroup.Unknown":         "spec.placementGroupSelector",
		"InvalidSnapshot.NotFound":              "spec.blockDeviceMappings",
		"InvalidKeyPair.NotFound":               "",
	} {
		message := "it does not exist"
		if code == "InvalidParameterValue" {
			message = "Invalid IAM Instance Profile name"
		}
		kind, remedy := launch.Cause(code, message)
		require.Equal(t, cloudprovider.KindDenied, kind, code)
		require.Contains(t, remedy, text)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("InsufficientInstanceCapacity", "no", "m5.large", "a", "VcpuLimitExceeded", "", "", "")
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami", option("m5.large", "a", onDemand, 0.1)))
	f.Fuzz(func(t *testing.T, code, message, instanceType, zone, code2, message2, instanceType2, zone2 string) {
		_, failures := launch.ReadAnswer(&ec2.CreateFleetOutput{Errors: []ec2types.CreateFleetError{
			{ErrorCode: &code, ErrorMessage: &message, LaunchTemplateAndOverrides: echo(instanceType, "subnet", zone)},
			{ErrorCode: &code2, ErrorMessage: &message2, LaunchTemplateAndOverrides: echo(instanceType2, "", zone2)},
		}}, nil)
		v := launch.Judge(s, failures, nil)
		require.NotNil(t, v.Err)
		require.NotEmpty(t, v.Err.Error())
		require.Equal(t, v, launch.Judge(s, failures, nil))
	})
}

// Where another subnet of the zone has addresses, nothing but the subnet is refused.
func TestAnotherSubnetOfTheZone(t *testing.T) {
	s := spec(onDemand, launch.ReservationKind{}, group("1", "ami", option("m5.large", "a", onDemand, 0.1)))
	for _, spare := range []bool{true, false} {
		v := launch.Judge(s, []launch.Failure{failed("InsufficientFreeAddressesInSubnet", "no addresses")}, func(zone, subnet string) bool {
			require.Equal(t, "a subnet-a", zone+" "+subnet)
			return spare
		})
		require.Equal(t, cloudprovider.KindInsufficientCapacity, cloudprovider.KindOf(v.Err))
		require.Equal(t, []string{"subnet-a"}, v.FullSubnets)
		require.Equal(t, spare, len(v.Err.Offerings) == 0)
	}
}
