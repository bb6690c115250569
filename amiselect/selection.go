package amiselect

import (
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Choice is a selected image and its machines.
type Choice struct {
	// Image is the image. Its tags are shared; do not write to them.
	Image Image
	// Requirements are the requirements on instance types that boot the image.
	Requirements requirements.Set
	// Variant is the variant of an alias's image, else VariantAny.
	Variant Variant
	// Term is the index of the term that selected it.
	Term int
}

// PassedOver is an image that a term matches but that is not allowed.
type PassedOver struct {
	// Image is the image. Its tags are shared; do not write to them.
	Image Image
	// Explanation says why.
	Explanation Explanation
}

// Selection is the result of Select. It is immutable; the zero Selection is empty.
type Selection struct{ s *selection }

// selection is the content of a Selection. It does not change once Select has returned.
type selection struct {
	now      time.Time
	terms    []Term
	env      Environment // without Parameters
	minAge   time.Duration
	deny     []denial
	catalog  *catalog
	alias    *resolvedAlias // nil without
	winners  []*Image       // by line of the alias; nil for none
	matcher  *matcher       // nil with an alias
	choices  []Choice
	choiceOf map[string]int // by id of an image, the first
	passed   []PassedOver
}

// Empty reports whether nothing is selected, which Select reports as an error.
func (s Selection) Empty() bool { return s.s == nil }

// Terms returns a copy of the terms that were selected by.
func (s Selection) Terms() []Term {
	if s.s == nil {
		return nil
	}
	out := slices.Clone(s.s.terms)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Choices lists the selected images in the order of Compare, those of one image by variant. The
// caller owns the slice.
func (s Selection) Choices() []Choice {
	if s.s == nil {
		return nil
	}
	return slices.Clone(s.s.choices)
}

// Images lists the images that were selected, each once, in the order of
// Compare. The slice is the caller's.
func (s Selection) Images() []Image {
	var out []Image
	for _, c := range s.Choices() {
		if len(out) == 0 || out[len(out)-1].ID != c.Image.ID {
			out = append(out, c.Image)
		}
	}
	return out
}

// PassedOver lists the images that a term matches but that are not allowed, in the order of
// Compare. For an alias these are only the ones that come before the selected one. The caller owns
// the slice.
func (s Selection) PassedOver() []PassedOver {
	if s.s == nil {
		return nil
	}
	return slices.Clone(s.s.passed)
}

// For returns the image that an instance type boots: the first of Choices whose requirements are
// compatible with those of the type. A label that the type does not name counts as absent. For
// reports false if no image is compatible: then no node of the type can be launched. It also
// reports false for a nil type.
func (s Selection) For(t *cloudprovider.InstanceType) (Image, bool) {
	c, ok := s.choice(t)
	return c.Image, ok
}

func (s Selection) choice(t *cloudprovider.InstanceType) (Choice, bool) {
	if s.s == nil || t == nil {
		return Choice{}, false
	}
	for i := range s.s.choices {
		if t.Requirements.Compatible(s.s.choices[i].Requirements, requirements.EmptyVocabulary()) {
			return s.s.choices[i], true
		}
	}
	return Choice{}, false
}
