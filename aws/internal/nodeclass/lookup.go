package nodeclass

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// lookup is one call that describes what selector terms select: everything that
// passes all filters.
type lookup struct {
	filters []ec2types.Filter
}

// key tells lookups apart, and is their name in texts.
func (l lookup) key() string {
	var parts []string
	for _, f := range l.filters {
		var values []string
		for _, v := range f.Values {
			values = append(values, strconv.Quote(v))
		}
		parts = append(parts, strconv.Quote(*f.Name)+"="+strings.Join(values, ","))
	}
	return strings.Join(parts, " ")
}

// distinct returns the lookups in the order of their keys, each once.
func distinct(all []lookup) []lookup {
	slices.SortStableFunc(all, func(a, b lookup) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(all, func(a, b lookup) bool { return a.key() == b.key() })
}

// anyValue is the value of a tag that only has to be there.
const anyValue = "*"

// tagFilters are the filters for tags, in the order of their keys.
func tagFilters(tags map[string]string) []ec2types.Filter {
	var out []ec2types.Filter
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if value := tags[key]; value == anyValue {
			out = append(out, filter("tag-key", key))
		} else {
			out = append(out, filter("tag:"+key, value))
		}
	}
	return out
}

func filter(name string, values ...string) ec2types.Filter {
	return ec2types.Filter{Name: &name, Values: values}
}

// oneOf is a filter that any of several values passes, each of which is asked for
// once.
func oneOf(name string, values []string) ec2types.Filter {
	slices.Sort(values)
	return filter(name, slices.Compact(values)...)
}

// emptyTerm is the fault of a term that would select everything there is.
func emptyTerm(field string, index int, want string) error {
	return &cloudprovider.Error{Op: "Read", Object: fmt.Sprintf("%s[%d]", field, index), Kind: cloudprovider.KindDenied,
		Err: fmt.Errorf("selects everything in the region; give it %s", want)}
}

// worst merges the readings of several answers to one question: the oldest, and
// the first failure.
func worst(a, b cache.Reading) cache.Reading {
	out := a
	if a.At.IsZero() || !b.At.IsZero() && b.At.Before(a.At) {
		out.At = b.At
	}
	if !out.Stale {
		out.Stale, out.Err = b.Stale, b.Err
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(n *int32) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}
