package amiselect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// latest is the version of an alias that follows AWS's recommendation.
const latest = "latest"

// maxAliasLength is the limit of the EC2NodeClass.
const maxAliasLength = 30

// maxBack bounds how far latest~n looks back. Deprecated images disappear after some time, so a
// distant release is more likely a typing error.
const maxBack = 9

// Alias names the images that AWS publishes for a family, at one release or at
// the latest. Its text form is that of the field alias of a term:
//
//	al2023@latest       what AWS recommends now
//	al2023@latest~1     the release before that; not known to Karpenter
//	al2023@v20240807    this release
//
// Aliases are comparable. The zero Alias is not valid.
type Alias struct {
	// Family is any family but FamilyCustom.
	Family Family
	// Version is the release as it was written, or empty for the latest.
	Version string
	// Back is the number of releases before the latest one, 0 to 9, counted for each architecture
	// and variant separately. It is 0 with a Version.
	Back int
}

// Static reports whether the alias names a release instead of following the latest. Even a static
// alias changes its images with the Kubernetes version.
func (a Alias) Static() bool { return a.Version != "" }

// String returns the text form, which ParseAlias reads; "no alias" of the zero value.
func (a Alias) String() string {
	if a.Family == "" {
		return "no alias"
	}
	version := a.Version
	if version == "" {
		version = latest
	}
	if a.Back > 0 {
		version += "~" + strconv.Itoa(a.Back)
	}
	return a.Family.AliasName() + "@" + version
}

// ParseAlias reads an alias by these rules. The error joins the faults of each part:
//
//   - at most 30 characters, with one "@" in it;
//   - before it al2, al2023, bottlerocket, windows2019, windows2022 or
//     windows2025, in lower case;
//   - behind it "latest", "latest~1" to "latest~9", or a release: for al2 and al2023 a "v" and the
//     date, such as v20240807, and for bottlerocket three numbers with any number of "v" before
//     them, such as 1.20.4 or v1.20.4, both optionally followed by "-" or "." and more. Windows
//     images are published only at their latest release, so their only version is latest.
func ParseAlias(text string) (Alias, error) {
	name, version, found := strings.Cut(text, "@")
	var errs []error
	if len(text) > maxAliasLength {
		errs = append(errs, fmt.Errorf("is %d characters long, at most %d are allowed", len(text), maxAliasLength))
	}
	a := Alias{Family: aliasFamily(name)}
	if a.Family == "" {
		errs = append(errs, familyError(name))
	}
	switch {
	case !found:
		errs = append(errs, errors.New("has no version; write family@version, such as al2023@latest"))
	case strings.Contains(version, "@"):
		errs = append(errs, errors.New("has more than one \"@\"; write family@version, such as al2023@latest"))
	default:
		if err := a.parseVersion(version); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return Alias{}, fmt.Errorf("alias %q: %w", shorten(text), errors.Join(errs...))
	}
	return a, nil
}

// shorten cuts long texts in messages.
func shorten(text string) string {
	const limit = 60
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func aliasFamily(name string) Family {
	for _, f := range Families() {
		if n := f.AliasName(); n != "" && n == name {
			return f
		}
	}
	return ""
}

func familyError(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		return fmt.Errorf("has no family; use one of %s", strings.Join(aliasNames(), ", "))
	case slices.Contains(aliasNames(), lower):
		return fmt.Errorf("family %q must be in lower case: %s", name, lower)
	case lower == strings.ToLower(string(FamilyCustom)):
		return errors.New("there are no published images of family custom; select by id, name, tags or ssmParameter")
	}
	return fmt.Errorf("family %q is not known; use one of %s", shorten(name), strings.Join(aliasNames(), ", "))
}

// parseVersion reads the text after the "@". If the family is unknown, a release is not
// checked.
func (a *Alias) parseVersion(text string) error {
	if text == "" {
		return errors.New("has an empty version; write latest or a release")
	}
	if rest, ok := strings.CutPrefix(text, latest); ok {
		back, ok := parseBack(rest)
		if !ok {
			return fmt.Errorf("version %q is not valid; write latest, or latest~1 to latest~%d for a release before it", shorten(text), maxBack)
		}
		a.Back = back
		return nil
	}
	var fits bool
	var want string
	switch {
	case a.Family == "":
		return nil
	case a.Family.Windows():
		return fmt.Errorf("version %q is not valid; Windows images are published at their latest release only, so write latest and lock by id", shorten(text))
	case a.Family == FamilyBottlerocket:
		fits, want = isRelease(bottlerocketForm, text), "three numbers, such as v1.20.4"
	default:
		fits, want = isRelease(amazonLinuxForm, text), "a v and the date, such as v20240807"
	}
	if !fits {
		return fmt.Errorf("version %q is not a release of %s; want latest or %s", shorten(text), a.Family.AliasName(), want)
	}
	a.Version = text
	return nil
}

