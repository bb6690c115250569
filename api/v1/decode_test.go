package v1_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// TestManifests decodes every manifest, validates it with its defaults, and
// writes and reads it again, as YAML and as JSON.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "manifests", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			docs, err := v1.Documents(data)
			require.NoError(t, err)
			n := 0
			for _, doc := range docs {
				if doc.GroupVersionKind().Group != v1.Group {
					continue
				}
				n++
				obj, err := v1.Decode(doc.JSON())
				require.NoError(t, err)
				requireRoundTrip(t, obj)
				switch obj := obj.(type) {
				case *v1.NodePool:
					obj.Default()
					require.Empty(t, obj.Validate())
				case *v1.NodeClaim:
					obj.Default()
					require.Empty(t, obj.Validate())
				case *v1.NodeOverlay:
					require.Empty(t, obj.Validate())
				default:
					require.Fail(t, "unexpected kind")
				}
				requireRoundTrip(t, obj)
			}
			require.Positive(t, n)
		})
	}
}

func requireRoundTrip(t testing.TB, obj runtime.Object) {
	t.Helper()
	asYAML, err := yaml.Marshal(obj)
	require.NoError(t, err)
	asJSON, err := json.Marshal(obj)
	require.NoError(t, err)
	for _, text := range [][]byte{asYAML, asJSON} {
		again, err := v1.Decode(text)
		require.NoError(t, err)
		require.Truef(t, equality.Semantic.DeepEqual(obj, again), "%s", text)
	}
}

func TestDecodeKeepsEveryText(t *testing.T) {
	text := `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  disruption:
    budgets: []
    consolidateAfter: 90s
  limits:
    cpu: "10"
  template:
    spec:
      expireAfter: 30m1h
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      requirements: []
`
	p, err := v1.DecodeNodePool([]byte(text))
	require.NoError(t, err)
	out, err := yaml.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, text, string(out))
}

