package launch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Verdict is the meaning of the failures of a call.
type Verdict struct {
	// Err says why instances are missing. Its Kind is KindInsufficientCapacity if every failure is
	// for lack of stock, quota or addresses, or if there is no failure at all. It contains the
	// refusals whatever its kind, so that they can be marked. It has no Op and no Object.
	Err *cloudprovider.Error
	// FullSubnets are the subnets without free addresses, sorted.
	FullSubnets []string
	// FullReservations are the reservations without capacity, sorted.
	FullReservations []string
	// LostTemplates says that EC2 does not have a launch template of the call.
	LostTemplates bool
	// Internal says that EC2 failed with an internal error for some override.
	Internal bool
}

// Judge turns the failures of a call into one error. The code of a failure decides which offerings
// are refused:
//
//   - no stock, and a type that is not sold in a zone: the offering. A failure that names no
//     override refuses all offerings of the call, or none if another failure names one
//   - a reservation that is full: the offerings of the reservation
//   - no permission to create the service-linked role for spot: all spot capacity
//   - a quota of vCPUs: the instance types that share it, of all that were asked for
//   - no free addresses: the subnet, and the offerings in the zone that used it, unless spare
//     reports another subnet in the zone
//   - the limit of a spread placement group: the zone, or all zones of the call if EC2
//     names none
//
// A failure that is not about capacity determines the kind of the error, and adds the remedy. A nil
// spare means that no zone has another subnet.
func Judge(s *Spec, failures []Failure, spare func(zone, subnet string) bool) Verdict {
	j := judge{spec: s, spare: spare, refused: map[string]*cloudprovider.Error{}}
	named := slices.ContainsFunc(failures, func(f Failure) bool { return !summary(f) })
	for _, f := range failures {
		if !named || !summary(f) {
			j.failure(f)
		}
	}
	if len(failures) == 0 {
		// EC2 gave neither an instance nor a reason.
		j.refuse("NoInstances", "EC2 launched nothing and did not say why", s.keys(func(cloudprovider.OfferingKey) bool { return true }), nil)
	}
	return j.verdict()
}

type judge struct {
	spec         *Spec
	spare        func(zone, subnet string) bool
	refused      map[string]*cloudprovider.Error // by code
	others       []*cloudprovider.Error
	subnets      []string
	reservations []string
	lost         bool
	internal     bool
}

// keys returns the offerings of the call for which want is true, sorted.
func (s *Spec) keys(want func(cloudprovider.OfferingKey) bool) []cloudprovider.OfferingKey {
	var out []cloudprovider.OfferingKey
	for _, g := range s.Groups {
		for _, o := range g.Options {
			if want(o.Key()) {
				out = append(out, o.Key())
			}
		}
	}
	slices.SortFunc(out, cloudprovider.OfferingKey.Compare)
	return slices.Compact(out)
}

// at returns the offerings of the call that have the type and zone of a failure, or all if EC2
// named none.
func (j *judge) at(f Failure) []cloudprovider.OfferingKey {
	return j.spec.keys(func(k cloudprovider.OfferingKey) bool {
		return (f.InstanceType == "" || k.InstanceType == f.InstanceType) && (f.Zone == "" || k.Zone == f.Zone)
	})
}

func (j *judge) refuse(code, message string, keys []cloudprovider.OfferingKey, scopes []cloudprovider.Scope) {
	e := j.refused[code]
	if e == nil {
		e = &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Reason: code, Err: errors.New(message)}
		j.refused[code] = e
	}
	e.Offerings = append(e.Offerings, keys...)
	e.Scopes = append(e.Scopes, scopes...)
}

