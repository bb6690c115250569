package v1

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// Validate returns every fault of the class's spec, in the order of the fields, or nil. Each names
// the field, the value and the remedy. These are the rules of the schema and those of the
// controller's readiness conditions:
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
//   - tags: no key that the controller sets (see IsRestrictedTag) or that AWS reserves ("aws:"),
//     keys of 1 to 128 characters, values of at most 256, at most 43 in addition to Name, because
//     EC2 allows 50
//   - kubelet: keys of reserved and eviction maps that the kubelet knows, with quantities or, for
//     eviction, percentages that are not negative; a reserved amount that is not a quantity is an
//     expression, as is a string for maxPods, and left to ValidateExpressions; evictionSoft and
//     evictionSoftGracePeriod with the same keys; thresholds of image removal from 0 to 100, the
//     high above the low; at most one entry of clusterDNS except for AL2023 and Custom; only IP
//     addresses there, and no podsPerCore, for Bottlerocket; settings without a field only for AL2023
//     and Custom, and only those of the kubelet of Kubernetes 1.37 except registerWithTaints, with
//     values of the right types at every depth
//   - blockDeviceMappings: at most 50 and one rootVolume, each with a unique deviceName and an ebs;
//     ebs with snapshotID or volumeSize, and within the bounds given at BlockDevice
//   - instanceStorePolicy: RAID0
//   - networkInterfaces: as described at NetworkInterface and its field
//   - metadataOptions, enclaveOptions, connectionTracking, cpuOptions: values and
//     bounds as described at their types
//
// An omitted field counts as its default, so Default need not be called first. Metadata and status
// are not checked. The receiver is not changed; a nil class is one fault.
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

// ValidateUpdate returns nil: no field of an EC2NodeClass is immutable. It exists so that all kinds
// have the method.
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
	// maxUserTags: EC2 allows 50 tags. The controller sets seven; one of them, Name, the user may set
	// too.
	maxUserTags = 43
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

// images checks amiSelectorTerms and amiFamily with package amiselect. A missing family is not
// reported if the alias that would determine it is malformed.
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

// number is a type of values with bounds.
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

// reservable returns the keys of systemReserved and kubeReserved, sorted.
func reservable() []string {
	return []string{"cpu", "ephemeral-storage", "memory", "pid"}
}

// evictionSignals returns the keys of the eviction maps, sorted.
func evictionSignals() []string {
	return []string{
		"imagefs.available", "imagefs.inodesFree", "memory.available",
		"nodefs.available", "nodefs.inodesFree", "pid.available",
	}
}

// Validate returns what is wrong with the settings for nodes of a family, by the rules of
// EC2NodeClass.Validate, in the order of the fields. path is that of the settings. A nil
// receiver has no faults.
func (k *KubeletConfiguration) Validate(path *field.Path, family amiselect.Family) field.ErrorList {
	v := &validator{}
	v.kubelet(path, k, family)
	return v.faults
}

func (v *validator) kubelet(path *field.Path, k *KubeletConfiguration, family amiselect.Family) {
	if k == nil {
		return
	}
	if len(k.ClusterDNS) > 1 && family != amiselect.FamilyAL2023 && family != amiselect.FamilyCustom {
		v.add(field.Invalid(path.Child("clusterDNS"), strings.Join(k.ClusterDNS, ", "), "the family "+string(family)+" takes one address; keep one"))
	}
	for i, text := range k.ClusterDNS {
		if _, err := netip.ParseAddr(text); err != nil && family == amiselect.FamilyBottlerocket {
			v.add(field.Invalid(path.Child("clusterDNS").Index(i), text, "Bottlerocket takes no text that is not an IP address"))
		}
	}
	v.maxPods(path.Child("maxPods"), k.MaxPods)
	atLeast(v, path.Child("podsPerCore"), k.PodsPerCore, 0)
	if k.PodsPerCore != nil && family == amiselect.FamilyBottlerocket {
		v.add(field.Forbidden(path.Child("podsPerCore"), "Bottlerocket has no such setting; use maxPods"))
	}
	v.reserved(path.Child("systemReserved"), k.SystemReserved)
	v.reserved(path.Child("kubeReserved"), k.KubeReserved)
	v.thresholds(path.Child("evictionHard"), k.EvictionHard)
	v.thresholds(path.Child("evictionSoft"), k.EvictionSoft)
	v.gracePeriods(path, k)
	atLeast(v, path.Child("evictionMaxPodGracePeriod"), k.EvictionMaxPodGracePeriod, 0)
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	within(v, path.Child("imageGCHighThresholdPercent"), high, 0, 100)
	within(v, path.Child("imageGCLowThresholdPercent"), low, 0, 100)
	if high != nil && low != nil && *high <= *low {
		v.add(field.Invalid(path.Child("imageGCHighThresholdPercent"), *high, "must be above imageGCLowThresholdPercent"))
	}
	v.extra(path, k.Extra, family)
	v.asRead(path, k, family)
}