func TestDecodeFaults(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"misspelt": {
			`spec: {template: {spec: {expireAftr: 1h, requirments: [], NodeClassRef: {}}}}`,
			`NodePool "x": spec.template.spec.NodeClassRef: Forbidden: unknown field; did you mean "nodeClassRef"?; ` +
				`spec.template.spec.expireAftr: Forbidden: unknown field; did you mean "expireAfter"?; ` +
				`spec.template.spec.requirments: Forbidden: unknown field; did you mean "requirements"?`,
		},
		"at the wrong place": {
			`spec: {disruption: {expireAfter: 720h}, replicas: 1, consolidationPolicy: WhenEmpty, requirements: [], budgets: []}`,
			`NodePool "x": spec.budgets: Forbidden: unknown field; it belongs at spec.disruption.budgets; ` +
				`spec.consolidationPolicy: Forbidden: unknown field; it belongs at spec.disruption.consolidationPolicy; ` +
				`spec.disruption.expireAfter: Forbidden: unknown field; it belongs at spec.template.spec.expireAfter; ` +
				`spec.requirements: Forbidden: unknown field; it belongs at spec.template.spec.requirements`,
		},
		"in a list": {
			`spec: {disruption: {budgets: [{nodes: "1"}, {node: "1"}]}, template: {spec: {requirements: [{key: a, operator: In, value: [b]}], taints: [{kye: a}]}}}`,
			`NodePool "x": spec.disruption.budgets[1].node: Forbidden: unknown field; did you mean "nodes"?; ` +
				`spec.template.spec.requirements[0].value: Forbidden: unknown field; did you mean "values"?; ` +
				`spec.template.spec.taints[0].kye: Forbidden: unknown field; did you mean "key"?`,
		},
		"of older versions": {
			`spec: {ttlSecondsAfterEmpty: 30, ttlSecondsUntilExpired: 30, provider: {}, providerRef: {}, template: {spec: {kubelet: {}, nodeClassRef: {apiVersion: a/v1}}}}`,
			`NodePool "x": spec.provider: Forbidden: unknown field; write spec.template.spec.nodeClassRef; ` +
				`spec.providerRef: Forbidden: unknown field; write spec.template.spec.nodeClassRef; ` +
				`spec.template.spec.kubelet: Forbidden: unknown field; it belongs to the NodeClass now; ` +
				`spec.template.spec.nodeClassRef.apiVersion: Forbidden: unknown field; write the group alone, without a version, as group; ` +
				`spec.ttlSecondsAfterEmpty: Forbidden: unknown field; write spec.disruption.consolidateAfter, with consolidationPolicy WhenEmpty; ` +
				`spec.ttlSecondsUntilExpired: Forbidden: unknown field; write spec.template.spec.expireAfter`,
		},
		"unlike anything": {
			`spec: {zzz: 1}`,
			`NodePool "x": spec.zzz: Forbidden: unknown field`,
		},
		"twice": {
			"spec:\n  weight: 1\n  weight: 2\n  template:\n    metadata: {labels: {a: b, c: d, a: e}}\n    spec: {taints: [{key: a, key: b, key: c}]}",
			`NodePool "x": spec.template.metadata.labels[a]: Duplicate value: "a": the key appears more than once in this object; keep one; ` +
				`spec.template.spec.taints[0].key: Duplicate value: "key": the key appears more than once in this object; keep one; ` +
				`spec.weight: Duplicate value: "weight": the key appears more than once in this object; keep one`,
		},
		"twice, once as a number": {
			"spec: {template: {metadata: {labels: {1: b, \"1\": c}}}}",
			`NodePool "x": spec.template.metadata.labels[1]: Duplicate value: "1": the key appears more than once in this object; keep one`,
		},
		"what reads itself": {
			`spec: {limits: {resources: {cpu: 5}, memory: [1]}, disruption: {budgets: [{duration: 8 hours}]}, template: {spec: {terminationGracePeriod: 30d}}}`,
			`NodePool "x": spec.disruption.budgets[0].duration: Invalid value: "8 hours": want a duration such as 720h or 1h30m; ` +
				`spec.limits[memory]: Invalid value: "[...]": want a quantity such as 500m, 2 or 4Gi, got a list; ` +
				`spec.limits[resources]: Invalid value: "{...}": want a quantity, got an object; move what is in it one level up; ` +
				`spec.template.spec.terminationGracePeriod: Invalid value: "30d": want a duration such as 720h or 1h30m`,
		},
		"what Go reads and the API server refuses": {
			`spec: {limits: {cpu: 1.5, memory: Gi}, disruption: {consolidationPolicy: "", budgets: [{nodes: "", duration: 1h1h}]}, template: {spec: {terminationGracePeriod: 1.5h, taints: [{value: "", timeAdded: "2026-01-01T0:00:00Z"}]}}}`,
			`NodePool "x": spec.disruption.budgets[0].duration: Invalid value: "1h1h": want whole hours and minutes, not negative, such as 8h or 1h30m; ` +
				`spec.disruption.budgets[0].nodes: Invalid value: "": want a count such as "5" or a share such as "10%"; leave the field out for 10%; ` +
				`spec.disruption.consolidationPolicy: Invalid value: "": name a policy, or leave the field out for WhenEmptyOrUnderutilized; ` +
				`spec.limits[cpu]: Invalid value: 1.5: a number must be whole here; put it in quotes; ` +
				`spec.limits[memory]: Invalid value: "Gi": want a quantity such as 500m, 2 or 4Gi; ` +
				`spec.template.spec.taints[0].timeAdded: Invalid value: "2026-01-01T0:00:00Z": want a time such as 2026-01-31T08:00:00Z; ` +
				`spec.template.spec.taints[0].value: Invalid value: "": write a value, or leave the field out; ` +
				`spec.template.spec.terminationGracePeriod: Invalid value: "1.5h": want whole hours, minutes and seconds, not negative, such as 1h30m`,
		},
		"types": {
			`spec: {weight: 1.5, replicas: "3", limits: {cpu: many}, disruption: [], template: {metadata: {labels: {a: 1, b: true, c: null}}, spec: {expireAfter: 5, requirements: {}, taints: [null, a], nodeClassRef: x}}}`,
			`NodePool "x": spec.disruption: Invalid value: "[...]": want an object, got a list; ` +
				`spec.limits[cpu]: Invalid value: "many": want a quantity such as 500m, 2 or 4Gi; ` +
				`spec.replicas: Invalid value: "3": want a number, got a string; ` +
				`spec.template.metadata.labels[a]: Invalid value: 1: want a string, got a number; put it in quotes; ` +
				`spec.template.metadata.labels[b]: Invalid value: true: want a string, got a boolean; put it in quotes; ` +
				`spec.template.metadata.labels[c]: Invalid value: "null": want a value, got null; remove the key; ` +
				`spec.template.spec.expireAfter: Invalid value: 5: 5 is not a string; write a duration such as "720h" or "Never"; ` +
				`spec.template.spec.nodeClassRef: Invalid value: "x": want an object, got a string; ` +
				`spec.template.spec.requirements: Invalid value: "{...}": want a list, got an object; ` +
				`spec.template.spec.taints[0]: Invalid value: "null": want a value, got null; remove the item; ` +
				`spec.template.spec.taints[1]: Invalid value: "a": want an object, got a string; ` +
				`spec.weight: Invalid value: 1.5: want a whole number of 32 bits`,
		},
		"a count without quotes": {
			`spec: {disruption: {budgets: [{nodes: 10}]}}`,
			`NodePool "x": spec.disruption.budgets[0].nodes: Invalid value: 10: want a string, got a number; put it in quotes`,
		},
		"more types": {
			`spec: {limits: 5, template: {metadata: {labels: [a], annotations: {a: {}}}, spec: {taints: [{key: [a], timeAdded: yesterday}]}}}`,
			`NodePool "x": spec.limits: Invalid value: 5: want an object, got a number; ` +
				`spec.template.metadata.annotations[a]: Invalid value: "{...}": want a string, got an object; ` +
				`spec.template.metadata.labels: Invalid value: "[...]": want an object, got a list; ` +
				`spec.template.spec.taints[0].key: Invalid value: "[...]": want a string, got a list; ` +
				`spec.template.spec.taints[0].timeAdded: Invalid value: "yesterday": parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`,
		},
		"twice, where nothing is known": {
			"spec: {zzz: [{a: 1, a: 2}], template: {spec: {nodeClassRef: {name: a, name: b}}}}",
			`NodePool "x": spec.template.spec.nodeClassRef.name: Duplicate value: "name": the key appears more than once in this object; keep one; ` +
				`spec.zzz: Forbidden: unknown field; ` +
				`spec.zzz[0].a: Duplicate value: "a": the key appears more than once in this object; keep one`,
		},
		"too large": {
			`spec: {weight: 4294967296}`,
			`NodePool "x": spec.weight: Invalid value: 4294967296: want a whole number of 32 bits`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: x}\n" + tc.text
			p, err := v1.DecodeNodePool([]byte(text))
			require.EqualError(t, err, tc.want)
			require.Nil(t, p)
			var de *v1.DecodeError
			require.ErrorAs(t, err, &de)
			require.Equal(t, "NodePool", de.Kind)
			require.Equal(t, "x", de.Name)
			require.Len(t, de.Unwrap(), len(de.Faults))
			var fault *field.Error
			require.ErrorAs(t, err, &fault)

			if strings.HasPrefix(name, "twice") {
				return
			}
			// The same through JSON.
			asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
			require.NoError(t, err)
			_, err = v1.Decode(asJSON)
			require.EqualError(t, err, tc.want)
		})
	}
}