func (j *judge) failure(f Failure) {
	switch classify(f) {
	case isStock:
		if j.spec.CapacityType == karpv1.CapacityTypeReserved {
			for _, k := range j.at(f) {
				j.reservations = append(j.reservations, k.ReservationID)
			}
		}
		j.refuse(f.Code, f.Message, j.at(f), nil)
	case isNoSpot:
		j.refuse(f.Code, f.Message, nil, []cloudprovider.Scope{{CapacityType: karpv1.CapacityTypeSpot}})
	case isQuota:
		var scopes []cloudprovider.Scope
		for _, name := range j.spec.Types {
			if f.InstanceType == "" || quota(name) == quota(f.InstanceType) {
				scopes = append(scopes, cloudprovider.Scope{InstanceType: name, CapacityType: j.spec.CapacityType})
			}
		}
		j.refuse(f.Code, f.Message, nil, scopes)
	case isAddresses:
		if f.SubnetID != "" {
			j.subnets = append(j.subnets, f.SubnetID)
		}
		keys := j.at(f)
		if j.spare != nil && f.SubnetID != "" && j.spare(f.Zone, f.SubnetID) {
			keys = nil
		}
		j.refuse(f.Code, f.Message+"; give the node class a larger subnet in this zone, or one more", keys, nil)
	case isSpread:
		var scopes []cloudprovider.Scope
		for _, k := range j.at(f) {
			scopes = append(scopes, cloudprovider.Scope{Zone: k.Zone})
		}
		j.refuse(f.Code, f.Message, nil, scopes)
	default:
		j.lost, j.internal = j.lost || LostTemplate(f.Code), j.internal || IsInternal(f.Code)
		kind, remedy := cause(f)
		message := strings.TrimSpace(f.Message)
		if remedy != "" {
			message += "; " + remedy
		}
		j.others = append(j.others, &cloudprovider.Error{Kind: kind, Reason: f.Code, Err: errors.New(message)})
	}
}

// verdict joins the failures. If all are about capacity, the error lists every refused offering,
// and has the reason of the refusal with most offerings; refusals for other reasons are joined to
// it.
func (j *judge) verdict() Verdict {
	v := Verdict{
		FullSubnets:      slices.Compact(slices.Sorted(slices.Values(j.subnets))),
		FullReservations: slices.Compact(slices.Sorted(slices.Values(j.reservations))),
		LostTemplates:    j.lost,
		Internal:         j.internal,
	}
	refusals := slices.SortedFunc(maps.Values(j.refused), func(a, b *cloudprovider.Error) int {
		return cmp.Or(cmp.Compare(len(b.Offerings), len(a.Offerings)), cmp.Compare(len(a.Scopes), len(b.Scopes)), cmp.Compare(a.Reason, b.Reason))
	})
	for _, e := range refusals {
		e.Offerings = sortedKeys(e.Offerings)
		slices.SortFunc(e.Scopes, cloudprovider.Scope.Compare)
		e.Scopes = slices.Compact(e.Scopes)
	}
	if len(j.others) > 0 {
		v.Err = j.failed(refusals)
		return v
	}
	first := *refusals[0]
	var rest []error
	for _, e := range refusals[1:] {
		first.Offerings = sortedKeys(slices.Concat(first.Offerings, e.Offerings))
		first.Scopes = slices.Concat(first.Scopes, e.Scopes)
		rest = append(rest, e)
	}
	slices.SortFunc(first.Scopes, cloudprovider.Scope.Compare)
	first.Scopes = slices.Compact(first.Scopes)
	if len(rest) > 0 {
		first.Err = errors.Join(append([]error{first.Err}, rest...)...)
	}
	v.Err = &first
	return v
}

// failed returns the error if a failure is not about capacity. Errors that repeating cannot fix
// take precedence.
func (j *judge) failed(refusals []*cloudprovider.Error) *cloudprovider.Error {
	rank := func(k cloudprovider.Kind) int {
		return slices.Index([]cloudprovider.Kind{cloudprovider.KindDenied, cloudprovider.KindThrottled, cloudprovider.KindUnknown}, k)
	}
	slices.SortStableFunc(j.others, func(a, b *cloudprovider.Error) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Err.Error(), b.Err.Error()))
	})
	j.others = slices.CompactFunc(j.others, func(a, b *cloudprovider.Error) bool {
		return a.Kind == b.Kind && a.Reason == b.Reason && a.Err.Error() == b.Err.Error()
	})
	first := *j.others[0]
	all := []error{first.Err}
	for _, e := range j.others[1:] {
		all = append(all, fmt.Errorf("%s: %w", e.Reason, e.Err))
	}
	for _, e := range refusals {
		all = append(all, e)
	}
	if len(all) > 1 {
		first.Err = errors.Join(all...)
	}
	return &first
}

