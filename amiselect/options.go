package amiselect

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Options say what Select needs to know besides the terms, and what it must not
// take. The zero value, and nil, do for terms by id, by tags, and by name with an
// owner other than self.
type Options struct {
	// Environment is what the meaning of the terms depends on.
	Environment Environment

	// MinAge is the bake time: an image that was created less than this before
	// now is passed over in favour of an older one. It holds for dynamic terms
	// only; who names one image means it. Zero is no bake time. Not negative.
	MinAge time.Duration

	// Deny are images never to take, not even by a static term: each entry is
	// an id, or a pattern of names as ParsePattern reads it, such as
	// amazon-eks-node-al2023-*-v20240807.
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

// checkTerms says what the environment lacks for the terms, which are valid.
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