func TestDecodeKinds(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:               `decode: kind: Required value: use NodePool, NodeClaim or NodeOverlay`,
		`{kind: NodePool}`: `NodePool: apiVersion: Required value: write apiVersion: karpenter.sh/v1`,
		`{kind: Deployment, apiVersion: apps/v1}`:                               `Deployment: kind: Invalid value: "Deployment": use NodePool, NodeClaim or NodeOverlay`,
		`{kind: Provisioner, apiVersion: karpenter.sh/v1alpha5}`:                `Provisioner: kind: Invalid value: "Provisioner": a Provisioner of karpenter.sh/v1alpha5 is a NodePool of karpenter.sh/v1 today; convert it`,
		`{kind: Machine, apiVersion: karpenter.sh/v1alpha5}`:                    `Machine: kind: Invalid value: "Machine": a Machine of karpenter.sh/v1alpha5 is a NodeClaim of karpenter.sh/v1 today; convert it`,
		`{kind: NodePool, apiVersion: karpenter.sh/v1beta1, spec: {x: 1}}`:      `NodePool: apiVersion: Invalid value: "karpenter.sh/v1beta1": only karpenter.sh/v1 is read; convert the manifest, the fields of other versions differ`,
		`{kind: NodeOverlay, apiVersion: karpenter.sh/v1, metadata: {name: o}}`: `NodeOverlay "o": apiVersion: Invalid value: "karpenter.sh/v1": only karpenter.sh/v1alpha1 is read; convert the manifest, the fields of other versions differ`,
		`{kind: NodePool, apiVersion: apps/v1}`:                                 `NodePool: apiVersion: Invalid value: "apps/v1": want karpenter.sh/v1 for a NodePool`,
		`[]`:                                                                    `decode: line 1: want an object with apiVersion and kind, got a list`,
		`"text"`:                                                                `decode: line 1: want an object with apiVersion and kind, got a string: "text"`,
		`5`:                                                                     `decode: line 1: want an object with apiVersion and kind, got a number: 5`,
		``:                                                                      `decode: the text holds no object`,
		`null`:                                                                  `decode: the text holds no object`,
		"---\n# nothing\n":                                                      `decode: the text holds no object`,
		"a: 1\n---\nb: 1\n":                                                     `decode: the text holds 2 documents, want one; decode them all with DecodeAll`,
	} {
		obj, err := v1.Decode([]byte(text))
		require.EqualError(t, err, want, text)
		require.Nil(t, obj)
	}

	claimText := []byte(`{kind: NodeClaim, apiVersion: karpenter.sh/v1, metadata: {name: c}}`)
	_, err := v1.DecodeNodePool(claimText)
	require.EqualError(t, err, `NodeClaim "c": kind: Invalid value: "NodeClaim": want NodePool`)
	_, err = v1.DecodeNodeOverlay(claimText)
	require.EqualError(t, err, `NodeClaim "c": apiVersion: Invalid value: "karpenter.sh/v1": only karpenter.sh/v1alpha1 is read; convert the manifest, the fields of other versions differ; kind: Invalid value: "NodeClaim": want NodeOverlay`)
	c, err := v1.DecodeNodeClaim(claimText)
	require.NoError(t, err)
	require.Equal(t, "c", c.Name)
	o, err := v1.DecodeNodeOverlay([]byte(`{kind: NodeOverlay, apiVersion: karpenter.sh/v1alpha1, metadata: {name: o}}`))
	require.NoError(t, err)
	require.Equal(t, "o", o.Name)
	_, err = v1.DecodeNodeClaim([]byte(`{apiVersion: karpenter.sh/v1, metadata: {name: x}, kind: 5}`))
	require.EqualError(t, err, `object "x": kind: Required value: write kind: NodeClaim`)
	_, err = v1.DecodeNodeClaim([]byte(`{kind: NodeClaim, apiVersion: karpenter.sh/v1, metadata: {ownerReferences: [{controller: "yes"}]}}`))
	require.EqualError(t, err, `NodeClaim: metadata.ownerReferences[0].controller: Invalid value: "yes": want true or false, got a string`)
	_, err = v1.DecodeNodeClaim([]byte(`{apiVersion: karpenter.sh/v1}`))
	require.EqualError(t, err, `decode: kind: Required value: write kind: NodeClaim`)
}

func TestDecodeSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"a: [": `decode: line 1: not valid YAML: did not find expected node content`,
		"kind: List\n---\n# 3\nb: {\n": "decode: line 4: not valid YAML: did not find expected node content\n" +
			`List: kind: Invalid value: "List": use NodePool, NodeClaim or NodeOverlay`,
		"\tkind: NodePool":             `decode: line 1: not valid YAML: found character that cannot start any token`,
		"kind: &x [*x]":                `decode: line 1: not valid YAML: anchor 'x' value contains itself`,
		"{\"kind\": \"NodePool\",":     `decode: line 1: not valid YAML: did not find expected node content`,
		"? [complex, key]\n: value\n":  `decode: line 1: not valid YAML: invalid map key: []interface {}{"complex", "key"}`,
		"kind: NodePool\nspec: .inf\n": `decode: line 1: not valid YAML: json: unsupported value: +Inf`,
	} {
		_, err := v1.DecodeAll([]byte(text))
		require.EqualError(t, err, want, text)
	}
}

// No document of a text is passed over, however its lines end and whatever it is
// encoded in.
func TestDecodeReadsToTheEnd(t *testing.T) {
	text := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: b}}\n"
	wide := "\xfe\xff"
	for _, c := range []byte(text) {
		wide += string([]byte{0, c})
	}
	for name, text := range map[string]string{
		"plain": text, "UTF-16": wide,
		"carriage returns":    strings.ReplaceAll(text, "\n", "\r"),
		"of Windows":          strings.ReplaceAll(text, "\n", "\r\n"),
		"JSON on lines":       `{"kind": "NodePool", "metadata": {"name": "a"}}` + "\n" + `{"kind": "NodePool", "metadata": {"name": "b"}}`,
		"JSON behind a start": "---\n" + `{"kind": "NodePool", "metadata": {"name": "a"}} {"kind": "NodePool", "metadata": {"name": "b"}}`,
	} {
		docs, err := v1.Documents([]byte(text))
		require.NoError(t, err, name)
		names := []string{}
		for _, d := range docs {
			names = append(names, d.Name())
		}
		require.Equal(t, []string{"a", "b"}, names, name)
	}
	_, err := v1.Documents([]byte("---\n    a: 1\n  b: 2\n"))
	require.EqualError(t, err, "decode: line 1: not valid YAML: the document goes on behind its first value; begin each object with a line of ---")
	_, err = v1.Documents([]byte("a: 1\n---\n{a: 1}\n{b: 2}\n"))
	require.EqualError(t, err, "decode: line 2: not valid YAML: the document goes on behind its first value; begin each object with a line of ---")
}

