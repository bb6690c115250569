package amiselect

import (
	"fmt"
	"slices"
	"strings"
)

// selectAlias picks the image of each line of the alias.
func (s *selection) selectAlias(parameters map[string]string) {
	for n := range s.alias.lines {
		line := &s.alias.lines[n]
		winner := s.pick(s.candidates(line, s.alias.Alias, parameters), !s.alias.Static(), true)
		s.winners = append(s.winners, winner)
		if winner == nil {
			continue
		}
		for _, v := range line.variants {
			s.choose(winner, 0, v)
		}
	}
}

// pick returns the first image that may be taken, or nil. Those before it are
// told as passed over if that is asked for.
func (s *selection) pick(candidates []*Image, dynamic, tell bool) *Image {
	for _, i := range candidates {
		code := s.refuse(i, dynamic)
		if code == "" {
			return i
		}
		if tell {
			s.passOver(i, 0, code)
		}
	}
	return nil
}

// candidates are the images that the alias allows for the line, the preferred one
// first.
func (s *selection) candidates(line *published, a Alias, parameters map[string]string) []*Image {
	if parameters == nil {
		return back(line, a, s.byName(line, a))
	}
	recommended := s.catalog.byID[parameters[line.parameter]]
	switch {
	case recommended == nil:
		// There is no such parameter, or its image is gone. An older image
		// would be a guess.
		return nil
	case recommended.Architecture != line.arch:
		// A parameter that leads to another machine leads nowhere.
		return nil
	case a.Static():
		return []*Image{recommended}
	}
	list := []*Image{recommended}
	for _, i := range s.byName(line, a) {
		if i.Created.Before(recommended.Created) {
			list = append(list, i)
		}
	}
	return back(line, a, list)
}

// byName are the images that AWS publishes under the names of the line, in the
// order of Compare.
func (s *selection) byName(line *published, a Alias) (out []*Image) {
	var patterns []Pattern
	for _, text := range line.patterns(a) {
		p, err := ParsePattern(text)
		if err != nil {
			continue // a release has no character that means anything in a pattern
		}
		patterns = append(patterns, p)
	}
	for _, i := range s.catalog.images {
		if i.OwnerAlias != ownerAmazon || i.Architecture != line.arch {
			continue
		}
		if !slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Match(i.Name) }) {
			continue
		}
		// The release of 1.3 is not one of 1.30, and "-beta" is none.
		if _, ok := line.release(a.Family, i.Name); ok {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(x, y *Image) int { return compareImages(s.now, x, y) })
	return out
}

// back drops the releases that come before the one that latest~n names. Several
// images can be of one release.
func back(line *published, a Alias, images []*Image) []*Image {
	var seen []string
	for n, i := range images {
		release, ok := line.release(a.Family, i.Name)
		if !ok {
			release = i.ID
		}
		if !slices.Contains(seen, release) {
			seen = append(seen, release)
		}
		if len(seen) > a.Back {
			return images[n:]
		}
	}
	return nil
}

// explainNoMatch says why a term that is no alias matches no image.
func (s *selection) explainNoMatch(n int) string {
	id := s.terms[n].ID
	if s.terms[n].SSMParameter != "" {
		switch id = s.matcher.terms[n].id; {
		case id == "":
			return "there is no such parameter in this region, or it has no value"
		case !isImageID(id):
			return fmt.Sprintf("its value %q is no image id", id)
		}
	}
	if id != "" {
		return fmt.Sprintf("image %s is not among the %d found: it is gone, of another region, or not shared with this account", id, len(s.catalog.images))
	}
	return fmt.Sprintf("none of %d images matches", len(s.catalog.images))
}

// explainNone says for each term why it selects nothing.
func (s *selection) explainNone() string {
	var lines []string
	for n, t := range s.terms {
		at := fmt.Sprintf("amiSelectorTerms[%d] (%s)", n, t)
		var refused []PassedOver
		for _, p := range s.passed {
			if p.Reason.Term == n {
				refused = append(refused, p)
			}
		}
		switch {
		case len(refused) == 0 && t.Alias != "":
			lines = append(lines, fmt.Sprintf("%s: AWS publishes none for Kubernetes %s, or its images were not fetched", at, s.alias.kubernetes))
		case len(refused) == 0:
			lines = append(lines, at+": "+s.explainNoMatch(n))
		default:
			lines = append(lines, fmt.Sprintf("%s: %d passed over, the first: %s", at, len(refused), refused[0].Reason))
		}
	}
	return strings.Join(lines, "; ")
}
