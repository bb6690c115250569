package launch_test

import (
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// option returns one way to launch.
func option(instanceType, zone, capacityType string, price float64, more ...func(*cloudprovider.LaunchOption)) cloudprovider.LaunchOption {
	o := cloudprovider.LaunchOption{
		InstanceType: &cloudprovider.InstanceType{Name: instanceType,
			Requirements: requirements.NewSet(
				requirements.In("node.kubernetes.io/instance-type", instanceType),
				requirements.In(awsv1.LabelInstanceSize, size(instanceType)))},
		Offering: &cloudprovider.Offering{Zone: zone, CapacityType: capacityType, Price: price, Available: true},
	}
	for _, f := range more {
		f(&o)
	}
	return o
}

func size(instanceType string) string {
	for i := range instanceType {
		if instanceType[i] == '.' {
			return instanceType[i+1:]
		}
	}
	return ""
}

func with(resource, amounts string) func(*cloudprovider.LaunchOption) {
	return func(o *cloudprovider.LaunchOption) {
		o.InstanceType.Capacity = resources.MustParse(resource + "=" + amounts)
	}
}

// reserved makes it an offering of a reservation with so much left.
func reserved(id string, left int, kind awsv1.CapacityReservationType, interruptible string) func(*cloudprovider.LaunchOption) {
	return func(o *cloudprovider.LaunchOption) {
		o.Offering.CapacityType, o.Offering.ReservationID, o.Offering.ReservationCapacity = karpv1.CapacityTypeReserved, id, left
		o.Offering.Requirements = requirements.NewSet(
			requirements.In(awsv1.LabelCapacityReservationID, id),
			requirements.In(awsv1.LabelCapacityReservationType, string(kind)),
			requirements.In(awsv1.LabelCapacityReservationInterruptible, interruptible))
	}
}

func images(options ...cloudprovider.LaunchOption) map[string]string {
	out := map[string]string{}
	for _, o := range options {
		if o.InstanceType != nil {
			out[o.InstanceType.Name] = "ami-1"
		}
	}
	return out
}

func names(options []cloudprovider.LaunchOption) []string {
	out := []string{}
	for _, o := range options {
		out = append(out, o.Key().String())
	}
	return out
}
