package amiselect

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Term selects images. It is an entry of spec.amiSelectorTerms of an EC2NodeClass and has the same
// form in JSON. ValidateTerms says which fields can be combined.
type Term struct {
	// Alias selects the images that AWS publishes for a family; see ParseAlias. It must be the only
	// field of the only term.
	Alias string `json:"alias,omitempty"`

	// Tags select images that have all of these tags. The value "*" matches any value of the tag;
	// other values are patterns as ParsePattern reads them.
	Tags map[string]string `json:"tags,omitempty"`

	// ID selects the image with this id, of any owner.
	ID string `json:"id,omitempty"`

	// Name selects images by name; it is a pattern as ParsePattern reads it.
	Name string `json:"name,omitempty"`

	// Owner restricts Name and Tags to images of one owner: an account of twelve digits, self,
	// amazon, aws-marketplace or aws-backup-vault. If it is empty, a term with a Name selects among
	// the images of self and amazon, and a term with Tags alone among all.
	Owner string `json:"owner,omitempty"`

	// SSMParameter selects the image whose id is the value of this parameter of
	// the AWS Systems Manager, given by name or ARN.
	SSMParameter string `json:"ssmParameter,omitempty"`
}

// Static reports whether the term can only ever select one image: by id, by a name without
// wildcards, or by an alias with a version. (An alias with a version still changes its images with
// the Kubernetes version.)
func (t Term) Static() bool {
	switch {
	case t.Alias != "":
		a, err := ParseAlias(t.Alias)
		return err == nil && a.Static()
	case t.SSMParameter != "":
		return false
	case t.ID != "":
		return true
	case t.Name != "":
		p, err := ParsePattern(t.Name)
		return err == nil && p.Literal()
	}
	return false
}

// String renders the term in one line, for people: its fields in the order of precedence, as name
// "al2023-*", owner self.
func (t Term) String() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+strconv.Quote(value))
		}
	}
	add("alias", t.Alias)
	add("id", t.ID)
	add("ssmParameter", t.SSMParameter)
	add("name", t.Name)
	add("owner", t.Owner)
	for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
		parts = append(parts, "tag "+key+"="+strconv.Quote(t.Tags[key]))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Equal reports whether two terms have the same fields. Tags that are empty
// equal tags that are missing.
func (t Term) Equal(o Term) bool {
	return t.Alias == o.Alias && t.ID == o.ID && t.Name == o.Name && t.Owner == o.Owner &&
		t.SSMParameter == o.SSMParameter && maps.Equal(t.Tags, o.Tags)
}

// clone returns a copy that shares nothing with t.
func (t Term) clone() Term {
	t.Tags = maps.Clone(t.Tags)
	return t
}

// owners returns the owners whose images a term by name or tags can select; nil means all.
func (t Term) owners() []string {
	switch {
	case t.Owner != "":
		return []string{t.Owner}
	case t.Name != "":
		return []string{ownerSelf, ownerAmazon}
	}
	return nil
}
