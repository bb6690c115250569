package awstest

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// attributes returns the values that a thing has for the name of a filter, and
// false if there is no such filter.
type attributes func(name string) (values []string, known bool)

// matches puts a thing to filters, all of which must hold: one of the values of
// each matches one of the thing. * and ? are wildcards.
func matches(filters []form, of attributes) (bool, *fault) {
	ok := true
	for _, f := range filters {
		name := f.str("Name")
		values, known := of(name)
		if !known {
			return false, invalid("The filter '%s' is invalid", name)
		}
		wanted := f.strs("Value")
		ok = ok && slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(wanted, func(w string) bool { return wildcard(w, v) })
		})
	}
	return ok, nil
}

// selector is a parameter of a call that names things. With a code it is a fault to
// name one that is not there; the format has one %s.
type selector[T any] struct {
	parameter    string
	name         func(T) string
	code, format string
}

// selected are the things that a call asks for: those that it names, or all if it names
// none, which its filters match.
func selected[T any](q *request, all []T, of func(T) attributes, by ...selector[T]) (list []T, _ *fault) {
	list = slices.Clone(all)
	for _, s := range by {
		wanted := q.form.strs(s.parameter)
		named := func(name string) bool { return slices.ContainsFunc(all, func(t T) bool { return s.name(t) == name }) }
		if s.code != "" {
			if err := known(wanted, named, s.code, s.format); err != nil {
				return nil, err
			}
		}
		list = slices.DeleteFunc(list, func(t T) bool { return len(wanted) > 0 && !slices.Contains(wanted, s.name(t)) })
	}
	filters := q.form.list("Filter")
	var strange *fault
	list = slices.DeleteFunc(list, func(t T) bool {
		ok, err := matches(filters, of(t))
		if err != nil {
			strange = err
		}
		return !ok
	})
	return list, strange
}

// wildcard matches a text against a pattern with * and ?.
func wildcard(pattern, text string) bool {
	star, mark := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*':
			p, t = p+1, t+1
		case p < len(pattern) && pattern[p] == '*':
			star, mark, p = p, t, p+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// tagValues are the values of the filters that are about tags.
func tagValues(name string, tags map[string]string) ([]string, bool) {
	if name == "tag-key" {
		keys := make([]string, 0, len(tags))
		for k := range tags {
			keys = append(keys, k)
		}
		return keys, true
	}
	key, isTag := strings.CutPrefix(name, "tag:")
	if !isTag {
		return nil, false
	}
	if v, has := tags[key]; has {
		return []string{v}, true
	}
	return nil, true
}

// table is the attributes of a thing in a map, with those about tags.
func table(values map[string][]string, tags map[string]string) attributes {
	return func(name string) ([]string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return tagValues(name, tags)
	}
}

// one is a list of one value, or none if that is empty.
func one(v string) []string {
	if v == "" {
		return nil
	}
	return []string{v}
}

// pageOf cuts the page out of a list, whose keys rise, that begins behind a token.
// It returns the token of the next page, if there is one. least and most are what
// MaxResults may be; usual is how many there are without it.
func pageOf[T any](c *Cloud, q *request, list []T, key func(T) string, least, most, usual int) ([]T, *string, *fault) {
	size, asked := q.form.num("MaxResults")
	if !asked {
		size = usual
	} else if size < least || size > most {
		return nil, nil, invalid("Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", size, least, most)
	}
	return cut(c, q, list, key, size, q.form.str("NextToken"))
}

// cut cuts out a page of at most size.
func cut[T any](c *Cloud, q *request, list []T, key func(T) string, size int, token string) ([]T, *string, *fault) {
	if most := cmp.Or(c.opts.PageSizes[q.action], c.opts.PageSize); most > 0 {
		size = min(size, most)
	}
	if token != "" {
		data, err := base64.StdEncoding.DecodeString(token)
		after, ok := strings.CutPrefix(string(data), "after:")
		if err != nil || !ok {
			return nil, nil, failure("InvalidNextToken", "The token '%s' is invalid", token)
		}
		first := 0
		for first < len(list) && key(list[first]) <= after {
			first++
		}
		list = list[first:]
	}
	if len(list) <= size {
		return list, nil, nil
	}
	next := base64.StdEncoding.EncodeToString([]byte("after:" + key(list[size-1])))
	return list[:size], &next, nil
}
