package amiselect

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Options have further inputs of Select, and images that it must not select. The zero value, and
// nil, are enough for terms by id, by tags, and by name with an owner other than self.
type Options struct {
	// Environment has the inputs that the meaning of the terms depends on.
	Environment Environment

	// MinAge is the bake time: an image that was created less than this before now is passed over
	// in favour of an older one. It applies only to dynamic terms, because a static term names one
	// image explicitly. Zero means no bake time: only images that were created after now are passed
	// over. Not negative.
	MinAge time.Duration

	// Deny are images that are never selected, not even by a static term: each entry is an id, or a
	// pattern of names as ParsePattern reads it, such as amazon-eks-node-al2023-*-v20240807.
	Deny []string
}

// denial is a parsed entry of Options.Deny.
type denial struct {
	text    string
	id      string
	pattern Pattern
}

func (d *denial) covers(i *Image) bool {
	if d.id != "" {
		return d.id == i.ID
	}
	return d.pattern.Match(i.Name)
}

// parse checks the options themselves.
func (o *Options) parse() ([]denial, error) {
	path := field.NewPath("options")
	var errs []error
	if o.MinAge < 0 {
		errs = append(errs, field.Invalid(path.Child("minAge"), o.MinAge.String(), "must not be negative; zero is no bake time"))
	}
	var out []denial
	for i, text := range o.Deny {
		if isImageID(text) {
			out = append(out, denial{text: text, id: text})
			continue
		}
		p, err := ParsePattern(text)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("deny").Index(i), shorten(text), detailOf(err)))
			continue
		}
		out = append(out, denial{text: text, pattern: p})
	}
	return out, errors.Join(errs...)
}

// checkTerms returns the faults of the environment for valid terms.
func (o *Options) checkTerms(terms []Term, alias *resolvedAlias) error {
	path := field.NewPath("options", "environment")
	var errs []error
	parameters := path.Child("parameters")
	missing := func(name string, term int) {
		if _, answered := o.Environment.Parameters[name]; !answered {
			errs = append(errs, field.Required(parameters.Key(name),
				fmt.Sprintf("amiSelectorTerms[%d] needs its value; read it from SSM, and give an empty value if it does not exist", term)))
		}
	}
	if alias != nil && o.Environment.Parameters != nil {
		for _, line := range alias.lines {
			missing(line.parameter, 0)
		}
	}
	for i := range terms {
		if name := terms[i].SSMParameter; name != "" {
			missing(name, i)
		}
		if o.Environment.Account == "" && slices.Contains(terms[i].owners(), ownerSelf) {
			errs = append(errs, field.Required(path.Child("account"),
				fmt.Sprintf("amiSelectorTerms[%d] selects images of owner self; give the account, or another owner", i)))
		}
	}
	return errors.Join(errs...)
}
