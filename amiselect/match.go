package amiselect

import (
	"maps"
	"slices"
)

// matcher matches images with terms other than an alias. It looks up the tags of an image once for
// all terms.
type matcher struct {
	account string
	terms   []compiledTerm
	keys    []string // tag keys of all terms
}

// compiledTerm is a valid term.
type compiledTerm struct {
	index   int
	id      string // of an id, or the value of a parameter
	none    bool   // selects nothing: the parameter has no image
	named   bool
	name    Pattern
	owners  []string
	tags    []compiledTag
	dynamic bool
}

type compiledTag struct {
	key   int // index into matcher.keys
	any   bool
	value Pattern
}

// tagValues are the values of an image for matcher.keys.
type tagValues struct {
	value []string
	has   []bool
}

// newMatcher returns the matcher of valid terms without alias.
func newMatcher(terms []Term, env Environment) *matcher {
	m := &matcher{account: env.Account}
	for i := range terms {
		t := &terms[i]
		c := compiledTerm{index: i, id: t.ID, owners: t.owners(), dynamic: !t.Static()}
		if t.SSMParameter != "" {
			c.id = env.Parameters[t.SSMParameter]
			c.none = !isImageID(c.id)
		}
		if t.Name != "" {
			c.named = true
			c.name, _ = ParsePattern(t.Name) // valid
		}
		for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
			tag := compiledTag{key: slices.Index(m.keys, key), any: t.Tags[key] == "*"}
			if tag.key < 0 {
				tag.key = len(m.keys)
				m.keys = append(m.keys, key)
			}
			tag.value, _ = ParsePattern(t.Tags[key])
			c.tags = append(c.tags, tag)
		}
		m.terms = append(m.terms, c)
	}
	return m
}

// values looks up the tags of an image. It reuses the slices of v.
func (m *matcher) values(i *Image, v *tagValues) {
	v.value, v.has = v.value[:0], v.has[:0]
	for _, key := range m.keys {
		value, has := i.Tags[key]
		v.value, v.has = append(v.value, value), append(v.has, has)
	}
}

// matches reports whether the term selects the image with the tags v.
func (m *matcher) matches(t *compiledTerm, i *Image, v *tagValues) bool {
	if t.none || t.id != "" {
		return !t.none && t.id == i.ID
	}
	return (!t.named || t.name.Match(i.Name)) && i.ownedBy(t.owners, m.account) && t.matchesTags(v) == nil
}

// matchesTags returns the first tag that does not match, or nil.
func (t *compiledTerm) matchesTags(v *tagValues) *compiledTag {
	for n := range t.tags {
		tag := &t.tags[n]
		if !v.has[tag.key] || !tag.any && !tag.value.Match(v.value[tag.key]) {
			return tag
		}
	}
	return nil
}
