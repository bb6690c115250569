package amiselect

import (
	"maps"
	"slices"
)

// QueryKind is the AWS call of a Query.
type QueryKind string

// The kinds of queries.
const (
	// QueryParameter reads an SSM parameter, by ssm:GetParameter.
	QueryParameter QueryKind = "Parameter"
	// QueryImages lists images, by ec2:DescribeImages.
	QueryImages QueryKind = "Images"
)

// Query is one question to AWS.
type Query struct {
	// Kind says which of the other fields are in use.
	Kind QueryKind

	// Terms are the indices of the terms that the query is for, ascending.
	Terms []int

	// Parameter is the name or ARN of an SSM parameter.
	Parameter string
	// Mutable says that the value of the parameter changes over time. Other values can be cached
	// without limit.
	Mutable bool
	// Architecture is the architecture of the image in EC2's spelling, for the parameter of an
	// alias.
	Architecture string
	// Variants are the variants of the image, for the parameter of an alias.
	Variants []Variant

	// Filters are the filters of DescribeImages. One value of each must match; values are patterns
	// as ParsePattern reads them.
	Filters []Filter
	// Owners are the owners of DescribeImages; nil means all.
	Owners []string
	// IncludeDeprecated is true for all queries for images, so that the deprecated images of nodes
	// are found.
	IncludeDeprecated bool
}

// Filter is a filter of DescribeImages.
type Filter struct {
	Name   string   // as DescribeImages calls it, such as tag:team
	Values []string // at least one; one of them must match
}

// Queries returns the questions to AWS whose answers Select needs:
//
//  1. the SSM parameters of the terms that env.Parameters does not have yet, in the order of the
//     terms and of the variants of an alias;
//  2. all ids, those of the terms and those in env.Parameters, in one query of images, ids sorted,
//     no owner;
//  3. each term by name or tags, as a separate query, in their order: a name becomes the filter
//     name, a tag the filter tag:key, or tag-key if its value is "*", in the order of the keys; the
//     owners are the term's, or else, if it has a name, self and amazon;
//  4. the images of an alias by name, of owner amazon, if env.History is set, or if the alias is at
//     latest~n. For an alias with a version these are the images of that version, and only if
//     env.Parameters is nil.
//
// All queries of images begin with the filter state=available.
//
// The caller therefore reads the parameters and puts their values into env.Parameters, the empty
// string for a parameter that does not exist. Then it calls Queries again. When no parameter is
// left, it reads the images and passes them to Select with the environment. A caller that finds the
// images of aliases by name only leaves env.Parameters nil and skips the parameters.
//
// For better explanations by Selection.Drifted add the images of existing nodes.
//
// The error joins the faults of ValidateTerms and of env; for a family that AWS does not publish
// for the Kubernetes version it wraps ErrUnsupportedAlias.
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

// parameter adds the query for the parameter of a term, or the id in its value.
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

// byID returns the query for all ids.
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
