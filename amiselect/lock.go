package amiselect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNotLockable is wrapped by the error of Lock if no terms can express the selection.
var ErrNotLockable = errors.New("cannot be locked")

// Lock returns static terms that select the images of s, so that tested images can be fixed for
// production. s must be the selection of the given terms.
//
//   - An alias with a version is static already and is returned as it is.
//   - An alias at the latest, or at latest~n, becomes the same alias with the
//     version that it resolved to, which holds in every account and region. An
//     alias of Windows, which has no versions, becomes the id; the EC2NodeClass
//     must then have the field amiFamily.
//   - All other terms, also static ones, become one term by id for each image, in the order of
//     Selection.Images. Ids are valid in one region only.
//
// A pin covers all variants, so an alias whose variants resolved to different releases cannot be
// locked; nor can an alias whose pin would select an image that was passed over, or whose images do
// not have the names that AWS gives them. The error then wraps ErrNotLockable and names the image.
// It also wraps ErrNotLockable for an empty Selection, and for terms other than those of s.
//
// Select by the terms returned, from the same images under the same options, selects the same
// images for the same machines, except that ids of Windows images have no requirement on the
// operating system. If Environment.Parameters is used, ask Queries for the parameters of the new
// terms first.
func Lock(terms []Term, s Selection) ([]Term, error) {
	switch {
	case s.Empty():
		return nil, fmt.Errorf("%w: nothing is selected", ErrNotLockable)
	case !slices.EqualFunc(terms, s.s.terms, Term.Equal):
		return nil, fmt.Errorf("%w: the terms are not those that the images were selected by; select again", ErrNotLockable)
	case s.s.alias != nil && s.s.alias.Static():
		return s.Terms(), nil
	case s.s.alias != nil && !s.s.alias.Family.Windows():
		return s.s.lockAlias()
	}
	var out []Term
	for _, i := range s.Images() {
		out = append(out, Term{ID: i.ID})
	}
	return out, nil
}

// lockAlias returns the version of all images that the alias selected.
func (s *selection) lockAlias() ([]Term, error) {
	var found []string // releases, by first use
	var of []string    // the same with their variants, for the message
	for n, winner := range s.winners {
		if winner == nil {
			continue
		}
		release, ok := s.alias.lines[n].release(s.alias.Family, winner.Name)
		if !ok {
			return nil, fmt.Errorf("%w: the name of %s does not tell its release; select it by id", ErrNotLockable, winner)
		}
		of = append(of, fmt.Sprintf("%s is at %s", s.alias.lines[n].describe(), release))
		if !slices.Contains(found, release) {
			found = append(found, release)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%w: one version cannot stand for different releases: %s; wait until they agree, or deny the ones that are ahead",
			ErrNotLockable, strings.Join(of, ", "))
	}
	pin, err := ParseAlias(s.alias.Family.AliasName() + "@" + found[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotLockable, err)
	}
	if err := s.checkPin(pin); err != nil {
		return nil, err
	}
	return []Term{{Alias: pin.String()}}, nil
}

// checkPin returns an error unless a pin selects the same images. It compares the names of images,
// because the parameters of the pin may not have been read.
func (s *selection) checkPin(pin Alias) error {
	var errs []error
	for n := range s.winners {
		line, winner := &s.alias.lines[n], s.winners[n]
		switch by := s.pick(s.candidates(line, pin, nil), false, false); {
		case by == winner:
		case by == nil:
			errs = append(errs, fmt.Errorf("%w: %s would not select %s for %s, as its owner is not known to be amazon; select it by id",
				ErrNotLockable, pin, winner, line.describe()))
		case winner == nil:
			errs = append(errs, fmt.Errorf("%w: %s would also select %s for %s, which was passed over; deny it, or wait until it is taken",
				ErrNotLockable, pin, by, line.describe()))
		default:
			errs = append(errs, fmt.Errorf("%w: %s would select %s for %s instead of %s; deny it, or wait until it is taken",
				ErrNotLockable, pin, by, line.describe(), winner))
		}
	}
	return errors.Join(errs...)
}

// describe names the architecture and variant of published images.
func (p *published) describe() string {
	names := make([]string, len(p.variants))
	for i, v := range p.variants {
		names[i] = string(v)
	}
	return p.arch + " " + strings.Join(names, " and ")
}
