package main

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

var update = flag.Bool("update", false, "write deploy/crds.yaml and deploy/aws.yaml")

// schema is a node of an OpenAPI schema.
type schema = map[string]any

// special are types that are written as something else than their fields say.
func special(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		return schema{"anyOf": []schema{{"type": "integer"}, {"type": "string"}}, "x-kubernetes-int-or-string": true}
	case reflect.TypeFor[metav1.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[metav1.Duration](), reflect.TypeFor[v1.NillableDuration]():
		return schema{"type": "string"}
	case reflect.TypeFor[awsv1.KubeletConfiguration](): // names and expressions that only a decoder tells
		return schema{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	case reflect.TypeFor[metav1.ObjectMeta]():
		return schema{"type": "object"}
	}
	return nil
}

// schemaOf returns the schema of a Go type. A field is required if it is written even where
// it is empty.
func schemaOf(t reflect.Type) schema {
	if s := special(t); s != nil {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return schema{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int32:
		return schema{"type": "integer", "format": "int32"}
	case reflect.Int64:
		return schema{"type": "integer", "format": "int64"}
	case reflect.Struct:
		properties, required := schema{}, []string{}
		fieldsOf(t, properties, &required)
		s := schema{"type": "object", "properties": properties}
		if len(required) > 0 {
			s["required"] = required
		}
		return s
	}
	return schema{"type": "string"}
}

func fieldsOf(t reflect.Type, properties schema, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "":
			fieldsOf(f.Type, properties, required)
		default:
			properties[name] = schemaOf(f.Type)
			if !strings.Contains(options, "omit") {
				*required = append(*required, name)
			}
		}
	}
}

func definition(group, kind string, t reflect.Type, columns ...schema) schema {
	root := schemaOf(t)
	singular := strings.ToLower(kind)
	plural := singular + "s"
	if strings.HasSuffix(singular, "s") {
		plural = singular + "es"
	}
	if kind == v1.NodeClaimKind {
		root["properties"].(schema)["spec"].(schema)["x-kubernetes-validations"] = []schema{{"rule": "self == oldSelf", "message": "spec is immutable"}}
	}
	columns = append(columns, schema{"name": "Ready", "type": "string", "jsonPath": `.status.conditions[?(@.type=="Ready")].status`},
		schema{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})
	return schema{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": schema{"name": plural + "." + group},
		"spec": schema{
			"group": group, "scope": "Cluster",
			"names": schema{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": singular, "categories": []string{"karpenter"}},
			"versions": []schema{{"name": v1.Version, "served": true, "storage": true, "subresources": schema{"status": schema{}},
				"additionalPrinterColumns": columns, "schema": schema{"openAPIV3Schema": root}}},
		},
	}
}

// written is a file of definitions, which is to say what the types say.
func written(t *testing.T, file, head string, definitions ...schema) {
	t.Helper()
	var text strings.Builder
	text.WriteString(head + " Written by: go test . -run Manifests -update\n")
	for _, d := range definitions {
		data, err := yaml.Marshal(d)
		require.NoError(t, err)
		text.WriteString("---\n" + string(data))
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text.String(), string(have), "go test . -run Manifests -update writes %s", file)
}

func TestTheManifestsHaveTheTypesOfTheLibrary(t *testing.T) {
	column := func(name, path string) schema { return schema{"name": name, "type": "string", "jsonPath": path} }
	written(t, "deploy/crds.yaml", "# The types of package api/v1, for clusters without Karpenter, whose own definitions do as\n# well.",
		definition(v1.Group, v1.NodePoolKind, reflect.TypeFor[v1.NodePool](), column("NodeClass", ".spec.template.spec.nodeClassRef.name"), column("Nodes", ".status.nodes")),
		definition(v1.Group, v1.NodeClaimKind, reflect.TypeFor[v1.NodeClaim](), column("Type", `.metadata.labels.node\.kubernetes\.io/instance-type`),
			column("Zone", `.metadata.labels.topology\.kubernetes\.io/zone`), column("Capacity", `.metadata.labels.karpenter\.sh/capacity-type`), column("Node", ".status.nodeName")))
	written(t, "deploy/aws.yaml", "# The type of package aws/api/v1, for -provider aws on clusters without Karpenter, whose own\n# definition does as well.",
		definition(awsv1.Group, awsv1.EC2NodeClassKind, reflect.TypeFor[awsv1.EC2NodeClass](), column("Role", ".spec.role")))
}
