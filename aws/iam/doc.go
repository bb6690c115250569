// Package iam says which rights the controller of the AWS provider needs, as
// IAM policies that grant these and no others.
//
// # Model
//
// [ControllerPolicies] makes a [Policy] for each part of the controller's work
// from a [Config]: the cluster, where it is, and which roles its nodes may have.
//
//	NodeLifecycle      launch, tag and terminate instances
//	IAMIntegration     pass node roles to EC2, keep instance profiles
//	EKSIntegration     read the cluster
//	Interruption       read the queue of interruptions
//	ZonalShift         read whether the cluster is shifted away from a zone
//	ResourceDiscovery  read what there is: types, images, subnets, prices
//
// Rights that change something hold for one cluster, region and account. What the
// controller creates must carry the tags of its cluster, and it can change only
// what carries them. What it reads is not secret, and AWS offers nothing finer
// than the region for most of it.
//
// A policy is a value and can be looked at, added to, or merged ([Merge]). Its
// JSON is the same bytes each time. IAM limits its size, without white space;
// [Policy.Check] tells.
//
// [Actions] lists every call that the provider makes with the rights it needs, so
// that the two can be compared.
//
// # What is left out
//
// The policies of nodes and the trust policy of the controller's role are not
// made here, nor is anything created in AWS. Images behind keys of a customer,
// and parameters outside of /aws/service that [Config] does not name, need rights
// of their own.
//
// # Guarantees
//
// Everything is a function of its arguments. Bad input gives all its faults at
// once. Nothing from outside panics or ends up in a policy unchecked: names with
// wildcards or variables of the policy language are refused.
package iam
