package v1

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// Validate returns every fault of the class's spec, in the order of the fields,
// or nil. Each names the field, the value and the remedy. These are the rules of
// the schema and those by which the controller says that a class is not ready:
//
//   - subnetSelectorTerms, securityGroupSelectorTerms: 1 to 30 terms, each with
//     exactly one of its fields; capacityReservationSelectorTerms: at most 30,
//     each with an id alone, or with tags or instanceMatchCriteria; ids have the
//     form of their kind; tags number 1 to 20, with keys and values that are not
//     empty
//   - placementGroupSelector: exactly one of name and id
//   - amiSelectorTerms, amiFamily: as amiselect.ValidateTerms and
//     amiselect.ResolveFamily say
//   - exactly one of role and instanceProfile
//   - tags: no key that the controller sets (see IsRestrictedTag) or EC2 keeps
//     for itself ("aws:"), keys of 1 to 128 characters, values of at most 256, at
//     most 44 beside Name, as EC2 takes 50
//   - kubelet: keys of reserved and eviction maps that the kubelet knows, with
//     quantities or, for eviction, percentages that are not negative; what is no
//     quantity among the reserved ones is taken for an expression, as a string for
//     maxPods is, and left to ValidateExpressions;
//     evictionSoft and evictionSoftGracePeriod with the same keys; thresholds of
//     image removal from 0 to 100, the high above the low; one entry of
//     clusterDNS at most but for AL2023 and Custom; no
//     podsPerCore for Bottlerocket; settings without a field of their own only
//     for AL2023 and Custom, and only such as the kubelet of Kubernetes 1.37 has,
//     with values that it reads, to their depth, but for registerWithTaints
//   - blockDeviceMappings: at most 50 and one rootVolume, each with a deviceName
//     of its own and an ebs; ebs with snapshotID or volumeSize, and within the
//     bounds given at BlockDevice
//   - instanceStorePolicy: RAID0
//   - networkInterfaces: as described at NetworkInterface and its field
//   - metadataOptions, enclaveOptions, connectionTracking, cpuOptions: values and
//     bounds as described at their types
//
// A field that was left out is judged by its default, so Default need not be
// called first. Metadata is left to the API server, and status to the controller
// that writes it. The receiver is not changed; a nil class is one fault.
func (c *EC2NodeClass) Validate() field.ErrorList {
	spec := field.NewPath("spec")
	if c == nil {
		return field.ErrorList{field.Required(spec, "the object is nil")}
	}
	v, s := &validator{}, &c.Spec
	v.subnetTerms(spec.Child("subnetSelectorTerms"), s.SubnetSelectorTerms)
	v.securityGroupTerms(spec.Child("securityGroupSelectorTerms"), s.SecurityGroupSelectorTerms)
	v.reservationTerms(spec.Child("capacityReservationSelectorTerms"), s.CapacityReservationSelectorTerms)
	v.placementGroup(spec.Child("placementGroupSelector"), s.PlacementGroupSelector)
	atLeast(v, spec.Child("ipPrefixCount"), s.IPPrefixCount, 0)
	v.images(spec, s)
	v.identity(spec, s)
	v.tags(spec.Child("tags"), s.Tags)
	v.kubelet(spec.Child("kubelet"), s.Kubelet, c.ResolvedAMIFamily())
	v.mappings(spec.Child("blockDeviceMappings"), s.BlockDeviceMappings)
	oneOf(v, spec.Child("instanceStorePolicy"), s.InstanceStorePolicy, InstanceStorePolicyRAID0)
	v.interfaces(spec.Child("networkInterfaces"), s.NetworkInterfaces)
	v.metadataOptions(spec.Child("metadataOptions"), s.MetadataOptions)
	if s.EnclaveOptions != nil && s.EnclaveOptions.Enabled == nil {
		v.add(field.Required(spec.Child("enclaveOptions", "enabled"), "write true or false, or leave enclaveOptions out"))
	}
	v.connectionTracking(spec.Child("connectionTracking"), s.ConnectionTracking)
	if s.CPUOptions != nil {
		oneOf(v, spec.Child("cpuOptions", "nestedVirtualization"), s.CPUOptions.NestedVirtualization, Disabled, Enabled)
	}
	return v.faults
}