// asRead checks settings that were read but could not be stored in a field: null, and values of
// another type. Null counts as unset where the family supports the setting.
func (v *validator) asRead(path *field.Path, k *KubeletConfiguration, family amiselect.Family) {
	if len(k.AsRead) == 0 {
		return
	}
	members, err := k.members()
	if err != nil {
		return // a value of Extra, and so a fault already
	}
	for _, name := range slices.Sorted(maps.Keys(k.AsRead)) {
		text, ok := k.asRead(name, members)
		// In a list of strings only null is read as another value, the empty string.
		if !ok || members[name] != nil && name != "clusterDNS" {
			continue
		}
		at := path.Child(name)
		switch want := kubeletFieldKind(name); {
		case want == "":
			v.setting(at, name, family)
		case text != nothing:
			v.add(field.TypeInvalid(at, text, "want "+want))
		}
	}
}

// setting reports whether nodes of a family can have a setting that has no field, and adds a fault
// if not.
func (v *validator) setting(path *field.Path, name string, family amiselect.Family) bool {
	switch {
	case name == "registerWithTaints":
		v.add(field.Forbidden(path, "taints come from the NodePool; write them there"))
	case slices.Contains(kubeletFieldNames(), name):
		v.add(field.Forbidden(path, "there is a field of this name; set that"))
	case kubeletSetting(name) == "":
		v.add(field.Forbidden(path, "the kubelet has no such setting; remove it"))
	case family != amiselect.FamilyAL2023 && family != amiselect.FamilyCustom:
		v.add(field.Forbidden(path, "the family "+string(family)+" does not take it here; write it into userData, or use AL2023"))
	default:
		return true
	}
	return false
}

// extra checks the settings that have no field. On the wire they are next to the fields, so their
// paths are too.
func (v *validator) extra(path *field.Path, extra map[string]any, family amiselect.Family) {
	if len(extra) == 0 {
		return
	}
	schema := kubeletSchema()
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		at, value := path.Child(name), extra[name]
		if !v.setting(at, name, family) {
			continue
		}
		v.value(at, schema, name, value)
		if signals, ok := value.(map[string]any); ok && name == "evictionMinimumReclaim" {
			v.minimumReclaim(at, signals)
		}
	}
}

// value checks a value and the values in it against the schema entry of a name. Null is accepted.
func (v *validator) value(path *field.Path, schema map[string]jsonKind, name string, value any) {
	if value == nil {
		return
	}
	if want := schema[name]; !want.fits(value) {
		var shown any = fmt.Sprint(value)
		if strings.HasPrefix(name, "staticPodURLHeader") { // these can be credentials
			shown = field.OmitValueType{}
		}
		v.add(field.TypeInvalid(path, shown, "want "+string(want)))
		return
	}
	switch value := value.(type) {
	case []any:
		for i := range value {
			v.value(path.Index(i), schema, name+"[]", value[i])
		}
	case map[string]any:
		_, open := schema[name+".*"]
		for _, key := range slices.Sorted(maps.Keys(value)) {
			switch child := name + "." + key; {
			case open:
				v.value(path.Key(key), schema, name+".*", value[key])
			case key == "*" || strings.ContainsAny(key, ".[") || schema[child] == "":
				v.add(field.Forbidden(path.Child(key), "the kubelet has no such setting; remove it"))
			default:
				v.value(path.Child(key), schema, child, value[key])
			}
		}
	}
}

