package manifest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

// FuzzRead feeds arbitrary texts. Whatever they hold, there is either a
// cluster or a list of faults that can be printed.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{
		"", "---", "...", "null", "[]", "{}", "a: &a [*a]", "kind: List", "x: *y", "\xff", "%", "--- {",
		"{apiVersion: v1, kind: List, items: [null, 1, {}, [[]]]}",
		"apiVersion: v1\nkind: Pod\nmetadata: &m {name: a, labels: {<<: *m}}\nspec: {containers: [{name: a}]}",
		workload("StatefulSet", "db", "replicas: 3\n  volumeClaimTemplates: [{}]\n  ordinals: {start: -9}"),
		workload("Job", "job", "parallelism: 3\n  completions: -4"),
		workload("ReplicationController", "rc", "selector: {app: web}"),
		docs(workload("Deployment", "web", ""), buffer("spec: {scalableRef: {kind: Deployment, name: web}, percentage: 50, limits: {cpu: -1}}")),
		docs(object("scheduling.k8s.io/v1", "PriorityClass", "a", "value: 3\nglobalDefault: true"), pod("p", container)),
		object("resource.k8s.io/v1", "ResourceSlice", "a", "spec: {driver: x, devices: [{name: 1}]}"),
		docs(node("node-a", ""), claim("one", "status: {nodeName: node-a}"), pod("p", "spec: {nodeName: node-a, containers: [{name: a}]}")),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := manifest.Read(manifest.Rules{}, manifest.Source{Name: "-", Data: data})
		switch {
		case err != nil && c != nil:
			t.Fatal("a cluster and an error")
		case err != nil && err.Error() == "":
			t.Fatal("an error that says nothing")
		case err == nil && c == nil:
			t.Fatal("neither a cluster nor an error")
		}
	})
}
