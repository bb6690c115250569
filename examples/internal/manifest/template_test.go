package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

const template = `# {{ a comment }}
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: NAME
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
`

// A template that nobody has rendered is told in one sentence.
func TestTemplates(t *testing.T) {
	const render = "; render it, with helm template for instance, and read the result"
	const fill = "; fill it in, with Terraform, envsubst or Flux for instance, and read the result"
	for _, tt := range []struct{ text, want string }{
		{strings.Replace(template, "NAME", "{{ .Values.name }}", 1), "a.yaml:5: is a template that is not rendered: {{ .Values.name }}" + render},
		{strings.Replace(template, "NAME", `"{{ .Values.name }}"`, 1), "a.yaml:5: is a template that is not rendered: {{ .Values.name }}" + render},
		{strings.Replace(template, "spec:", "{{- if .Values.on }}\nspec:", 1), "a.yaml:6: is a template that is not rendered: {{- if .Values.on }}" + render},
		{strings.Replace(template, "NAME", "${name}", 1), "a.yaml:5: is a template that is not filled in: ${name}" + fill},
		{strings.Replace(template, "spec:", "%{ if on }\nspec:", 1), "a.yaml:6: is a template that is not filled in: %{ if on }" + fill},
		{strings.Replace(template, "NAME", "a, name: ${name}", 1), "a.yaml:5: is a template that is not filled in: ${name}" + fill},
		{"# pools\nresource \"kubectl_manifest\" \"pool\" {\n  yaml_body = \"x\"\n}\n",
			"a.yaml:2: is in the language of Terraform and no manifest; read what it makes, as kubectl get -o yaml prints it"},
		// What is at fault has nothing to do with the variables of a script.
		{strings.Replace(template, "NAME", "A_\n  annotations:\n    a: |\n      echo ${HOME} {{ . }}", 1), "a.yaml:5 (document 1): NodePool A_: metadata.name: is not a name; use up to 253 lower-case letters, digits, '-' and '.'"},
		{strings.Replace(template, "NAME", "A_\n  annotations: {a: 'echo ${HOME}'}", 1), "a.yaml:5 (document 1): NodePool A_: metadata.name: is not a name; use up to 253 lower-case letters, digits, '-' and '.'"},
	} {
		_, err := read(tt.text)
		require.EqualError(t, err, tt.want)
	}
	_, err := manifest.Read(manifest.Rules{}, manifest.Source{Name: "a", Data: []byte(strings.Replace(template, "NAME", "a\n  annotations: {a: 'echo ${HOME}'}", 1))})
	require.NoError(t, err)
}

// A slip in the kind, and what kubectl makes of objects for people, are no kinds to ignore.
func TestKindsThatAreMeantForOthers(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(template, "NodePool", "NodePoool", 1):         "a.yaml:3 (document 1): NodePoool NAME: kind: there is no kind NodePoool in karpenter.sh/v1; did you mean kind NodePool of karpenter.sh/v1?",
		"{apiVersion: app/v1, kind: Deployment, metadata: {name: a}}": "a.yaml:1 (document 1): Deployment a: kind: there is no kind Deployment in app/v1; did you mean kind Deployment of apps/v1?",
		"{apiVersion: meta.k8s.io/v1, kind: Table, rows: []}":         "a.yaml:1 (document 1): Table (no name): kind: a Table has the names of objects and not what is in them; write the objects down with kubectl get -o yaml",
	} {
		_, err := read(text)
		require.EqualError(t, err, want)
	}
	c := mustRead(t, "{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: a}}")
	require.Equal(t, []manifest.KindCount{{Kind: "NodeClass", Count: 1}}, c.Ignored)
}

// What to do about a field in the wrong place is said for that field.
func TestFieldsInTheWrongPlace(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(template, "  name: NAME", "name: default", 1):             "a.yaml:4 (document 1): NodePool (no name): metadata.name: is missing; the name default stands next to metadata; set it in, so that it is a field of metadata",
		strings.Replace(template, "  name: NAME", "  name: a\nlabels: {a: b}", 1): "a.yaml:6 (document 1): NodePool a: labels: Forbidden: unknown field; it belongs at metadata.labels",
		strings.Replace(strings.Replace(template, "NAME", "a", 1), "      requirements: []", "      requirements: []\n      taints: [{key: a, operator: Exists, effect: NoSchedule}]", 1): "a.yaml:11 (document 1): NodePool a: spec.template.spec.taints[0].operator: Forbidden: unknown field; a taint has none, but the toleration of a pod; leave it out",
	} {
		_, err := read(text)
		require.EqualError(t, err, want)
	}
}