// parseBack reads what follows "latest": nothing, or "~" and a digit.
func parseBack(text string) (int, bool) {
	if text == "" {
		return 0, true
	}
	if len(text) != 2 || text[0] != '~' || text[1] < '1' || text[1] > '0'+maxBack {
		return 0, false
	}
	return int(text[1] - '0'), true
}

// A release may be followed by "-" or "." and more, but without two dots in a row: otherwise it
// could name another SSM parameter, or match more than one image.
var (
	amazonLinuxForm  = regexp.MustCompile(`^v[0-9]{8}([-.][0-9A-Za-z.-]+)?$`)
	bottlerocketForm = regexp.MustCompile(`^v*[0-9]+\.[0-9]+\.[0-9]+([-.][0-9A-Za-z.-]+)?$`)
)

func isRelease(form *regexp.Regexp, text string) bool {
	return form.MatchString(text) && !strings.Contains(text, "..")
}

// selectAlias selects one image for each published line of the alias, that is, for each
// architecture and variant.
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

// pick returns the first image that may be selected, or nil. If tell is set, the images before it
// are reported as passed over.
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

// candidates returns the images that the alias allows for an architecture and variant, the
// preferred one first.
func (s *selection) candidates(line *published, a Alias, parameters map[string]string) []*Image {
	if parameters == nil {
		return s.back(line, a, s.byName(line, a))
	}
	recommended := s.catalog.byID[parameters[line.parameter]]
	switch {
	case recommended == nil:
		// The parameter does not exist, or its image is gone. Selecting an older image would be a
		// guess.
		return nil
	case recommended.Architecture != line.arch:
		// A parameter whose image is for another architecture selects nothing.
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
	return s.back(line, a, list)
}

// byName returns the images that AWS publishes under the names of an architecture and variant, in
// the order of Compare.
func (s *selection) byName(line *published, a Alias) (out []*Image) {
	var patterns []Pattern
	for _, text := range line.patterns(a) {
		p, err := ParsePattern(text)
		if err != nil {
			continue // a release has no wildcards
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
		// A release of 1.3 must not match 1.30, and "-beta" is not a release.
		if _, ok := line.release(a.Family, i.Name); ok {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(x, y *Image) int { return compareImages(s.now, x, y) })
	return out
}

// back drops the images of releases that are newer than the one that latest~n names. A release can
// have several images. Images that were created after now count for no release; they stay in the
// list, so that they are reported as passed over.
func (s *selection) back(line *published, a Alias, images []*Image) []*Image {
	var seen []string
	var later []*Image
	for n, i := range images {
		if i.Created.After(s.now) {
			later = append(later, i)
			continue
		}
		release, ok := line.release(a.Family, i.Name)
		if !ok {
			release = i.ID
		}
		if !slices.Contains(seen, release) {
			seen = append(seen, release)
		}
		if len(seen) > a.Back {
			return append(later, images[n:]...)
		}
	}
	return later
}

// explainNoMatch says why a term other than an alias matches no image.
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
	switch {
	case id != "" && len(s.catalog.images) == 0:
		return fmt.Sprintf("image %s was not found: it is gone, of another region, or not shared with this account", id)
	case id != "":
		return fmt.Sprintf("image %s is not among the %d found: it is gone, of another region, or not shared with this account", id, len(s.catalog.images))
	}
	if len(s.catalog.images) == 0 {
		return "no image was found"
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
			if p.Explanation.Term == n {
				refused = append(refused, p)
			}
		}
		switch {
		case len(refused) == 0 && t.Alias != "":
			lines = append(lines, fmt.Sprintf("%s: AWS publishes none for Kubernetes %s, or its images were not fetched", at, s.alias.kubernetes))
		case len(refused) == 0:
			lines = append(lines, at+": "+s.explainNoMatch(n))
		default:
			lines = append(lines, fmt.Sprintf("%s: %d passed over, the first: %s", at, len(refused), refused[0].Explanation))
		}
	}
	return strings.Join(lines, "; ")
}
