package amiselect

import (
	"maps"
	"slices"
)

// QueryKind says which call of AWS a Query is.
type QueryKind string

// The kinds of queries.
const (
	// QueryParameter reads an SSM parameter, by ssm:GetParameter.
	QueryParameter QueryKind = "Parameter"
	// QueryImages lists images, by ec2:DescribeImages.
	QueryImages QueryKind = "Images"
)

// Query is one thing to ask AWS for.
type Query struct {
	// Kind says which of the other fields are in use.
	Kind QueryKind

	// Terms are the indices of the terms that the query is for, ascending.
	Terms []int

	// Parameter is the name or ARN of an SSM parameter.
	Parameter string
	// Mutable says that the value of the parameter changes over time. Others
	// can be kept for as long as they are of use.
	Mutable bool
	// Architecture, of the parameter of an alias, is that of the image, as EC2
	// spells it.
	Architecture string
	// Variants, of the parameter of an alias, are what the image is for.
	Variants []Variant

	// Filters are those of DescribeImages, each with the values of which one
	// must apply, which are patterns as ParsePattern reads them.
	Filters []Filter
	// Owners are those of DescribeImages; nil is all.
	Owners []string
	// IncludeDeprecated is true for all queries for images: nodes whose image
	// has been deprecated must not lose it.
	IncludeDeprecated bool
}

// Filter is a filter of DescribeImages.
type Filter struct {
	Name   string   // as DescribeImages calls it, such as tag:team
	Values []string // at least one, of which one must apply
}

// Queries says what to ask AWS for so that Select can decide:
//
//  1. the SSM parameters of the terms that env.Parameters does not answer yet,
//     in the order of the terms and of the variants of an alias;
//  2. all ids, those of the terms and those that env.Parameters has for them, in
//     one query of images, ids sorted, no owner;
//  3. each term by name or tags, as a query of its own, in their order: a name
//     becomes the filter name, a tag the filter tag:key, or tag-key if its value
//     is "*", in the order of the keys; the owners are the term's, or else, if it
//     has a name, self and amazon;
//  4. the images of an alias by name, of owner amazon, if env asks for History,
//     or if it is at latest~n. Of an alias with a version these are the images
//     of that version, and only while env.Parameters is nil.
//
// All queries of images begin with the filter state=available.
//
// So the caller asks, puts the values of the parameters into env.Parameters, the
// empty text for those that do not exist, and calls Queries again; when no
// parameter is left it fetches the images and hands them to Select together with
// the environment. A caller who has images of aliases described by name only
// leaves env.Parameters nil and skips the parameters.
//
// For better explanations by Selection.Drifted add the images of existing nodes.
//
// The error joins what ValidateTerms finds and what is wrong with env; for a
// family that AWS does not publish for the Kubernetes version it wraps
// ErrUnsupportedAlias.
func Queries(terms []Term, env Environment) ([]Query, error) {
	alias, err := resolve(terms, env)
	if err != nil {
		return nil, err
	}
	q := &querier{env: env, ids: map[string][]int{}}
	if alias != nil {
		q.alias(alias)
	}
	for i := range terms {
		q.term(i, &terms[i])
	}
	out := q.parameters
	if len(q.ids) > 0 {
		out = append(out, q.byID())
	}
	return append(out, q.images...), nil
}

// querier collects queries.
type querier struct {
	env        Environment
	parameters []Query
	ids        map[string][]int // id to terms
	images     []Query
}

func (q *querier) alias(a *resolvedAlias) {
	var names []string
	for _, line := range a.lines {
		if value, answered := q.env.Parameters[line.parameter]; !answered {
			q.parameters = append(q.parameters, Query{Kind: QueryParameter, Terms: []int{0},
				Parameter: line.parameter, Mutable: !a.Static() || a.Family.Windows(),
				Architecture: line.arch, Variants: slices.Clone(line.variants)})
		} else if isImageID(value) {
			q.id(value, 0)
		}
		names = append(names, line.patterns(a.Alias)...)
	}
	if a.Back > 0 || q.env.History && (!a.Static() || q.env.Parameters == nil) {
		q.images = append(q.images, imagesQuery(0, []string{ownerAmazon}, Filter{"name", names}))
	}
}

func (q *querier) id(id string, term int) {
	if !slices.Contains(q.ids[id], term) {
		q.ids[id] = append(q.ids[id], term)
	}
}

func (q *querier) term(i int, t *Term) {
	switch {
	case t.ID != "":
		q.id(t.ID, i)
	case t.SSMParameter != "":
		q.parameter(i, t.SSMParameter)
	case t.Name != "" || len(t.Tags) > 0:
		var filters []Filter
		if t.Name != "" {
			filters = append(filters, Filter{"name", []string{t.Name}})
		}
		for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
			if value := t.Tags[key]; value == "*" {
				filters = append(filters, Filter{"tag-key", []string{key}})
			} else {
				filters = append(filters, Filter{"tag:" + key, []string{value}})
			}
		}
		q.images = append(q.images, imagesQuery(i, t.owners(), filters...))
	}
}

// parameter asks for the parameter of a term, or for the image that it has.
func (q *querier) parameter(term int, name string) {
	if value, answered := q.env.Parameters[name]; answered {
		if isImageID(value) {
			q.id(value, term)
		}
		return
	}
	for i := range q.parameters {
		if q.parameters[i].Parameter == name {
			q.parameters[i].Terms = append(q.parameters[i].Terms, term)
			return
		}
	}
	q.parameters = append(q.parameters, Query{Kind: QueryParameter, Terms: []int{term}, Parameter: name, Mutable: true})
}

// byID asks for all ids at once.
func (q *querier) byID() Query {
	ids := slices.Sorted(maps.Keys(q.ids))
	var terms []int
	for _, id := range ids {
		terms = append(terms, q.ids[id]...)
	}
	slices.Sort(terms)
	out := imagesQuery(0, nil, Filter{"image-id", ids})
	out.Terms = slices.Compact(terms)
	return out
}

func imagesQuery(term int, owners []string, filters ...Filter) Query {
	return Query{Kind: QueryImages, Terms: []int{term}, IncludeDeprecated: true, Owners: owners,
		Filters: append([]Filter{{"state", []string{"available"}}}, filters...)}
}
