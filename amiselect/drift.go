package amiselect

import (
	"fmt"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Drifted reports whether a node that booted the image has drifted: the image is no longer selected
// for any machine. The Explanation is zero if it is selected.
//
// For an empty Selection and for an empty imageID it returns false and CodeNotJudged.
//
// A change of the Kubernetes version makes the images of an alias drift, even with a version,
// because each Kubernetes version has its own images.
//
// When several causes hold, the first of these is given: CodeGone,
// CodeUnavailable, CodeArchitecture, CodeDenied, CodeFamily,
// CodeKubernetesVersion, CodeTooYoung, CodeRelease, CodeNotSelected,
// CodeDeprecated, CodeSuperseded.
func (s Selection) Drifted(imageID string) (Explanation, bool) {
	if s.s == nil || imageID == "" {
		return Explanation{Code: CodeNotJudged, ImageID: imageID, Term: -1,
			Detail: "cannot be judged: " + map[bool]string{true: "nothing is selected", false: "it is not known which one the node booted"}[s.s == nil]}, false
	}
	if _, selected := s.s.choiceOf[imageID]; selected {
		return Explanation{}, false
	}
	i, known := s.s.catalog.byID[imageID]
	if !known {
		return Explanation{Code: CodeGone, ImageID: imageID, Term: -1,
			Detail: "is not among the images found: its owner removed it, or nothing asks for it any more"}, true
	}
	// Static terms are exempt from MinAge, which is therefore checked later, when the selecting
	// term is known.
	if code := s.s.refuse(i, false); code != "" {
		return s.s.reason(code, i, -1), true
	}
	if s.s.alias != nil {
		return s.s.driftedAlias(i), true
	}
	return s.s.driftedTerms(i), true
}

// DriftedOn is Drifted for a node of a known instance type: it has drifted unless Selection.For
// returns its image for the type. So it also detects that an image is selected only for other machines
// (CodeOtherMachine) and that no image is selected for the type (CodeNoImageForType). A Replacement
// is the image that a new node of the type would boot. A nil type is an unknown one: then the
// result is that of Drifted.
func (s Selection) DriftedOn(imageID string, t *cloudprovider.InstanceType) (Explanation, bool) {
	reason, drifted := s.Drifted(imageID)
	if reason.Code == CodeNotJudged || t == nil {
		return reason, drifted
	}
	image, ok := s.For(t)
	switch {
	case !ok && !drifted:
		i := s.s.catalog.byID[imageID]
		return Explanation{Code: CodeNoImageForType, ImageID: i.ID, ImageName: i.Name, Term: -1,
			Detail: fmt.Sprintf("is not selected for %s, and no other image is", t.Name)}, true
	case !ok:
		reason.ReplacementID, reason.ReplacementName = "", ""
		return reason, true
	case image.ID == imageID:
		return Explanation{}, false
	case !drifted:
		i := s.s.catalog.byID[imageID]
		reason = Explanation{Code: CodeOtherMachine, ImageID: i.ID, ImageName: i.Name, Term: -1,
			Detail: fmt.Sprintf("is selected for other machines than %s", t.Name)}
	}
	reason.ReplacementID, reason.ReplacementName = image.ID, image.Name
	return reason, true
}

// driftedTerms explains why an allowed image is not selected.
func (s *selection) driftedTerms(i *Image) Explanation {
	var tags tagValues
	term, refusal := s.admitted(i, &tags)
	switch {
	case term < 0:
		return s.instead(Explanation{Code: CodeNotSelected, ImageID: i.ID, ImageName: i.Name, Term: s.onlyTerm(), Detail: s.mismatch(i, &tags)}, s.bestOf(i.Architecture))
	case refusal != "":
		return s.instead(s.reason(refusal, i, term), s.bestOf(i.Architecture))
	}
	return s.beaten(i, s.bestOf(i.Architecture), term)
}

// beaten explains why another image is selected instead of i.
func (s *selection) beaten(i, winner *Image, term int) Explanation {
	r := Explanation{Code: CodeSuperseded, ImageID: i.ID, ImageName: i.Name, Term: term}
	switch {
	case winner == nil:
		r.Code, r.Detail = CodeNotSelected, "is not selected, nor is any other for such machines"
	case i.Deprecated(s.now) && !winner.Deprecated(s.now):
		r.Code, r.Detail = CodeDeprecated, "is deprecated since "+i.DeprecationTime.UTC().Format("2006-01-02")
	case winner.Created.Equal(i.Created):
		r.Detail = "was created at the same time as another, whose name comes later or whose id comes first"
	default:
		r.Detail = fmt.Sprintf("is of %s, and there is a newer one of %s",
			i.Created.UTC().Format("2006-01-02"), winner.Created.UTC().Format("2006-01-02"))
	}
	return s.instead(r, winner)
}

// instead adds the selected image to a reason.
func (s *selection) instead(r Explanation, winner *Image) Explanation {
	if winner != nil {
		r.ReplacementID, r.ReplacementName = winner.ID, winner.Name
	}
	return r
}

// bestOf returns the image selected by terms for an architecture, or nil.
func (s *selection) bestOf(arch string) *Image {
	for n := range s.choices {
		if s.choices[n].Image.Architecture == arch {
			return &s.choices[n].Image
		}
	}
	return nil
}

// onlyTerm returns the index of the term if there is just one.
func (s *selection) onlyTerm() int {
	if len(s.terms) == 1 {
		return 0
	}
	return -1
}

// mismatch says why no term selects the image.
func (s *selection) mismatch(i *Image, tags *tagValues) string {
	var why []string
	for n := range s.matcher.terms {
		t := &s.matcher.terms[n]
		why = append(why, fmt.Sprintf("amiSelectorTerms[%d] %s", t.index, s.mismatchOf(t, i, tags)))
	}
	const enough = 3
	if more := len(why) - enough; more > 0 {
		why = append(why[:enough], fmt.Sprintf("and %d more", more))
	}
	return "is not selected: " + strings.Join(why, ", ")
}

func (s *selection) mismatchOf(t *compiledTerm, i *Image, tags *tagValues) string {
	term := &s.terms[t.index]
	switch tag := t.matchesTags(tags); {
	case t.none:
		return "has a parameter that names no image"
	case t.id != "" && term.SSMParameter != "":
		return "has a parameter that names " + t.id
	case t.id != "":
		return "wants " + t.id
	case t.named && !t.name.Match(i.Name):
		return fmt.Sprintf("wants name %q", term.Name)
	case !i.ownedBy(t.owners, s.matcher.account):
		return "wants owner " + strings.Join(t.owners, " or ")
	case tag != nil:
		key := s.matcher.keys[tag.key]
		if !tags.has[tag.key] {
			return fmt.Sprintf("wants tag %s, which it does not have", key)
		}
		return fmt.Sprintf("wants tag %s=%s, which is %q", key, term.Tags[key], shorten(tags.value[tag.key]))
	}
	return "does not want it"
}

// identity has the parts of the name of an image that AWS publishes.
type identity struct {
	family     Family
	kubernetes string
	line       int // of the lines of the family
	release    string
}

// identify reads the name of an image. All parts that may be a Kubernetes version are tried,
// because families have it in different places.
func identify(name string) (identity, bool) {
	for _, part := range strings.Split(name, "-") {
		version, _, err := parseKubernetes(part)
		if err != nil || version != part {
			continue
		}
		for _, f := range Families() {
			for n, line := range publishedFor(Alias{Family: f}, version) {
				if release, ok := line.release(f, name); ok {
					return identity{f, version, n, release}, true
				}
			}
		}
	}
	return identity{}, false
}

// driftedAlias explains why the alias does not select an allowed image.
func (s *selection) driftedAlias(i *Image) Explanation {
	alias := s.alias.String()
	r := Explanation{Code: CodeNotSelected, ImageID: i.ID, ImageName: i.Name}
	id, ok := identify(i.Name)
	if !ok || i.OwnerAlias != ownerAmazon {
		r.Detail = fmt.Sprintf("is none of those that AWS publishes for %s", alias)
		return r
	}
	var winner *Image
	if id.family == s.alias.Family {
		winner = s.winners[id.line]
	}
	switch release := s.releaseOf(id.line, winner); {
	case id.family != s.alias.Family:
		r.Code, r.Detail = CodeFamily, fmt.Sprintf("is of family %s, the alias is %s", id.family, alias)
	case id.kubernetes != s.alias.kubernetes:
		r.Code, r.Detail = CodeKubernetesVersion, fmt.Sprintf("is for Kubernetes %s, the control plane is at %s", id.kubernetes, s.alias.kubernetes)
	case s.refuse(i, !s.alias.Static()) != "":
		r = s.reason(CodeTooYoung, i, 0)
	case s.alias.Static() && strings.TrimLeft(id.release, "v") != strings.TrimLeft(s.alias.Version, "v"):
		r.Code, r.Detail = CodeRelease, fmt.Sprintf("is of release %s, the alias is %s", id.release, alias)
	case winner != nil && winner.Created.Before(i.Created) && !i.Deprecated(s.now):
		r.Code, r.Detail = CodeRelease, fmt.Sprintf("is of release %s, later than %s, where %s leads now", id.release, release, alias)
	default:
		return s.beaten(i, winner, 0)
	}
	return s.instead(r, winner)
}

// releaseOf returns the release in the name of an image, or the id of the image if its name has
// none.
func (s *selection) releaseOf(line int, i *Image) string {
	if i == nil || line >= len(s.alias.lines) {
		return ""
	}
	if release, ok := s.alias.lines[line].release(s.alias.Family, i.Name); ok {
		return release
	}
	return i.ID
}

// Release reads the name of a node image published by AWS: its family, the Kubernetes version and
// the release, such as v20240807. It reports false for the names of other images.
func Release(name string) (family Family, kubernetes, release string, ok bool) {
	id, ok := identify(name)
	return id.family, id.kubernetes, id.release, ok
}
