package v1_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// verdicts is testdata/verdicts.yaml.
type verdicts struct {
	Bases map[string]map[string]any
	Cases []struct {
		Kind    string
		Spec    map[string]any
		Verdict string // of Karpenter: stored or refused
		Here    string // ours, if it is another
		Becomes map[string]any
		JSON    string // is the spec if YAML cannot say it: 1.0 is 1 there
	}
}

// TestVerdicts holds decoding, defaults and validation against those of an API
// server with the schema of Karpenter. What is stored is stored again as we write
// it.
func TestVerdicts(t *testing.T) {
	docs, err := karpv1.Documents(readFile(t, "verdicts.yaml"))
	require.NoError(t, err)
	require.Len(t, docs, 1)
	var table verdicts
	require.NoError(t, json.Unmarshal(docs[0].JSON(), &table))
	for _, c := range table.Cases {
		spec := maps.Clone(table.Bases[c.Kind]["spec"].(map[string]any))
		maps.Copy(spec, c.Spec)
		if c.JSON != "" {
			var raw map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(c.JSON), &raw), c.JSON)
			for name, value := range raw {
				spec[name] = value
			}
		}
		text, err := json.Marshal(map[string]any{
			"apiVersion": table.Bases[c.Kind]["apiVersion"], "kind": c.Kind, "metadata": map[string]any{"name": "a"}, "spec": spec,
		})
		require.NoError(t, err)

		want, got := c.Verdict, "stored"
		if c.Here != "" {
			require.NotEqual(t, c.Verdict, c.Here)
			want = c.Here
		}
		written, fault := judged(text)
		if fault != nil {
			got = "refused"
		} else {
			again, err := judged(written)
			require.NoError(t, err, "%s", written)
			require.Equal(t, string(written), string(again))
		}
		require.Equal(t, want, got, "%s: %v", text, fault)
		for name, value := range c.Becomes {
			var out struct{ Spec map[string]any }
			require.NoError(t, json.Unmarshal(written, &out))
			require.Equal(t, value, out.Spec[name], "%s: %s", text, name)
		}
	}
}

// judged returns the object after defaults, or why it is refused.
func judged(text []byte) ([]byte, error) {
	class, err := v1.DecodeEC2NodeClass(text)
	if err != nil {
		return nil, err
	}
	class.Default()
	if err := class.Validate().ToAggregate(); err != nil {
		return nil, err
	}
	return json.Marshal(class)
}
