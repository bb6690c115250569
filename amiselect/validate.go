package amiselect

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of an EC2NodeClass and of EC2.
const (
	maxTerms           = 30
	maxTags            = 20
	maxFilterValue     = 256 // characters, as a tag may have
	maxTagKey          = 128
	maxParameterLength = 2048
)

// The owners that are not accounts.
const (
	ownerSelf        = "self"
	ownerAmazon      = "amazon"
	ownerMarketplace = "aws-marketplace"
	ownerBackup      = "aws-backup-vault"
)

// ValidateTerms returns every fault of the terms, or nil. path is that of the list and may be nil
// for amiSelectorTerms. The rules hold for each term independently of the others:
//
//   - there is at least one term, and there are at most 30;
//   - a term has an alias, an id, an ssmParameter, a name or tags; an owner alone would select all
//     of its images;
//   - an alias is the only field of the only term;
//   - an id and an ssmParameter exclude the other fields of their term, which would be ignored;
//   - an alias is one that ParseAlias reads, an id is "ami-" and lower-case
//     letters and digits, a name is a pattern that ParsePattern reads, an owner
//     is an account of twelve digits, self, amazon, aws-marketplace or
//     aws-backup-vault, an ssmParameter is a name or an ARN;
//   - tags, if there are any, number 1 to 20 and have neither empty keys nor
//     empty values.
func ValidateTerms(path *field.Path, terms []Term) field.ErrorList {
	if path == nil {
		path = field.NewPath("amiSelectorTerms")
	}
	v := &termValidator{}
	switch {
	case len(terms) == 0:
		v.add(field.Required(path, "give at least one term, such as {alias: al2023@latest}"))
	case len(terms) > maxTerms:
		v.add(field.TooMany(path, len(terms), maxTerms))
	}
	for i := range terms {
		at := path.Index(i)
		if terms[i].Alias != "" && len(terms) > 1 {
			v.add(field.Forbidden(at.Child("alias"), "an alias must be the only term; remove the others"))
		}
		v.term(at, &terms[i])
	}
	return v.faults
}

// termValidator collects faults.
type termValidator struct{ faults field.ErrorList }

func (v *termValidator) add(f *field.Error) { v.faults = append(v.faults, f) }

func (v *termValidator) term(path *field.Path, t *Term) {
	if t.Alias == "" && t.ID == "" && t.SSMParameter == "" && t.Name == "" && len(t.Tags) == 0 {
		detail := "select by alias, id, name, tags or ssmParameter"
		if t.Owner != "" {
			detail = "an owner alone would select all of its images; add a name or tags"
		}
		v.add(field.Required(path, detail))
	}
	v.exclusive(path, t)
	if t.Alias != "" {
		if _, err := ParseAlias(t.Alias); err != nil {
			v.add(field.Invalid(path.Child("alias"), t.Alias, detailOf(err)))
		}
	}
	if t.ID != "" && !isImageID(t.ID) {
		v.add(field.Invalid(path.Child("id"), t.ID, `want "ami-" and then lower-case letters and digits`))
	}
	if t.Name != "" {
		v.pattern(path.Child("name"), t.Name)
	}
	if t.Owner != "" && !isOwner(t.Owner) {
		v.add(field.Invalid(path.Child("owner"), t.Owner,
			"want an account of twelve digits, self, amazon, aws-marketplace or aws-backup-vault"))
	}
	if t.SSMParameter != "" && !isParameterName(t.SSMParameter) {
		v.add(field.Invalid(path.Child("ssmParameter"), t.SSMParameter,
			"want the name of a parameter, such as /images/golden, or its ARN: letters, digits and _.-/:, at most 2048"))
	}
	v.tags(path.Child("tags"), t.Tags)
}

// exclusive reports fields that would be ignored because of another field.
func (v *termValidator) exclusive(path *field.Path, t *Term) {
	first := ""
	for _, f := range []struct {
		name  string
		set   bool
		alone bool
	}{
		{"alias", t.Alias != "", true},
		{"id", t.ID != "", true},
		{"ssmParameter", t.SSMParameter != "", true},
		{"name", t.Name != "", false},
		{"owner", t.Owner != "", false},
		{"tags", t.Tags != nil, false},
	} {
		switch {
		case f.set && first != "":
			v.add(field.Forbidden(path.Child(f.name), "does not go with "+first+", which decides alone; put it in a term of its own, or remove it"))
		case f.set && f.alone:
			first = f.name
		}
	}
}

func (v *termValidator) pattern(path *field.Path, text string) {
	if _, err := ParsePattern(text); err != nil {
		v.add(field.Invalid(path, shorten(text), detailOf(err)))
	}
}

func (v *termValidator) tags(path *field.Path, tags map[string]string) {
	if tags != nil && len(tags) == 0 {
		v.add(field.Required(path, "name at least one tag, or leave tags out: none would select every image"))
	}
	if len(tags) > maxTags {
		v.add(field.TooMany(path, len(tags), maxTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := path.Key(key)
		switch {
		case key == "":
			v.add(field.Invalid(path, key, "a tag must have a key"))
		case utf8.RuneCountInString(key) > maxTagKey:
			v.add(field.TooLongMaxLength(at, key, maxTagKey))
		}
		if tags[key] == "" {
			v.add(field.Invalid(at, "", `a tag must have a value; write "*" for any`))
			continue
		}
		v.pattern(at, tags[key])
	}
}

// detailOf drops the quotation at the beginning of a parser's error, because a field error has the
// value already. Faults joined line by line become one line.
func detailOf(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "\": "); ok {
		text = rest
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

var (
	imageIDForm   = regexp.MustCompile(`^ami-[0-9a-z]+$`)
	accountForm   = regexp.MustCompile(`^[0-9]{12}$`)
	parameterForm = regexp.MustCompile(`^[0-9A-Za-z_./:-]+$`)
)

func isImageID(text string) bool { return len(text) <= maxFilterValue && imageIDForm.MatchString(text) }

func isOwner(text string) bool {
	return isAccount(text) || slices.Contains([]string{ownerSelf, ownerAmazon, ownerMarketplace, ownerBackup}, text)
}

// isAccount reports whether the text is the number of an AWS account.
func isAccount(text string) bool { return accountForm.MatchString(text) }

func isParameterName(text string) bool {
	return len(text) <= maxParameterLength && parameterForm.MatchString(text)
}