// ValidateUpdate returns nil: no field of an EC2NodeClass is fixed. It is here
// so that all kinds can be treated alike.
func (c *EC2NodeClass) ValidateUpdate(_ *EC2NodeClass) field.ErrorList {
	return nil
}

// Bounds of the schema.
const (
	maxSelectorTerms     = 30
	maxSelectorTags      = 20
	maxMappings          = 50
	maxNetworkInterfaces = 150
)

// Limits of EC2 on tags.
const (
	maxTagKey   = 128
	maxTagValue = 256
	// maxUserTags leaves room for the six that the controller sets, of which
	// the user may set one, Name.
	maxUserTags = 44
	// awsTagPrefix begins the keys that only AWS sets.
	awsTagPrefix = "aws:"
)

// validator gathers the faults of one object.
type validator struct {
	faults field.ErrorList
}

func (v *validator) add(faults ...*field.Error) {
	v.faults = append(v.faults, faults...)
}

// images leaves the rules to package amiselect. A missing family is not reported
// beside a broken alias, which would have given it.
func (v *validator) images(spec *field.Path, s *EC2NodeClassSpec) {
	terms := amiTerms(s.AMISelectorTerms)
	v.add(amiselect.ValidateTerms(spec.Child("amiSelectorTerms"), terms)...)
	var family amiselect.Family
	if s.AMIFamily != nil {
		family = *s.AMIFamily
		if family == "" {
			v.add(field.NotSupported(spec.Child("amiFamily"), family, amiselect.Families()))
			return
		}
	}
	hasAlias := slices.ContainsFunc(terms, func(t amiselect.Term) bool { return t.Alias != "" })
	if _, faults := amiselect.ResolveFamily(spec, family, terms); family != "" || !hasAlias {
		v.add(faults...)
	}
}

// identity checks which IAM role nodes have.
func (v *validator) identity(spec *field.Path, s *EC2NodeClassSpec) {
	profile := spec.Child("instanceProfile")
	switch {
	case s.Role == "" && s.InstanceProfile == nil:
		v.add(field.Required(spec.Child("role"), "name the IAM role of nodes, or an instanceProfile that has one"))
	case s.Role != "" && s.InstanceProfile != nil:
		v.add(field.Forbidden(profile, "does not go with role; remove one"))
	case s.InstanceProfile != nil && *s.InstanceProfile == "":
		v.add(field.Required(profile, "name an instance profile, or leave the field out and give a role"))
	}
}

func (v *validator) tags(path *field.Path, tags map[string]string) {
	count := len(tags)
	if _, ok := tags[NameTagKey]; ok {
		count--
	}
	if count > maxUserTags {
		v.add(field.TooMany(path, count, maxUserTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := path.Key(key)
		switch {
		case key == "":
			v.add(field.Invalid(path, key, "a tag must have a key"))
		case IsRestrictedTag(key):
			v.add(field.Forbidden(at, "this tag is set by the controller; remove it"))
		case strings.HasPrefix(key, awsTagPrefix):
			v.add(field.Forbidden(at, "keys that begin with \""+awsTagPrefix+"\" are kept for AWS; use another"))
		}
		if utf8.RuneCountInString(key) > maxTagKey {
			v.add(field.TooLongMaxLength(at, key, maxTagKey))
		}
		if utf8.RuneCountInString(tags[key]) > maxTagValue {
			v.add(field.TooLongMaxLength(at, tags[key], maxTagValue))
		}
	}
}

// number is what bounds are checked of.
type number interface{ ~int32 | ~int64 }

func atLeast[T number](v *validator, path *field.Path, value *T, least T) {
	if value != nil && *value < least {
		v.add(field.Invalid(path, *value, fmt.Sprintf("want %d or more", least)))
	}
}

func within[T number](v *validator, path *field.Path, value *T, least, most T) {
	if value != nil && (*value < least || *value > most) {
		v.add(field.Invalid(path, *value, fmt.Sprintf("want %d to %d", least, most)))
	}
}

func oneOf[T ~string](v *validator, path *field.Path, value *T, valid ...T) {
	if value != nil && !slices.Contains(valid, *value) {
		v.add(field.NotSupported(path, *value, valid))
	}
}
