package v1

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Unlike the schema, which by a slip lets a term through whose fields exclude
// each other if another term is in order, these checks look at each term: the
// fields of lower rank would be ignored, and the term select more than it says.

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
		// By the same slip: of no terms, all violate the rule.
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

// set says whether a field is set.
type set struct {
	name  string
	isSet bool
}

// alone refuses fields beside one that decides alone.
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
