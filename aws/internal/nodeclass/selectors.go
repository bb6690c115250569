package nodeclass

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// reservations looks up the capacity reservations. An empty result is not a fault.
func (w *work) reservations() {
	const kind = awsv1.ConditionTypeCapacityReservationsReady
	if !w.r.opts.ReservedCapacity || w.invalid(kind, "capacityReservationSelectorTerms") {
		return
	}
	found, reading, err := w.r.src.Reservations(w.ctx, w.class.Spec.CapacityReservationSelectorTerms)
	if err != nil {
		w.failed(kind, "capacity reservations", err, func() {
			w.class.Status.CapacityReservations = w.before.DeepCopy().Status.CapacityReservations
		})
		return
	}
	list, problems := instancetype.ReadReservations(w.now, w.class.ResolvedAMIFamily(), found)
	w.class.Status.CapacityReservations = list
	var notes []string
	if note := w.stale("capacity reservations", reading); note != "" {
		notes = append(notes, note)
	}
	for _, p := range problems {
		notes = append(notes, p.String())
	}
	w.conditions.isTrue(kind, strings.Join(notes, "; "))
}

// placementGroup looks up the placement group.
func (w *work) placementGroup() {
	const kind = awsv1.ConditionTypePlacementGroupReady
	if w.invalid(kind, "placementGroupSelector") {
		return
	}
	selector := w.class.Spec.PlacementGroupSelector
	group, reading, err := w.r.src.PlacementGroup(w.ctx, selector)
	switch {
	case err != nil:
		w.out.failures = append(w.out.failures, err)
		w.conditions.unknown(kind, awsv1.ReasonPlacementGroupResolutionFailed, "placement group: "+oneLine(err))
	case selector != nil && group == nil:
		w.conditions.isFalse(kind, awsv1.ReasonPlacementGroupNotFound, fmt.Sprintf(
			"spec.placementGroupSelector: there is no placement group %s that is available; create it, or name another", nameOf(selector)))
	default:
		w.out.PlacementGroup = group
		w.conditions.isTrue(kind, w.stale("placement group", reading))
	}
}

func nameOf(s *awsv1.PlacementGroupSelector) string {
	if s.ID != nil { // a valid class has ID or Name
		return "with the id " + *s.ID
	}
	return fmt.Sprintf("named %q", *s.Name)
}

// subnets looks up the subnets.
func (w *work) subnets() {
	const kind = awsv1.ConditionTypeSubnetsReady
	if w.invalid(kind, "subnetSelectorTerms") {
		return
	}
	found, reading, err := w.r.src.Subnets(w.ctx, w.class.Spec.SubnetSelectorTerms)
	switch {
	case err != nil:
		w.unread = err
		w.failed(kind, "subnets", err, func() {
			w.class.Status.Subnets = w.before.DeepCopy().Status.Subnets
			for _, s := range w.class.Status.Subnets {
				w.out.Subnets = append(w.out.Subnets, Subnet{ID: s.ID, Zone: s.Zone, ZoneID: s.ZoneID})
			}
		})
	case len(found) == 0:
		var terms []string
		for _, t := range w.class.Spec.SubnetSelectorTerms {
			terms = append(terms, termText(t.ID, "", t.Tags))
		}
		w.conditions.isFalse(kind, awsv1.ReasonSubnetsNotFound, "spec.subnetSelectorTerms: there is no subnet "+
			strings.Join(terms, ", nor one ")+"; correct the terms, or tag the subnets")
	default:
		w.out.Subnets = found
		for _, s := range found {
			w.class.Status.Subnets = append(w.class.Status.Subnets, awsv1.Subnet{ID: s.ID, Zone: s.Zone, ZoneID: s.ZoneID})
		}
		w.conditions.isTrue(kind, w.stale("subnets", reading))
	}
}

// termText says what a term selects by.
func termText(id, name string, tags map[string]string) string {
	switch {
	case id != "":
		return "with the id " + id
	case name != "":
		return fmt.Sprintf("named %q", name)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, key+"="+tags[key])
	}
	if len(parts) == 1 {
		return "with the tag " + parts[0]
	}
	return "with the tags " + strings.Join(parts, " and ")
}

