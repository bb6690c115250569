package iam

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Config says for whom and for what policies are made.
type Config struct {
	// ClusterName is the name of the EKS cluster. Required.
	ClusterName string
	// Region is the region of the cluster, such as eu-west-1. Required.
	Region string
	// Account is the account of the cluster, twelve digits. Required.
	Account string
	// Partition is aws, aws-cn, aws-us-gov and so on. Empty takes that of the
	// region.
	Partition string
	// NodeRoles are the ARNs of the IAM roles that nodes may have: what classes
	// name as role, and what is in the instance profiles that they name.
	// Required, as a launch passes a role.
	NodeRoles []string
	// QueueARN is the ARN of the queue of interruptions, in the same account and
	// region. Empty if there is none.
	QueueARN string
	// ZonalShift says that the controller watches zonal shifts of the cluster.
	ZonalShift bool
	// ForeignInstanceProfiles says that all classes name instance profiles that
	// somebody else keeps. The controller then has no right to make any.
	ForeignInstanceProfiles bool
	// Parameters are the ARNs of SSM parameters, beyond the public ones under
	// /aws/service, that classes select images by.
	Parameters []string
}

// PartitionOf returns the partition that a region is in, judged by its name:
// aws-cn for cn-north-1, aws for what has no other.
func PartitionOf(region string) string {
	for _, p := range []struct{ prefix, partition string }{
		{"cn-", "aws-cn"},
		{"us-gov-", "aws-us-gov"},
		{"us-iso-", "aws-iso"},
		{"us-isob-", "aws-iso-b"},
		{"eu-isoe-", "aws-iso-e"},
		{"us-isof-", "aws-iso-f"},
		{"eusc-", "aws-eusc"},
	} {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition
		}
	}
	return "aws"
}

// Validate returns every fault of the config, joined, or nil.
//
//   - ClusterName: as EKS has it, a letter or digit and then up to 99 letters,
//     digits, - and _
//   - Region: small letters and digits with - between, ending in a number
//   - Account: twelve digits
//   - Partition: empty, or that of the region
//   - NodeRoles: at least one ARN of a role of the account
//   - QueueARN: empty, or the ARN of a queue of the account and region
//   - Parameters: ARNs of parameters of the region
//
// Nothing may have wildcards: a policy would grant more than it says.
func (c Config) Validate() error {
	var errs []error
	for _, fault := range c.faults() {
		errs = append(errs, fault)
	}
	return errors.Join(errs...)
}

func (c Config) faults() (faults field.ErrorList) {
	required := func(name, value string, valid bool, want string) {
		switch {
		case value == "":
			faults = append(faults, field.Required(field.NewPath(name), want))
		case !valid:
			faults = append(faults, field.Invalid(field.NewPath(name), value, "want "+want))
		}
	}
	required("clusterName", c.ClusterName, isClusterName(c.ClusterName), "the name of an EKS cluster: letters, digits, - and _, at most 100")
	required("region", c.Region, isRegion(c.Region), "the name of a region, such as eu-west-1")
	required("account", c.Account, isAccount(c.Account), "the twelve digits of an AWS account")
	if want := PartitionOf(c.Region); c.Partition != "" && c.Partition != want {
		faults = append(faults, field.Invalid(field.NewPath("partition"), c.Partition, "the region is in "+want+"; write that, or leave it out"))
	}
	roles := field.NewPath("nodeRoles")
	if len(c.NodeRoles) == 0 {
		faults = append(faults, field.Required(roles, "name the roles that nodes may have, as "+c.arn("iam", "", "role/NAME")))
	}
	for i, role := range c.NodeRoles {
		if name, ok := strings.CutPrefix(role, c.arn("iam", "", "role/")); !ok || !isName(name, "/+=,.@-_") {
			faults = append(faults, field.Invalid(roles.Index(i), role, "want the ARN of a role of the account, without wildcards: "+c.arn("iam", "", "role/NAME")))
		}
	}
	if c.QueueARN != "" {
		if name, ok := strings.CutPrefix(c.QueueARN, c.arn("sqs", c.Region, "")); !ok || !isName(name, "-_.") {
			faults = append(faults, field.Invalid(field.NewPath("queueARN"), c.QueueARN, "want the ARN of a queue of the account and region: "+c.arn("sqs", c.Region, "NAME")))
		}
	}
	for i, parameter := range c.Parameters {
		if !c.isParameter(parameter) {
			faults = append(faults, field.Invalid(field.NewPath("parameters").Index(i), parameter,
				"want the ARN of a parameter of the region, without wildcards: "+c.arn("ssm", c.Region, "parameter/NAME")))
		}
	}
	return faults
}

// isParameter accepts parameters of other accounts, as they can be shared.
func (c Config) isParameter(arn string) bool {
	rest, ok := strings.CutPrefix(arn, "arn:"+c.partition()+":ssm:"+c.Region+":")
	account, rest, found := strings.Cut(rest, ":")
	name, isParameter := strings.CutPrefix(rest, "parameter/")
	return ok && found && isParameter && isAccount(account) && isName(name, "/.-_")
}

func (c Config) partition() string {
	if c.Partition != "" {
		return c.Partition
	}
	return PartitionOf(c.Region)
}

// arn returns the ARN of a resource of the account.
func (c Config) arn(service, region, resource string) string {
	return "arn:" + c.partition() + ":" + service + ":" + region + ":" + c.Account + ":" + resource
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

func isClusterName(text string) bool {
	return isName(text, "-_") && len(text) <= 100 && !strings.ContainsRune("-_", rune(text[0]))
}

func isRegion(text string) bool {
	parts := strings.Split(text, "-")
	last := parts[len(parts)-1]
	return len(parts) >= 3 && strings.Trim(last, digits) == "" &&
		!slices.ContainsFunc(parts, func(p string) bool { return p == "" || strings.Trim(p, lower+digits) != "" })
}

func isAccount(text string) bool {
	return len(text) == 12 && strings.Trim(text, digits) == ""
}

// isName accepts letters, digits and what else is given, and not the empty text.
func isName(text, others string) bool {
	return text != "" && strings.Trim(text, lower+upper+digits+others) == ""
}