// minimumReclaim checks the strings of evictionMinimumReclaim; null counts as an empty string. Values
// of other types are reported elsewhere.
func (v *validator) minimumReclaim(path *field.Path, signals map[string]any) {
	texts := map[string]string{}
	for key, value := range signals {
		if text, ok := value.(string); ok || value == nil {
			texts[key] = text
		}
	}
	v.thresholds(path, texts)
}

func (v *validator) maxPods(path *field.Path, n *intstr.IntOrString) {
	switch {
	case n == nil:
	case n.Type == intstr.Int:
		atLeast(v, path, &n.IntVal, 0)
	case n.StrVal == "":
		v.add(field.Invalid(path, "", "want a whole number or an expression"))
	}
}

func (v *validator) reserved(path *field.Path, amounts map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(amounts)) {
		at := path.Key(key)
		if !slices.Contains(reservable(), key) {
			v.add(field.NotSupported(at, key, reservable()))
		}
		if !isAmount(amounts[key]) && !isExpression(amounts[key]) {
			v.add(field.Invalid(at, amounts[key], "want a quantity that is not negative, such as 100m or 256Mi, or an expression"))
		}
	}
}

func (v *validator) thresholds(path *field.Path, signals map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(signals)) {
		at := path.Key(key)
		v.signal(at, key)
		if !isThreshold(signals[key]) {
			v.add(field.Invalid(at, signals[key], "want a quantity that is not negative, such as 500Mi, or a percentage from 0% to 100%, such as 12.5%"))
		}
	}
}

func (v *validator) signal(path *field.Path, key string) {
	if !slices.Contains(evictionSignals(), key) {
		v.add(field.NotSupported(path, key, evictionSignals()))
	}
}

