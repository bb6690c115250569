package amiselect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestValidateTerms(t *testing.T) {
	many := map[string]string{}
	for i := range 21 {
		many[fmt.Sprintf("k%02d", i)] = "v"
	}
	type terms = []amiselect.Term
	for _, tt := range []struct {
		name  string
		terms terms
		want  []string
	}{
		{"no term", nil, []string{"amiSelectorTerms: Required value: give at least one term"}},
		{"31 terms", make(terms, 31), append([]string{"amiSelectorTerms: Too many: 31: must have at most 30 items"},
			strings.Split(strings.Repeat("Required value: select by|", 31), "|")[:31]...)},
		{"an empty term", terms{{}}, []string{"amiSelectorTerms[0]: Required value: select by alias, id, name, tags or ssmParameter"}},
		{"an owner alone", terms{{Owner: "self"}}, []string{"amiSelectorTerms[0]: Required value: an owner alone would select"}},
		{"an alias", terms{{Alias: "al2023@v20240807"}}, nil},
		{"two aliases", terms{{Alias: "al2@latest"}, {Alias: "al2023@latest"}}, []string{
			"amiSelectorTerms[0].alias: Forbidden: an alias must be the only term", "amiSelectorTerms[1].alias: Forbidden"}},
		{"an alias and an id term", terms{{ID: "ami-1"}, {Alias: "al2023@latest"}}, []string{"amiSelectorTerms[1].alias: Forbidden: an alias must be the only term"}},
		{"an alias and the rest", terms{{Alias: "al2023@latest", ID: "ami-1", SSMParameter: "/x", Name: "n", Owner: "self", Tags: map[string]string{"a": "b"}}}, []string{
			"amiSelectorTerms[0].id: Forbidden: does not go with alias", "ssmParameter: Forbidden: does not go with alias", "name: Forbidden: does not go with alias", "owner: Forbidden: does not go with alias", "tags: Forbidden: does not go with alias"}},
		{"two @", terms{{Alias: "al2023@a@b"}}, []string{`amiSelectorTerms[0].alias: Invalid value: "al2023@a@b": has more than one "@"`}},
		{"ids", terms{{ID: "ami-052c9ea013e6e3567"}, {ID: "ami-123"}}, nil},
		{"a bad id", terms{{ID: "x-ami-123"}, {ID: "ami-"}, {ID: "ami-A"}}, []string{`amiSelectorTerms[0].id: Invalid value: "x-ami-123": want "ami-"`, "amiSelectorTerms[1].id", "amiSelectorTerms[2].id"}},
		// Karpenter lets the next pass, because another term is clean.
		{"an id with tags beside a clean term", terms{{ID: "ami-1", Tags: map[string]string{"a": "b"}}, {Tags: map[string]string{"a": "b"}}}, []string{"amiSelectorTerms[0].tags: Forbidden: does not go with id, which decides alone"}},
		{"an id with the rest", terms{{ID: "ami-1", SSMParameter: "/x", Name: "n", Owner: "self"}}, []string{
			"ssmParameter: Forbidden: does not go with id", "name: Forbidden", "owner: Forbidden"}},
		{"an ssmParameter", terms{{SSMParameter: "/my/image"}, {SSMParameter: "arn:aws:ssm:us-west-2:111122223333:parameter/my/image"}}, nil},
		{"an ssmParameter with tags", terms{{SSMParameter: "/my/image", Tags: map[string]string{"a": "b"}}}, []string{"tags: Forbidden: does not go with ssmParameter"}},
		{"a bad ssmParameter", terms{{SSMParameter: "a b"}}, []string{"amiSelectorTerms[0].ssmParameter: Invalid value"}},
		{"name, owner and tags", terms{{Name: "my-*", Owner: account, Tags: map[string]string{"env": "*"}}}, nil},
		{"owners", terms{{Name: "n", Owner: "self"}, {Name: "n", Owner: "amazon"}, {Name: "n", Owner: "aws-marketplace"}, {Name: "n", Owner: "me"}, {Name: "n", Owner: "12345"}}, []string{
			`amiSelectorTerms[3].owner: Invalid value: "me": want an account of twelve digits`, "amiSelectorTerms[4].owner"}},
		{"a bad name", terms{{Name: `a\`}}, []string{`amiSelectorTerms[0].name: Invalid value: "a\\": ends in a single backslash`}},
		{"empty tags", terms{{Tags: map[string]string{}}}, []string{"amiSelectorTerms[0]: Required value", "amiSelectorTerms[0].tags: Required value: name at least one tag"}},
		{"tags without key and value", terms{{Tags: map[string]string{"": "v", "k": "", "j": `\`}}}, []string{
			"tags: Invalid value: \"\": a tag must have a key", "tags[j]: Invalid value: \"\\\\\": ends in a single backslash", `tags[k]: Invalid value: "": a tag must have a value; write "*" for any`}},
		{"21 tags", terms{{Tags: many}}, []string{"amiSelectorTerms[0].tags: Too many: 21: must have at most 20 items"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults := amiselect.ValidateTerms(nil, tt.terms)
			require.Len(t, faults, len(tt.want), "%v", faults)
			for i, want := range tt.want {
				require.Contains(t, faults[i].Error(), want)
				require.NotContains(t, faults[i].Error(), "\n")
			}
			_, err := amiselect.Queries(tt.terms, amiselect.Environment{KubernetesVersion: "1.31"})
			require.Equal(t, len(faults) > 0, err != nil, "Queries must judge as ValidateTerms does: %v", err)
		})
	}
	faults := amiselect.ValidateTerms(field.NewPath("spec", "amiSelectorTerms"), []amiselect.Term{{}})
	require.Equal(t, "spec.amiSelectorTerms[0]", faults[0].Field)
}

func TestTermJSON(t *testing.T) {
	const text = `[{"alias":"al2023@latest"},{"tags":{"a":"b"},"name":"n","owner":"self"},{"id":"ami-1"},{"ssmParameter":"/x"}]`
	var terms []amiselect.Term
	require.NoError(t, json.Unmarshal([]byte(text), &terms))
	out, err := json.Marshal(terms)
	require.NoError(t, err)
	require.JSONEq(t, text, string(out))
}

func TestTermStatic(t *testing.T) {
	for _, tt := range []struct {
		term   amiselect.Term
		static bool
		text   string
	}{
		{amiselect.Term{Alias: "al2023@latest"}, false, `alias "al2023@latest"`},
		{amiselect.Term{Alias: "al2023@latest~1"}, false, `alias "al2023@latest~1"`},
		{amiselect.Term{Alias: "al2023@v20240807"}, true, `alias "al2023@v20240807"`},
		{amiselect.Term{Alias: "x"}, false, `alias "x"`},
		{amiselect.Term{ID: "ami-1"}, true, `id "ami-1"`},
		{amiselect.Term{Name: "exact"}, true, `name "exact"`},
		{amiselect.Term{Name: `exact\*`}, true, `name "exact\\*"`},
		{amiselect.Term{Name: "any-*", Owner: "self"}, false, `name "any-*", owner "self"`},
		{amiselect.Term{SSMParameter: "/x"}, false, `ssmParameter "/x"`},
		{amiselect.Term{Tags: map[string]string{"b": "2", "a": "1"}}, false, `tag a="1", tag b="2"`},
		{amiselect.Term{}, false, "nothing"},
	} {
		require.Equal(t, tt.static, tt.term.Static(), tt.text)
		require.Equal(t, tt.text, tt.term.String())
	}
}

func FuzzTerms(f *testing.F) {
	f.Add([]byte(`[{"alias":"al2023@latest"}]`), "1.31")
	f.Add([]byte(`[{"name":"a*","tags":{"k":"v?"}},{"id":"ami-1"},{"ssmParameter":"/x"}]`), "")
	f.Add([]byte(`[{"owner":"self","tags":{}}]`), "1.x")
	images := append(al2023("1.31", "20240807", "20240703"), mine("ami-1", "abc", "x86_64", "2024-01-01", "k", "v1"))
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		var terms []amiselect.Term
		if json.Unmarshal(data, &terms) != nil {
			return
		}
		faults := amiselect.ValidateTerms(nil, terms)
		env := amiselect.Environment{KubernetesVersion: version, Account: account}
		_, err := amiselect.Queries(terms, env)
		if len(faults) > 0 {
			require.Error(t, err)
		}
		s, err := amiselect.Select(now, terms, images, &amiselect.Options{Environment: env})
		require.Equal(t, err != nil, s.Empty())
		if err != nil {
			return
		}
		locked, err := amiselect.Lock(terms, s)
		if err == nil {
			again, err := amiselect.Select(now, locked, images, &amiselect.Options{Environment: env})
			require.NoError(t, err)
			require.Equal(t, s.Images(), again.Images())
		}
		for _, i := range images {
			_, drifted := s.Drifted(i.ID)
			require.Equal(t, !drifted, slices.Contains(ids(s), i.ID))
		}
	})
}
