package iam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Limits of IAM on the size of policies, in characters without white space.
const (
	// MaxManagedPolicySize is that of one managed policy.
	MaxManagedPolicySize = 6144
	// MaxInlineRolePolicySize is that of all inline policies of one role
	// together.
	MaxInlineRolePolicySize = 10240
)

// languageVersion is the version of the policy language.
const languageVersion = "2012-10-17"

// Policy is a list of rights. Its JSON is a policy document.
type Policy struct {
	// Name says what the policy is for. It is not part of the document.
	Name string
	// Statements are the rights. A request is allowed if one of them allows it.
	Statements []Statement
}

// Statement allows actions on resources under conditions.
type Statement struct {
	// Sid names the statement: letters and digits, unique within the policy.
	Sid string
	// Actions are what is allowed, such as ec2:RunInstances.
	Actions []string
	// Resources are the ARNs of what it is allowed on; * is a wildcard.
	Resources []string
	// Conditions must all hold.
	Conditions []Condition
}

// Condition compares a key of the request's context with values, of which one
// must match.
type Condition struct {
	// Operator says how to compare, such as StringEquals.
	Operator string
	// Key is what to compare, such as aws:RequestedRegion.
	Key string
	// Values are what to compare it with.
	Values []string
}

// document is the form of a policy in JSON. Maps are written in the order of
// their keys.
type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// MarshalJSON writes the policy document without white space. Statements,
// actions, resources and values keep their order; conditions are sorted by
// operator and key, and the values of equal ones are put together.
func (p Policy) MarshalJSON() ([]byte, error) {
	doc := document{Version: languageVersion, Statement: []statement{}}
	for _, s := range p.Statements {
		out := statement{Sid: s.Sid, Effect: "Allow", Action: s.Actions, Resource: s.Resources}
		for _, c := range s.Conditions {
			if out.Condition == nil {
				out.Condition = map[string]map[string][]string{}
			}
			if out.Condition[c.Operator] == nil {
				out.Condition[c.Operator] = map[string][]string{}
			}
			known := out.Condition[c.Operator][c.Key]
			out.Condition[c.Operator][c.Key] = append(slices.Clone(known), c.Values...)
		}
		doc.Statement = append(doc.Statement, out)
	}
	return json.Marshal(doc)
}

// JSON returns the policy document for people to read: indented by two spaces,
// with a newline at the end. The same policy gives the same bytes.
func (p Policy) JSON() []byte {
	compact := p.compact()
	var out bytes.Buffer
	// What we have written ourselves can be indented.
	_ = json.Indent(&out, compact, "", "  ")
	out.WriteByte('\n')
	return out.Bytes()
}

// compact cannot fail: strings, lists and maps of strings always have a form in
// JSON.
func (p Policy) compact() []byte {
	data, _ := p.MarshalJSON()
	return data
}

// Size returns the size of the policy document as IAM counts it: characters
// without white space.
func (p Policy) Size() int {
	return len(bytes.Join(bytes.Fields(p.compact()), nil))
}

// Check returns an error if the policy is larger than a limit, such as
// MaxManagedPolicySize.
func (p Policy) Check(limit int) error {
	if size := p.Size(); size > limit {
		return fmt.Errorf("policy %s has %d characters, IAM takes %d: split it, or name fewer roles or parameters", p.Name, size, limit)
	}
	return nil
}

// Merge returns one policy with the statements of all, in order, for those who
// would rather have one inline policy. It shares no list with them. Sids must
// differ, as those of ControllerPolicies do; check the size with
// MaxInlineRolePolicySize.
func Merge(name string, policies ...Policy) Policy {
	out := Policy{Name: name}
	for _, p := range policies {
		for _, s := range p.Statements {
			out.Statements = append(out.Statements, s.clone())
		}
	}
	return out
}

func (s Statement) clone() Statement {
	s.Actions = slices.Clone(s.Actions)
	s.Resources = slices.Clone(s.Resources)
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].Values = slices.Clone(s.Conditions[i].Values)
	}
	return s
}