func sortedKeys(keys []cloudprovider.OfferingKey) []cloudprovider.OfferingKey {
	return slices.Compact(slices.SortedFunc(slices.Values(keys), cloudprovider.OfferingKey.Compare))
}

// Launched is one instance that a call launched.
type Launched struct {
	// ID is the id of the instance.
	ID string
	// InstanceType, Zone, SubnetID and ImageID are those of the override that it
	// was launched by.
	InstanceType, Zone, SubnetID, ImageID string
	// Template is the name of its launch template; empty if EC2 gave an id only.
	Template string
}

// Failure says why a call launched nothing from an override. Fields that EC2 did not fill in are
// empty.
type Failure struct {
	// Code and Message are those of EC2.
	Code, Message string
	// InstanceType, Zone and SubnetID are those of the override.
	InstanceType, Zone, SubnetID string
	// Template is the name of the launch template.
	Template string
}

// ReadAnswer reads the answer of CreateFleet: the instances sorted by id, and the failures sorted
// and without duplicates. zones has the zone of each subnet of the request, for answers that do not
// name it.
func ReadAnswer(out *ec2.CreateFleetOutput, zones map[string]string) ([]Launched, []Failure) {
	if out == nil {
		return nil, nil
	}
	var launched []Launched
	for _, set := range out.Instances {
		row := overridesOf(set.LaunchTemplateAndOverrides, zones)
		for _, id := range set.InstanceIds {
			if id == "" {
				continue
			}
			launched = append(launched, Launched{
				ID: id, InstanceType: cmp.Or(string(set.InstanceType), row.InstanceType), Zone: row.Zone,
				SubnetID: row.SubnetID, ImageID: row.image, Template: row.Template,
			})
		}
	}
	slices.SortFunc(launched, func(a, b Launched) int { return cmp.Compare(a.ID, b.ID) })
	launched = slices.CompactFunc(launched, func(a, b Launched) bool { return a.ID == b.ID })
	var failures []Failure
	for _, e := range out.Errors {
		f := overridesOf(e.LaunchTemplateAndOverrides, zones).Failure
		f.Code, f.Message = awssdk.ToString(e.ErrorCode), awssdk.ToString(e.ErrorMessage)
		failures = append(failures, f)
	}
	slices.SortFunc(failures, compareFailures)
	return launched, slices.Compact(failures)
}

func compareFailures(a, b Failure) int {
	return cmp.Or(
		cmp.Compare(a.Code, b.Code), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Zone, b.Zone),
		cmp.Compare(a.SubnetID, b.SubnetID), cmp.Compare(a.Template, b.Template), cmp.Compare(a.Message, b.Message))
}

// row is an override in an answer.
type row struct {
	Failure
	image string
}

// overridesOf reads the override of an answer; fields that EC2 left out are empty.
func overridesOf(o *ec2types.LaunchTemplateAndOverridesResponse, zones map[string]string) row {
	var r row
	if o == nil {
		return r
	}
	if t := o.LaunchTemplateSpecification; t != nil {
		r.Template = awssdk.ToString(t.LaunchTemplateName)
	}
	if o := o.Overrides; o != nil {
		r.InstanceType, r.SubnetID, r.image = string(o.InstanceType), awssdk.ToString(o.SubnetId), awssdk.ToString(o.ImageId)
		r.Zone = cmp.Or(awssdk.ToString(o.AvailabilityZone), zones[r.SubnetID])
	}
	return r
}