func TestDecodeAnchorsAndMergeKeys(t *testing.T) {
	p, err := v1.DecodeNodePool([]byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: x, labels: &labels {team: a, stage: dev}}
spec:
  template:
    metadata:
      labels:
        <<: *labels
        stage: prod
    spec:
      nodeClassRef: {group: g, kind: k, name: c}
      requirements: []
`))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"team": "a", "stage": "prod"}, p.Spec.Template.Labels)
}

func TestDecodeIntoLeavesTheTargetAloneOnAFault(t *testing.T) {
	p := pool()
	kind := v1.GroupVersion.WithKind("NodePool")
	err := v1.DecodeInto([]byte(`{kind: NodePool, apiVersion: karpenter.sh/v1, metadata: {name: other}, spec: {zzz: 1}}`), kind, p)
	require.Error(t, err)
	require.Equal(t, pool(), p)
	err = v1.DecodeInto([]byte(`a: [`), kind, p)
	require.Error(t, err)
	for _, target := range []runtime.Object{nil, (*v1.NodePool)(nil)} {
		err = v1.DecodeInto([]byte(`{kind: NodePool, apiVersion: karpenter.sh/v1}`), kind, target)
		require.ErrorContains(t, err, "want a pointer to a struct that is not nil")
	}
}

func TestDecodeDeepNesting(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 100_000), strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000),
		strings.Repeat(`{"a":`, 100_000), strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000),
		`{"kind":"NodePool","apiVersion":"karpenter.sh/v1","spec":` + strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000) + "}",
	} {
		_, err := v1.Decode([]byte(text))
		require.Error(t, err)
	}
}

// TestDecodeAliasBomb: a few lines that would expand to billions of values.
func TestDecodeAliasBomb(t *testing.T) {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	_, err := v1.Decode([]byte(text))
	require.EqualError(t, err, "decode: line 1: not valid YAML: document contains excessive aliasing")
}
