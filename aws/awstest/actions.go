package awstest

import "slices"

// handler carries out a call with the Cloud locked, and returns what to encode.
type handler func(*Cloud, *request) (any, *fault)

// handlersOf are the operations of a service.
func handlersOf(service string) map[string]handler {
	switch service {
	case ec2Service:
		return map[string]handler{
			"CreateFleet": (*Cloud).createFleet, "CreateLaunchTemplate": (*Cloud).createLaunchTemplate, "CreateTags": (*Cloud).createTags,
			"DeleteLaunchTemplate":         (*Cloud).deleteLaunchTemplate,
			"DescribeAvailabilityZones":    (*Cloud).describeAvailabilityZones,
			"DescribeCapacityReservations": (*Cloud).describeCapacityReservations, "DescribeImages": (*Cloud).describeImages,
			"DescribeInstanceStatus": (*Cloud).describeInstanceStatus, "DescribeInstanceTypeOfferings": (*Cloud).describeInstanceTypeOfferings,
			"DescribeInstanceTypes": (*Cloud).describeInstanceTypes, "DescribeInstances": (*Cloud).describeInstances,
			"DescribeLaunchTemplates": (*Cloud).describeLaunchTemplates, "DescribePlacementGroups": (*Cloud).describePlacementGroups,
			"DescribeSecurityGroups": (*Cloud).describeSecurityGroups, "DescribeSpotPriceHistory": (*Cloud).describeSpotPriceHistory,
			"DescribeSubnets": (*Cloud).describeSubnets, "RunInstances": (*Cloud).runInstances, "TerminateInstances": (*Cloud).terminateInstances,
		}
	case iamService:
		return map[string]handler{
			"AddRoleToInstanceProfile": (*Cloud).addRole, "CreateInstanceProfile": (*Cloud).createProfile,
			"DeleteInstanceProfile": (*Cloud).deleteProfile, "GetInstanceProfile": (*Cloud).getProfile,
			"ListInstanceProfiles": (*Cloud).listProfiles, "RemoveRoleFromInstanceProfile": (*Cloud).removeRole,
		}
	case sqsService:
		return map[string]handler{
			"DeleteMessage": (*Cloud).deleteMessage, "GetQueueUrl": (*Cloud).getQueueURL, "ReceiveMessage": (*Cloud).receiveMessage,
		}
	case ssmService:
		return map[string]handler{"GetParameter": (*Cloud).getParameter}
	case pricingService:
		return map[string]handler{"GetProducts": (*Cloud).getProducts}
	case eksService:
		return map[string]handler{"DescribeCluster": (*Cloud).describeCluster}
	case shiftService:
		return map[string]handler{"GetManagedResource": (*Cloud).getManagedResource}
	}
	return nil
}

func services() []string {
	return []string{shiftService, ec2Service, eksService, iamService, pricingService, sqsService, ssmService}
}

func actionsOf(service string) (actions []string) {
	for a := range handlersOf(service) {
		actions = append(actions, a)
	}
	slices.Sort(actions)
	return actions
}

// isAction reports whether any service has the action. No two share a name.
func isAction(action string) bool {
	return slices.ContainsFunc(services(), func(s string) bool { return handlersOf(s)[action] != nil })
}
