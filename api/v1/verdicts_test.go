package v1_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// verdicts is testdata/verdicts.yaml.
type verdicts struct {
	Rules v1.Rules
	Bases map[string]map[string]any
	Cases []struct {
		Kind     string
		Metadata map[string]any // a name, if it is empty
		Spec     map[string]any
		JSON     string // is the spec if YAML cannot say it: 1.0 is 1 there
		From     string // what the object was before, also as JSON, if it is updated
		Verdict  string // of Karpenter: stored or refused
		Here     string // ours, if it is another
		Becomes  map[string]any
	}
}

// TestVerdicts holds decoding, defaults and validation against those of an API
// server with the schemas of Karpenter.
func TestVerdicts(t *testing.T) {
	var table verdicts
	require.NoError(t, yaml.UnmarshalStrict(readFile(t, "verdicts.yaml"), &table))
	for _, c := range table.Cases {
		object := map[string]any{"kind": c.Kind, "metadata": map[string]any{"name": "a"}}
		maps.Copy(object, table.Bases[c.Kind])
		if c.Metadata != nil {
			object["metadata"] = c.Metadata
		}
		spec := c.Spec
		if c.JSON != "" {
			spec = numbered(t, c.JSON)
		}
		text := withSpec(t, object, spec)
		want := c.Verdict
		if c.Here != "" {
			require.NotEqual(t, c.Verdict, c.Here)
			want = c.Here
		}
		got := "stored"
		spec, fault := judged(text, &table.Rules)
		if c.From != "" && fault == nil {
			old, err := v1.Documents(withSpec(t, object, numbered(t, c.From)))
			require.NoError(t, err)
			now, err := v1.Documents(text)
			require.NoError(t, err)
			fault = now[0].ValidateUpdate(old[0])
		}
		if fault != nil {
			got = "refused"
		}
		require.Equal(t, want, got, "%s: %v", text, fault)
		for name, value := range c.Becomes {
			require.Equal(t, value, spec[name], "%s: %s", text, name)
		}
	}
}

// numbered reads JSON and keeps how numbers are written.
func numbered(t *testing.T, text string) (out map[string]any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&out), text)
	return out
}

// withSpec returns the object with fields of its spec set, as JSON.
func withSpec(t *testing.T, object, spec map[string]any) []byte {
	object = maps.Clone(object)
	object["spec"] = merged(object["spec"], spec)
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return text
}

// merged sets the fields of change in base, which it leaves as it is.
func merged(base, change any) any {
	from, ok1 := base.(map[string]any)
	to, ok2 := change.(map[string]any)
	if !ok1 || !ok2 {
		return change
	}
	out := maps.Clone(from)
	for name, value := range to {
		out[name] = merged(from[name], value)
	}
	return out
}

// judged returns the spec after defaults, or why the object is refused.
func judged(text []byte, rules *v1.Rules) (map[string]any, error) {
	object, err := v1.Decode(text)
	if err != nil {
		return nil, err
	}
	object.(interface{ Default() }).Default()
	faults := object.(interface {
		runtime.Object
		ValidateWith(*v1.Rules) field.ErrorList
	}).ValidateWith(rules)
	if err := faults.ToAggregate(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var out struct{ Spec map[string]any }
	err = json.Unmarshal(data, &out)
	return out.Spec, err
}
