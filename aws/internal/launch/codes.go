package launch

import (
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// class is the subject of a failure, such as an offering, a subnet or a quota.
type class int

const (
	isOther class = iota
	isStock
	isNoSpot
	isQuota
	isAddresses
	isSpread
)

// classify reads the code of a failure, and the message where codes are not enough: EC2
// reports a full spread placement group under the codes of stock and of bad parameters.
func classify(f Failure) class {
	if strings.Contains(strings.ToLower(f.Message), "spread placement group") {
		return isSpread
	}
	switch f.Code {
	case "InsufficientInstanceCapacity", "UnfulfillableCapacity", "Unsupported", "ReservationCapacityExceeded",
		"InsufficientHostCapacity", "InsufficientCapacity", "InsufficientReservedInstanceCapacity", "InstanceLimitExceeded",
		// The spot price is above the maximum of the request; an interruptible reservation is being
		// taken back.
		"SpotMaxPriceTooLow", "InvalidCapacityReservationState.Unavailable":
		return isStock
	case "AuthFailure.ServiceLinkedRoleCreationNotPermitted":
		return isNoSpot
	case "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded":
		return isQuota
	case "InsufficientFreeAddressesInSubnet":
		return isAddresses
	}
	return isOther
}

// summary reports whether a failure is about stock and names no override.
func summary(f Failure) bool {
	return f.InstanceType == "" && f.Zone == "" && classify(f) == isStock
}

// IsInternal reports whether a code means an internal error of EC2.
func IsInternal(code string) bool {
	return slices.Contains([]string{"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable"}, code)
}

// quota returns the name of the quota of vCPUs that an instance type counts towards. Spot and
// on-demand instances have separate quotas of the same names.
func quota(instanceType string) string {
	end := strings.IndexAny(instanceType, "0123456789.-")
	if end < 0 {
		end = len(instanceType)
	}
	switch family := instanceType[:end]; family {
	case "g", "gr", "vt":
		return "G and VT"
	case "f", "p", "x", "inf", "trn", "dl", "hpc", "u", "mac":
		return family
	}
	return "Standard"
}

// LostTemplate reports whether a code means that a launch template does not exist.
func LostTemplate(code string) bool {
	return strings.HasPrefix(code, "InvalidLaunchTemplateName.NotFound") || code == "InvalidLaunchTemplateId.NotFound"
}

// AllowCall is the remedy if the controller may not make a call. The text of package api names the
// call in addition.
const AllowCall = "allow the controller the call, as the policies in aws/iam do"

// cause returns the kind and the remedy of a failure that is not about capacity.
func cause(f Failure) (cloudprovider.Kind, string) {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool {
			return strings.Contains(f.Code, part) || strings.Contains(f.Message, part)
		})
	}
	switch {
	case LostTemplate(f.Code):
		return cloudprovider.KindUnknown, "the launch template was deleted meanwhile; repeat the launch"
	case has("Not authorized for images"):
		return cloudprovider.KindDenied, "share the image with this account, or select another one"
	case api.PolicyRemedy(f.Message) != "":
		return cloudprovider.KindDenied, api.PolicyRemedy(f.Message)
	case has("UnauthorizedOperation", "AccessDenied", "AuthFailure"):
		return cloudprovider.KindDenied, AllowCall
	case has("RequestLimitExceeded", "Throttl"):
		return cloudprovider.KindThrottled, ""
	case has("MaxFleetCountExceeded"):
		return cloudprovider.KindThrottled, "too many fleets in the account; wait, or have the quota raised"
	case has("different networks"):
		return cloudprovider.KindDenied, "select security groups and subnets of one VPC"
	case strings.Contains(f.Message, "iamInstanceProfile.name") || strings.Contains(f.Message, "Invalid IAM Instance Profile name"):
		return cloudprovider.KindDenied, "name an instance profile that exists"
	case has("User data is limited"):
		return cloudprovider.KindDenied, "make spec.userData of the node class smaller"
	case has("InvalidAMIID.Malformed", "InvalidAMIID.NotFound", "InvalidAMIID.Unavailable"):
		return cloudprovider.KindDenied, "select an image that exists in the region"
	case has("InvalidSubnetID.NotFound"):
		return cloudprovider.KindDenied, "the subnet was deleted; select another one by spec.subnetSelectorTerms of the node class"
	case has("InvalidGroup.NotFound", "InvalidSecurityGroupID.NotFound"):
		return cloudprovider.KindDenied, "the security group was deleted; select another one by spec.securityGroupSelectorTerms of the node class"
	case has("InvalidCapacityReservationId.NotFound"):
		return cloudprovider.KindDenied, "the capacity reservation is gone; select another one by spec.capacityReservationSelectorTerms of the node class"
	case has("InvalidPlacementGroup.Unknown"):
		return cloudprovider.KindDenied, "the placement group was deleted; name another one in spec.placementGroupSelector of the node class"
	case has("InvalidSnapshot.NotFound"):
		return cloudprovider.KindDenied, "name a snapshot that exists in spec.blockDeviceMappings of the node class"
	case has("free tier", "Free Tier"):
		return cloudprovider.KindDenied, "use instance types of the free tier, or upgrade the account"
	case has("PendingVerification"):
		return cloudprovider.KindDenied, "wait until AWS has verified the account"
	case IsInternal(f.Code), has("Unavailable"):
		return cloudprovider.KindUnknown, ""
	case strings.HasPrefix(f.Code, "Invalid") || strings.HasPrefix(f.Code, "Missing"):
		return cloudprovider.KindDenied, ""
	}
	return cloudprovider.KindUnknown, ""
}

// Cause returns the kind and the remedy of a failure that EC2 reports for a call as a whole, by
// code and message.
func Cause(code, message string) (cloudprovider.Kind, string) {
	return cause(Failure{Code: code, Message: message})
}