// gracePeriods checks the grace periods, and that the soft thresholds have the same keys.
func (v *validator) gracePeriods(path *field.Path, k *KubeletConfiguration) {
	soft, periods := path.Child("evictionSoft"), path.Child("evictionSoftGracePeriod")
	for _, key := range slices.Sorted(maps.Keys(k.EvictionSoft)) {
		if _, ok := k.EvictionSoftGracePeriod[key]; !ok {
			v.add(field.Required(periods.Key(key), "a signal of evictionSoft needs a grace period, such as 1m"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.EvictionSoftGracePeriod)) {
		v.signal(periods.Key(key), key)
		v.period(periods.Key(key), k.EvictionSoftGracePeriod[key])
		if _, ok := k.EvictionSoft[key]; !ok {
			v.add(field.Required(soft.Key(key), "a signal of evictionSoftGracePeriod needs a threshold, or remove it there"))
		}
	}
}

func (v *validator) period(path *field.Path, d metav1.Duration) {
	if d.Duration < 0 {
		v.add(field.Invalid(path, d.Duration.String(), "must not be negative"))
	}
}

// isAmount refuses a minus sign even before zero, as Karpenter does.
func isAmount(text string) bool {
	return isQuantity(text) && !strings.HasPrefix(text, "-")
}

// isThreshold accepts quantities that are not negative, and percentages from 0% to 100% in any form
// of strconv.ParseFloat, such as 12.345%, .5% and 1e1%.
func isThreshold(text string) bool {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.ParseFloat(number, 64)
		return err == nil && n >= 0 && n <= 100
	}
	if quantity.Endless(text) {
		return false
	}
	q, err := resource.ParseQuantity(text)
	return err == nil && q.Sign() >= 0
}

func (v *validator) interfaces(path *field.Path, list []NetworkInterface) {
	if len(list) > maxNetworkInterfaces {
		v.add(field.TooMany(path, len(list), maxNetworkInterfaces))
	}
	primary := NetworkInterface{InterfaceType: InterfaceTypeInterface}
	if len(list) > 0 && !slices.Contains(list, primary) {
		v.add(field.Required(path, "list the primary interface: networkCardIndex 0, deviceIndex 0, interfaceType interface"))
	}
	type place struct{ card, device int32 }
	places, adapters := map[place]*field.Path{}, map[int32]*field.Path{}
	for i := range list {
		n, at := &list[i], path.Index(i)
		atLeast(v, at.Child("networkCardIndex"), &n.NetworkCardIndex, 0)
		atLeast(v, at.Child("deviceIndex"), &n.DeviceIndex, 0)
		if n.InterfaceType == "" {
			v.add(field.Required(at.Child("interfaceType"), "use interface or efa-only"))
		} else {
			oneOf(v, at.Child("interfaceType"), &n.InterfaceType, InterfaceTypeEFAOnly, InterfaceTypeInterface)
		}
		p := place{n.NetworkCardIndex, n.DeviceIndex}
		if first, ok := places[p]; ok {
			v.add(field.Forbidden(at.Child("deviceIndex"), first.String()+" is at the same card and device; move or remove one"))
		} else {
			places[p] = at
		}
		if n.InterfaceType != InterfaceTypeEFAOnly {
			continue
		}
		if first, ok := adapters[n.NetworkCardIndex]; ok {
			v.add(field.Forbidden(at.Child("interfaceType"), first.String()+" is the efa-only interface of this card already; a card takes one"))
		} else {
			adapters[n.NetworkCardIndex] = at
		}
	}
}

func (v *validator) metadataOptions(path *field.Path, o *MetadataOptions) {
	if o == nil {
		return
	}
	oneOf(v, path.Child("httpEndpoint"), o.HTTPEndpoint, Disabled, Enabled)
	oneOf(v, path.Child("httpProtocolIPv6"), o.HTTPProtocolIPv6, Disabled, Enabled)
	within(v, path.Child("httpPutResponseHopLimit"), o.HTTPPutResponseHopLimit, 1, 64)
	oneOf(v, path.Child("httpTokens"), o.HTTPTokens, HTTPTokensOptional, HTTPTokensRequired)
}

func (v *validator) connectionTracking(path *field.Path, t *ConnectionTracking) {
	if t == nil {
		return
	}
	if t.TCPEstablishedTimeout == nil && t.UDPStreamTimeout == nil && t.UDPTimeout == nil {
		v.add(field.Required(path, "set tcpEstablishedTimeout, udpStreamTimeout or udpTimeout, or leave connectionTracking out"))
	}
	within(v, path.Child("tcpEstablishedTimeout"), t.TCPEstablishedTimeout, 60, 432000)
	within(v, path.Child("udpStreamTimeout"), t.UDPStreamTimeout, 60, 180)
	within(v, path.Child("udpTimeout"), t.UDPTimeout, 30, 60)
}

// These checks look at each term. Because of a flaw, the schema accepts a term whose fields exclude
// each other if another term is valid: the fields of lower precedence would be ignored, and the
// term would select more than it says.

func (v *validator) subnetTerms(path *field.Path, terms []SubnetSelectorTerm) {
	v.termCount(path, len(terms), "give at least one term, such as {tags: {karpenter.sh/discovery: my-cluster}}")
	for i := range terms {
		t, at := &terms[i], path.Index(i)
		if t.ID == "" && len(t.Tags) == 0 {
			v.add(field.Required(at, "select by tags or id"))
		}
		v.alone(at, "id", t.ID != "", set{"tags", t.Tags != nil})
		v.id(at.Child("id"), t.ID, "subnet-")
		v.selectorTags(at.Child("tags"), t.Tags)
	}
}

func (v *validator) securityGroupTerms(path *field.Path, terms []SecurityGroupSelectorTerm) {
	v.termCount(path, len(terms), "give at least one term, such as {tags: {karpenter.sh/discovery: my-cluster}}")
	for i := range terms {
		t, at := &terms[i], path.Index(i)
		if t.ID == "" && t.Name == "" && len(t.Tags) == 0 {
			v.add(field.Required(at, "select by tags, id or name"))
		}
		if t.ID != "" {
			v.alone(at, "id", true, set{"name", t.Name != ""}, set{"tags", t.Tags != nil})
		} else {
			v.alone(at, "name", t.Name != "", set{"tags", t.Tags != nil})
		}
		v.id(at.Child("id"), t.ID, "sg-")
		v.selectorTags(at.Child("tags"), t.Tags)
	}
}

func (v *validator) reservationTerms(path *field.Path, terms []CapacityReservationSelectorTerm) {
	switch {
	case terms != nil && len(terms) == 0:
		// Because of the same flaw the schema refuses an empty list: all of its zero terms violate
		// the rule.
		v.add(field.Required(path, "give a term, or leave the field out: the API server refuses an empty list"))
	case len(terms) > maxSelectorTerms:
		v.add(field.TooMany(path, len(terms), maxSelectorTerms))
	}
	for i := range terms {
		t, at := &terms[i], path.Index(i)
		if t.ID == "" && t.InstanceMatchCriteria == "" && len(t.Tags) == 0 {
			detail := "select by tags, id or instanceMatchCriteria"
			if t.OwnerID != "" {
				detail = "an owner alone does not select; add tags or instanceMatchCriteria"
			}
			v.add(field.Required(at, detail))
		}
		v.alone(at, "id", t.ID != "",
			set{"instanceMatchCriteria", t.InstanceMatchCriteria != ""}, set{"ownerID", t.OwnerID != ""}, set{"tags", t.Tags != nil})
		v.id(at.Child("id"), t.ID, "cr-")
		if t.OwnerID != "" && !isAccount(t.OwnerID) {
			v.add(field.Invalid(at.Child("ownerID"), t.OwnerID, "want the twelve digits of an AWS account"))
		}
		if t.InstanceMatchCriteria != "" {
			oneOf(v, at.Child("instanceMatchCriteria"), &t.InstanceMatchCriteria, InstanceMatchCriteriaOpen, InstanceMatchCriteriaTargeted)
		}
		v.selectorTags(at.Child("tags"), t.Tags)
	}
}

func (v *validator) placementGroup(path *field.Path, s *PlacementGroupSelector) {
	if s == nil {
		return
	}
	switch {
	case s.Name == nil && s.ID == nil:
		v.add(field.Required(path, "select by name or id, or leave the selector out"))
	case s.Name != nil && s.ID != nil:
		v.add(field.Forbidden(path.Child("name"), "does not go with id; remove one"))
	}
	if s.Name != nil && *s.Name == "" {
		v.add(field.Required(path.Child("name"), "name the placement group"))
	}
	if s.ID != nil && !isID(*s.ID, "pg-") {
		v.add(field.Invalid(path.Child("id"), *s.ID, wantID("pg-")))
	}
}

func (v *validator) termCount(path *field.Path, count int, hint string) {
	switch {
	case count == 0:
		v.add(field.Required(path, hint))
	case count > maxSelectorTerms:
		v.add(field.TooMany(path, count, maxSelectorTerms))
	}
}

// set is a field and whether it is set.
type set struct {
	name  string
	isSet bool
}

// alone reports the other fields that are set in a term in which the named field has to be the only
// one.
func (v *validator) alone(path *field.Path, name string, isSet bool, others ...set) {
	for _, other := range others {
		if isSet && other.isSet {
			v.add(field.Forbidden(path.Child(other.name),
				"does not go with "+name+", which decides alone; put it in a term of its own, or remove it"))
		}
	}
}

func (v *validator) selectorTags(path *field.Path, tags map[string]string) {
	if tags != nil && len(tags) == 0 {
		v.add(field.Required(path, "name at least one tag, or leave tags out: none would select everything"))
	}
	if len(tags) > maxSelectorTags {
		v.add(field.TooMany(path, len(tags), maxSelectorTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if key == "" {
			v.add(field.Invalid(path, key, "a tag must have a key"))
		}
		if tags[key] == "" {
			v.add(field.Invalid(path.Key(key), "", `a tag must have a value; write "*" for any`))
		}
	}
}

func (v *validator) id(path *field.Path, id, prefix string) {
	if id != "" && !isID(id, prefix) {
		v.add(field.Invalid(path, id, wantID(prefix)))
	}
}

func wantID(prefix string) string {
	return `want "` + prefix + `" and then lower-case letters and digits`
}

func isID(text, prefix string) bool {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && rest != "" && strings.Trim(rest, alphabet) == ""
}

// isAccount reports whether the text is the number of an AWS account.
func isAccount(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789") == ""
}

func (v *validator) mappings(path *field.Path, mappings []BlockDeviceMapping) {
	if len(mappings) > maxMappings {
		v.add(field.TooMany(path, len(mappings), maxMappings))
	}
	names := map[string]*field.Path{}
	var root *field.Path
	for i := range mappings {
		m, at := &mappings[i], path.Index(i)
		v.deviceName(at.Child("deviceName"), m.DeviceName, names)
		v.blockDevice(at.Child("ebs"), m.EBS)
		if !m.RootVolume {
			continue
		}
		if root != nil {
			v.add(field.Forbidden(at.Child("rootVolume"), root.String()+" is the root volume already; keep one"))
			continue
		}
		root = at
	}
}

func (v *validator) deviceName(path *field.Path, name *string, names map[string]*field.Path) {
	if name == nil || *name == "" {
		v.add(field.Required(path, "name the device, such as /dev/xvda"))
		return
	}
	if first, ok := names[*name]; ok {
		fault := field.Duplicate(path, *name)
		fault.Detail = first.String() + " has the same device; rename or remove one"
		v.add(fault)
		return
	}
	names[*name] = path
}

func (v *validator) blockDevice(path *field.Path, d *BlockDevice) {
	if d == nil {
		v.add(field.Required(path, "describe the volume, such as {volumeSize: 20Gi, volumeType: gp3}"))
		return
	}
	hasSnapshot := d.SnapshotID != nil && *d.SnapshotID != ""
	if !hasSnapshot && d.VolumeSize == nil {
		v.add(field.Required(path.Child("volumeSize"), "give a volumeSize or a snapshotID"))
	}
	atLeast(v, path.Child("iops"), d.IOPS, 0)
	atLeast(v, path.Child("throughput"), d.Throughput, 0)
	within(v, path.Child("volumeInitializationRate"), d.VolumeInitializationRate, 100, 300)
	if d.VolumeInitializationRate != nil && !hasSnapshot {
		v.add(field.Required(path.Child("snapshotID"), "volumeInitializationRate is for volumes from a snapshot; name it, or remove the rate"))
	}
	if d.VolumeSize != nil && !isVolumeSize(*d.VolumeSize) {
		v.add(field.Invalid(path.Child("volumeSize"), quantityText(*d.VolumeSize), "want a whole number of Gi or G, from 1G to 64T"))
	}
	oneOf(v, path.Child("volumeType"), d.VolumeType, VolumeTypes()...)
}

// isVolumeSize checks the amount and not the text: 1024Gi and 1Ti are the same.
func isVolumeSize(q resource.Quantity) bool {
	const gi, g, most = 1 << 30, 1_000_000_000, 64_000_000_000_000
	own := q.DeepCopy()
	// Comparing numbers with thousands of digits takes long, so absurdly large ones are refused by
	// their exponent.
	if dec := own.AsDec(); dec.Scale() < -18 {
		return false
	}
	if own.CmpInt64(g) < 0 || own.CmpInt64(most) > 0 || own.CmpInt64(own.Value()) != 0 {
		return false
	}
	return own.Value()%gi == 0 || own.Value()%g == 0
}
