package iam_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/iam"
)

func TestPolicyJSON(t *testing.T) {
	p := iam.Policy{Name: "x", Statements: []iam.Statement{{
		Sid: "A", Actions: []string{"b", "a"}, Resources: []string{"*"},
		Conditions: []iam.Condition{
			{Operator: "StringLike", Key: "k", Values: []string{"1"}},
			{Operator: "StringEquals", Key: "z", Values: []string{"1"}},
			{Operator: "StringEquals", Key: "k", Values: []string{"2", "1"}},
			{Operator: "StringEquals", Key: "z", Values: []string{"2"}},
		},
	}}}
	const want = `{"Version":"2012-10-17","Statement":[{"Sid":"A","Effect":"Allow","Action":["b","a"],"Resource":["*"],` +
		`"Condition":{"StringEquals":{"k":["2","1"],"z":["1","2"]},"StringLike":{"k":["1"]}}}]}`
	got, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
	require.Equal(t, len(want), p.Size())
	require.JSONEq(t, want, string(p.JSON()))
	require.NoError(t, p.Check(len(want)))
	require.EqualError(t, p.Check(10), "policy x has 187 characters, IAM takes 10: split it, or name fewer roles or parameters")
}

func TestEmptyPolicy(t *testing.T) {
	require.Equal(t, "{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": []\n}\n", string(iam.Policy{}.JSON()))
	require.Equal(t, iam.Policy{Name: "none"}, iam.Merge("none"))
}
