package iam_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/iam"
)

// demo is a config with everything in use.
func demo() iam.Config {
	return iam.Config{
		ClusterName: "demo",
		Region:      "eu-west-1",
		Account:     "123456789012",
		NodeRoles:   []string{"arn:aws:iam::123456789012:role/KarpenterNodeRole-demo"},
		QueueARN:    "arn:aws:sqs:eu-west-1:123456789012:demo",
		ZonalShift:  true,
		Parameters:  []string{"arn:aws:ssm:eu-west-1:123456789012:parameter/images/golden"},
	}
}

func policies(t testing.TB, c iam.Config) []iam.Policy {
	t.Helper()
	out, err := iam.ControllerPolicies(c)
	require.NoError(t, err)
	return out
}

// request is one call to judge.
type request struct {
	action, resource string
	context          map[string][]string
}

// allows judges a request as IAM does, for the operators that we use.
func allows(ps []iam.Policy, r request) bool {
	for _, p := range ps {
		for _, s := range p.Statements {
			fits := func(pattern string) bool { return matches(pattern, r.resource) }
			holds := func(c iam.Condition) bool { return holds(c, r.context) }
			if slices.Contains(s.Actions, r.action) && slices.ContainsFunc(s.Resources, fits) && all(s.Conditions, holds) {
				return true
			}
		}
	}
	return false
}

func holds(c iam.Condition, context map[string][]string) bool {
	values, present := context[c.Key]
	equal := func(v string) bool { return slices.Contains(c.Values, v) }
	switch c.Operator {
	case "StringEquals":
		return present && all(values, equal)
	case "StringEqualsIfExists", "ForAllValues:StringEquals":
		return all(values, equal)
	case "StringLike":
		return present && all(values, func(v string) bool {
			return slices.ContainsFunc(c.Values, func(pattern string) bool { return matches(pattern, v) })
		})
	}
	panic("unknown operator " + c.Operator)
}

func all[T any](items []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !holds(item) })
}

// matches knows one wildcard, *.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
