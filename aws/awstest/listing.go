package awstest

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// attributes returns the values of an object for the name of a filter, and false for an unknown
// filter.
type attributes func(name string) (values []string, known bool)

// matches reports whether an object passes all filters: for each, one value of the filter must
// match one of the object. * and ? are wildcards.
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

// selector is a parameter of a call that names objects. If it has a code, naming an unknown object
// is a fault with this code; the format has one %s.
type selector[T any] struct {
	parameter    string
	name         func(T) string
	code, format string
}

// selected returns the objects that a call selects: the objects that the call names, or all objects
// if the call names none. Objects that the filters of the call do not match are left out.
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

// tagValues returns the values of tag filters.
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

// table returns the attributes of an object from a map, and those of its tags.
func table(values map[string][]string, tags map[string]string) attributes {
	return func(name string) ([]string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return tagValues(name, tags)
	}
}

// one returns a list of one value, or nil if that is empty.
func one(v string) []string {
	if v == "" {
		return nil
	}
	return []string{v}
}

// pageOf returns the page of a list that begins behind a token, and the token of the next page, if
// there is one. The keys of the list ascend. MaxResults must be from least to most; usual is the
// page size without it.
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
