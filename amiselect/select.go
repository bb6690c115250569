package amiselect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoImage is wrapped by the error of Select if no image is selected. Existing nodes are not
// affected, so waiting is safe.
var ErrNoImage = errors.New("no image is selected")

// Select selects images. The terms are those of an EC2NodeClass; the images are AWS's answers to
// Queries, in any order. There may be additional images, because Select checks names, owners and
// tags again. nil options mean the zero Options. now is the time to decide for: of
// deprecation, of Options.MinAge, and of images that were created later.
//
//  1. Terms, options and images are checked; see ValidateTerms, Environment and
//     Image. An image that is listed twice counts once, unless its facts differ,
//     which is a fault.
//  2. Each term selects its images. An alias has a line for each architecture and variant: by the
//     SSM parameter if Environment.Parameters is not nil, and otherwise by the names of images of
//     owner amazon. latest~n is, for each line, the n-th release before the latest, the releases as
//     Compare orders their images; if a parameter names the latest, only images that were created
//     before that one count. Images that were created after now do not count.
//  3. Images are passed over that are not available, have an architecture other than x86_64 and
//     arm64, are denied, or, for dynamic terms, are too young or were created after now. An alias at latest then selects the
//     next release, if it is among the images (see Environment.History).
//  4. Of images with the same requirements the first by Compare is selected. Requirements are the
//     architecture and, for an alias, the labels of its variant.
//
// The error joins all faults of the input. If no image is selected it wraps ErrNoImage and gives
// the reason for each term. With an error the Selection is empty.
//
// Arguments are not modified. They are not retained, except that the Selection shares the tags of
// images. The time is proportional to terms times images.
func Select(now time.Time, terms []Term, images []Image, opts *Options) (Selection, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &selection{now: now, minAge: opts.MinAge, env: opts.Environment, choiceOf: map[string]int{}}
	for _, t := range terms {
		s.terms = append(s.terms, t.clone())
	}
	var bad [3]error
	s.alias, bad[0] = resolve(terms, opts.Environment)
	s.deny, bad[1] = opts.parse()
	s.catalog, bad[2] = newCatalog(images)
	if bad[0] == nil {
		bad[0] = opts.checkTerms(terms, s.alias)
	}
	if err := errors.Join(bad[:]...); err != nil {
		return Selection{}, err
	}
	// Not retained, because the caller's map may change.
	s.env.Parameters = nil
	if s.alias != nil {
		s.selectAlias(opts.Environment.Parameters)
	} else {
		s.matcher = newMatcher(s.terms, opts.Environment)
		s.selectTerms()
	}
	if len(s.choices) == 0 {
		return Selection{}, fmt.Errorf("%w: %s", ErrNoImage, s.explainNone())
	}
	s.finish()
	return Selection{s}, nil
}

// finish orders the results.
func (s *selection) finish() {
	slices.SortFunc(s.choices, func(a, b Choice) int {
		return cmp.Or(compareImages(s.now, &a.Image, &b.Image), cmp.Compare(a.Variant, b.Variant))
	})
	for i, c := range slices.Backward(s.choices) {
		s.choiceOf[c.Image.ID] = i
	}
	slices.SortFunc(s.passed, func(a, b PassedOver) int {
		return cmp.Or(compareImages(s.now, &a.Image, &b.Image), cmp.Compare(a.Explanation.Term, b.Explanation.Term))
	})
}

// selectTerms picks the best image of each architecture.
func (s *selection) selectTerms() {
	type best struct {
		image *Image
		term  int
	}
	var x86, arm best
	var tags tagValues
	for _, i := range s.catalog.images {
		term, refusal := s.admitted(i, &tags)
		switch {
		case term < 0:
			continue
		case refusal != "":
			s.passOver(i, term, refusal)
			continue
		}
		at := &x86
		if i.Architecture == archARM {
			at = &arm
		}
		if at.image == nil || compareImages(s.now, i, at.image) < 0 {
			*at = best{i, term}
		}
	}
	for _, b := range []best{x86, arm} {
		if b.image != nil {
			s.choose(b.image, b.term, VariantAny)
		}
	}
}

// admitted returns the first term that matches the image and allows it. If none allows it, it
// returns the first that matches, with the reason; it is negative if none matches.
func (s *selection) admitted(i *Image, tags *tagValues) (term int, refusal Code) {
	term = -1
	s.matcher.values(i, tags)
	for n := range s.matcher.terms {
		t := &s.matcher.terms[n]
		if !s.matcher.matches(t, i, tags) {
			continue
		}
		code := s.refuse(i, t.dynamic)
		if code == "" {
			return t.index, ""
		}
		if term < 0 {
			term, refusal = t.index, code
		}
	}
	return term, refusal
}

// refuse returns why a matching image is not selected, or "".
func (s *selection) refuse(i *Image, dynamic bool) Code {
	switch {
	case !i.available():
		return CodeUnavailable
	case kubernetesArch(i.Architecture) == "":
		return CodeArchitecture
	case s.denied(i) != "":
		return CodeDenied
	case dynamic && s.now.Sub(i.Created) < s.minAge:
		return CodeTooYoung
	}
	return ""
}

// denied returns the entry of Options.Deny that matches the image, or "".
func (s *selection) denied(i *Image) string {
	for n := range s.deny {
		if s.deny[n].covers(i) {
			return s.deny[n].text
		}
	}
	return ""
}

func (s *selection) passOver(i *Image, term int, code Code) {
	s.passed = append(s.passed, PassedOver{Image: *i, Explanation: s.reason(code, i, term)})
}

func (s *selection) choose(i *Image, term int, v Variant) {
	build := ""
	if s.alias != nil {
		build = s.alias.Family.windowsBuild()
	}
	s.choices = append(s.choices, Choice{Image: *i, Requirements: requirementsOf(v, i.Architecture, build), Variant: v, Term: term})
}