// securityGroups looks up the security groups.
func (w *work) securityGroups() {
	const kind = awsv1.ConditionTypeSecurityGroupsReady
	if w.invalid(kind, "securityGroupSelectorTerms") {
		return
	}
	found, reading, err := w.r.src.SecurityGroups(w.ctx, w.class.Spec.SecurityGroupSelectorTerms)
	if err != nil {
		w.keepGroups(kind, err)
		return
	}
	if (w.unread != nil || len(w.out.Subnets) == 0) && slices.ContainsFunc(found, func(g SecurityGroup) bool { return !w.hasByID(g) }) {
		w.networkUnknown(kind)
		return
	}
	vpc := networkOf(w.out.Subnets)
	found = w.within(vpc, found)
	if len(found) == 0 {
		var terms []string
		for _, t := range w.class.Spec.SecurityGroupSelectorTerms {
			terms = append(terms, termText(t.ID, t.Name, t.Tags))
		}
		where := ""
		if vpc != "" {
			where = "in " + vpc + ", the network of the subnets, "
		}
		w.conditions.isFalse(kind, awsv1.ReasonSecurityGroupsNotFound, "spec.securityGroupSelectorTerms: there is no security group "+
			where+strings.Join(terms, ", nor one ")+"; correct the terms, or tag the security groups")
		return
	}
	for _, g := range found {
		w.class.Status.SecurityGroups = append(w.class.Status.SecurityGroups, awsv1.SecurityGroup{ID: g.ID, Name: g.Name})
	}
	w.conditions.isTrue(kind, w.stale("security groups", reading))
}

// networkUnknown notes that the VPC of the subnets is not known, because they were not found, or
// are taken from the earlier status, which does not have it.
func (w *work) networkUnknown(kind string) {
	why := errors.New("the network of the subnets is not known")
	switch {
	case w.unread != nil:
		why = fmt.Errorf("%w: %w", why, w.unread)
	case !w.conditions.kept(kind):
		w.conditions.unknown(kind, awsv1.ReasonDependenciesNotReady, "waits for "+awsv1.ConditionTypeSubnetsReady+": "+why.Error())
		return
	}
	w.keepGroups(kind, why)
}

// keepGroups notes that the groups are not known, and keeps the earlier ones.
func (w *work) keepGroups(kind string, err error) {
	w.failed(kind, "security groups", err, func() { w.class.Status.SecurityGroups = w.before.DeepCopy().Status.SecurityGroups })
}

// networkOf returns the VPC that all subnets are in, or "".
func networkOf(subnets []Subnet) string {
	if len(subnets) == 0 {
		return ""
	}
	for _, s := range subnets {
		if s.VPC != subnets[0].VPC {
			return ""
		}
	}
	return subnets[0].VPC
}

// within leaves out groups of other VPCs, which EC2 would refuse with these subnets. A group that a
// term names by id stays, so that the user learns of the conflict.
func (w *work) within(vpc string, groups []SecurityGroup) (out []SecurityGroup) {
	for _, g := range groups {
		if vpc == "" || g.VPC == "" || g.VPC == vpc || w.hasByID(g) {
			out = append(out, g)
		}
	}
	return out
}

// hasByID reports whether a term has the group by its id.
func (w *work) hasByID(g SecurityGroup) bool {
	return slices.ContainsFunc(w.class.Spec.SecurityGroupSelectorTerms, func(t awsv1.SecurityGroupSelectorTerm) bool { return t.ID == g.ID })
}

// instanceProfile finds or makes the instance profile.
func (w *work) instanceProfile() {
	const kind = awsv1.ConditionTypeInstanceProfileReady
	spec := &w.class.Spec
	switch {
	case w.invalid(kind, "role", "instanceProfile"):
	case spec.InstanceProfile != nil:
		w.class.Status.InstanceProfile = *spec.InstanceProfile
		w.conditions.isTrue(kind, "")
	case w.r.opts.Profiles == nil:
		w.conditions.isFalse(kind, ReasonInstanceProfilesUnavailable, fmt.Sprintf(
			"spec.role: %q needs an instance profile, and there is no client for IAM to make one; give one, or name an instance profile in spec.instanceProfile", spec.Role))
	default:
		w.ensureProfile(kind)
	}
}

func (w *work) ensureProfile(kind string) {
	// Profiles looks in the status for a profile that was made before.
	asked := w.class.DeepCopy()
	asked.Status.InstanceProfile = w.before.Status.InstanceProfile
	name, err := w.r.opts.Profiles.Ensure(w.ctx, asked)
	switch {
	case err == nil:
		w.class.Status.InstanceProfile = name
		w.conditions.isTrue(kind, "")
	case cloudprovider.KindOf(err) == cloudprovider.KindNotFound:
		w.conditions.isFalse(kind, ReasonRoleNotFound, fmt.Sprintf(
			"spec.role: %q: IAM has no such role; create it, or name another", w.class.Spec.Role))
	default:
		// The profile stays even if the spec has changed since: whether it has the role is not
		// known, and without it in the status a second one would be made.
		w.class.Status.InstanceProfile = w.before.Status.InstanceProfile
		w.failed(kind, "instance profile", err, func() {})
	}
}
