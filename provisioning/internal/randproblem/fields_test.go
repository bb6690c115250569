package randproblem_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
)

const (
	modelled   = "modelled"
	refused    = "refused"
	irrelevant = "irrelevant"
)

// fieldMarks are the marks of testdata/fields.txt: by section, then by field.
type fieldMarks map[string]map[string]string

func readFieldMarks(t *testing.T) fieldMarks {
	t.Helper()
	text, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	marks, section := fieldMarks{}, ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case line[0] != ' ':
			section = words[0]
			require.NotContains(t, marks, section, "the section is there twice")
			marks[section] = map[string]string{}
		default:
			require.Contains(t, []string{modelled, refused, irrelevant}, words[0], "section %s", section)
			for _, field := range words[1:] {
				require.NotContains(t, marks[section], field, "section %s has the field twice", section)
				marks[section][field] = words[0]
			}
		}
	}
	return marks
}

// of returns the section of a type at a place, and its name.
func (m fieldMarks) of(place string, t reflect.Type) (map[string]string, string) {
	if own, ok := m[place]; ok {
		return own, place
	}
	return m[t.Name()], t.Name()
}

// objects returns the kinds of objects that the list is about.
func objects() []any {
	return []any{
		corev1.Pod{}, corev1.Node{}, corev1.PersistentVolumeClaim{}, corev1.PersistentVolume{}, storagev1.StorageClass{}, storagev1.CSINode{},
		storagev1.CSIDriver{}, storagev1.CSIStorageCapacity{}, storagev1.VolumeAttachment{},
	}
}

// inner returns the struct that a field holds, alone or in a list; false if it holds something else.
func inner(t reflect.Type) (reflect.Type, bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	plain := t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[resource.Quantity]()
	return t, t.Kind() == reflect.Struct && !plain
}

// walk calls visit for each field at a place that is not irrelevant, and is no struct.
func (m fieldMarks) walk(place string, t reflect.Type, visit func(section, field, place, mark string)) {
	marks, section := m.of(place, t)
	for field := range t.Fields() {
		mark := marks[field.Name]
		visit(section, field.Name, place+"."+field.Name, mark)
		if of, ok := inner(field.Type); ok && (mark == modelled || mark == refused) {
			m.walk(place+"."+field.Name, of, visit)
		}
	}
}

// TestEveryFieldHasAMark: somebody has looked at each field of the API that kube-scheduler may
// read. A version of Kubernetes that adds a field fails this test until the field has a mark.
func TestEveryFieldHasAMark(t *testing.T) {
	marks := readFieldMarks(t)
	used := map[string]map[string]bool{}
	for _, o := range objects() {
		of := reflect.TypeOf(o)
		marks.walk(of.Name(), of, func(section, field, place, mark string) {
			require.NotEmpty(t, mark, "%s has no mark: find out whether a default plugin of kube-scheduler reads it, "+
				"and write it into section %s of testdata/fields.txt", place, section)
			if used[section] == nil {
				used[section] = map[string]bool{}
			}
			used[section][field] = true
		})
	}
	for section, fields := range marks {
		for field, mark := range fields {
			if mark == irrelevant {
				continue // the API of a newer version may have it
			}
			require.True(t, used[section][field], "section %s of testdata/fields.txt has %s, which no object has; take it out", section, field)
		}
	}
}

// found notes the places of all fields of an object that are not zero.
func (m fieldMarks) found(place string, v reflect.Value, into map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			m.found(place, v.Elem(), into)
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			m.found(place, v.Index(i), into)
		}
		return
	}
	if _, ok := inner(v.Type()); !ok {
		return
	}
	for i := range v.NumField() {
		if field := v.Type().Field(i); !v.Field(i).IsZero() {
			into[place+"."+field.Name] = true
			m.found(place+"."+field.Name, v.Field(i), into)
		}
	}
}

// TestEveryFieldIsDrawn: each field that plans depend on comes up in some random problem, so
// that laws over these problems are tried on it.
func TestEveryFieldIsDrawn(t *testing.T) {
	marks := readFieldMarks(t)
	drawn := map[string]bool{}
	for seed := range uint64(testlong.Seeds(800, 2000)) {
		in := randproblem.Draw(seed, randproblem.Config{With: randproblem.Fields})
		for _, pod := range slices.Concat(in.Pods, in.DaemonSetPods) {
			marks.found("Pod", reflect.ValueOf(pod), drawn)
		}
		for i := range in.Nodes {
			marks.found("Node", reflect.ValueOf(in.Nodes[i].Node), drawn)
			marks.found("Pod", reflect.ValueOf(in.Nodes[i].Pods), drawn)
		}
		marks.found("PersistentVolumeClaim", reflect.ValueOf(in.Volumes.Claims), drawn)
		marks.found("PersistentVolume", reflect.ValueOf(in.Volumes.Volumes), drawn)
		marks.found("StorageClass", reflect.ValueOf(in.Volumes.Classes), drawn)
		marks.found("CSINode", reflect.ValueOf(in.Volumes.CSINodes), drawn)
		marks.found("CSIDriver", reflect.ValueOf(in.Volumes.CSIDrivers), drawn)
		marks.found("CSIStorageCapacity", reflect.ValueOf(in.Volumes.CSIStorageCapacities), drawn)
		marks.found("VolumeAttachment", reflect.ValueOf(in.Volumes.VolumeAttachments), drawn)
	}
	var missing []string
	for _, o := range objects() {
		of := reflect.TypeOf(o)
		marks.walk(of.Name(), of, func(_, _, place, mark string) {
			if mark != irrelevant && !drawn[place] {
				missing = append(missing, place)
			}
		})
	}
	require.Empty(t, missing, "no random problem has these fields; draw them in this package")
}
