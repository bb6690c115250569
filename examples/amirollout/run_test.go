package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// program and call run the program of this folder.
var (
	program = output.Program(run)
	call    = program.Call
)

// TestQuestions runs the commands of docs/questions.md.
func TestQuestions(t *testing.T) { output.Questions(t, run) }

func TestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"sample.txt":  nil,
		"minage.txt":  {"-min-age", "168h"},
		"deny.txt":    {"-deny", "*-v20240904", "-deny", "ami-065d13c423042fe53", "-replace", "90m"},
		"upgrade.txt": {"-kubernetes", "1.30"},
		"earlier.txt": {"-now", "2024-07-10T00:00:00Z"},
		"waves.txt":   {"-canary", "1", "-soak", "2h"},
		"tags.txt":    {"-f", "testdata/tags.yaml", "-images", "testdata/tags.json", "-nodes", "testdata/tags-nodes.yaml", "-now", "2024-09-06T15:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call("", args...)
			require.Empty(t, stderr)
			require.Equal(t, 0, code)
			golden.Equal(t, stdout, "golden", name)
			output.Fits(t, stdout)
			_, again, _ := call("", args...)
			require.Equal(t, stdout, again)
		})
	}
}

func TestStandardInput(t *testing.T) {
	_, want, _ := call("")
	for name, text := range map[string]string{"-f": sampleClass, "-images": sampleImages, "-nodes": sampleNodes} {
		args := []string{name, "-"}
		if name == "-f" {
			args = append(args, "-images", "sample/images.json", "-nodes", "sample/nodes.yaml", "-now", "2024-09-06T15:00:00Z")
		}
		code, got, stderr := call(text, args...)
		require.Empty(t, stderr)
		require.Equal(t, 0, code)
		require.Equal(t, want, got)
	}
}

// Without -now the program decides for the present about files, and for a fixed time about the sample.
func TestDefaultTime(t *testing.T) {
	const fixed = "as of Fri 2024-09-06 15:00 UTC"
	_, stdout, _ := call("")
	require.Contains(t, stdout, fixed)
	code, stdout, stderr := call("", "-f", "testdata/tags.yaml", "-images", "testdata/tags.json", "-nodes", "testdata/tags-nodes.yaml")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "as of ")
	require.NotContains(t, stdout, fixed)
}

// Of a dump with several classes -class takes one, whatever the others are like.
func TestClass(t *testing.T) {
	_, want, _ := call("")
	other := "---\napiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: old}\nspec: {}\n"
	code, got, stderr := call(sampleClass+other, "-f", "-", "-images", "sample/images.json", "-nodes", "sample/nodes.yaml", "-class", "default", "-now", "2024-09-06T15:00:00Z")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, want, got)
}

// Nodes of the timetable stand below each other whatever the names of their pools.
func TestTimetableOfLongNames(t *testing.T) {
	for _, pool := range []string{"general-purpose", strings.Repeat("a", 24), strings.Repeat("a", 25), strings.Repeat("a", 63)} {
		renamed := strings.NewReplacer("name: general\n", "name: "+pool+"\n", "nodepool: general\n", "nodepool: "+pool+"\n", "nodepool: general,", "nodepool: "+pool+",")
		dir := t.TempDir()
		for name, text := range map[string]string{"class": sampleClass, "nodes": sampleNodes} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(renamed.Replace(text)), 0o666))
		}
		code, stdout, stderr := call("", "-f", filepath.Join(dir, "class"), "-images", "sample/images.json", "-nodes", filepath.Join(dir, "nodes"), "-now", "2024-09-06T15:00:00Z")
		require.Equal(t, 0, code, stderr)
		output.Fits(t, stdout)
		_, table, _ := strings.Cut(stdout, "TIMETABLE")
		columns := map[int]bool{}
		for line := range strings.Lines(table) {
			if at := strings.IndexAny(line, "-"); strings.Contains(line, ", ") && at > 0 {
				for _, node := range []string{" general-", " gpu-"} {
					if i := strings.Index(line, node); i >= 0 {
						columns[i] = true
					}
				}
			}
		}
		require.Len(t, columns, 1, table)
	}
}

func TestBadInput(t *testing.T) {
	own := []string{"-f", "-", "-images", "sample/images.json", "-nodes", "sample/nodes.yaml"}
	class := func(terms string) string {
		return "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: c}\nspec: {amiSelectorTerms: " + terms + "}\n"
	}
	two := sampleClass + "---\n" + class("[{alias: al2@latest}]")
	for _, tt := range []struct {
		name, stdin string
		args        []string
		want        []string // parts of lines, in order
	}{
		{"terms", class(`[{id: x, tags: {}}, {idd: ami-1}]`), own, []string{
			`amirollout: -:4 (document 1): EC2NodeClass c: spec.amiSelectorTerms[1].idd: Forbidden: unknown field; did you mean "id"?`}},
		{"terms that are not valid", class(`[{id: x, tags: {a: ""}}, {alias: AL2@latest}]`), own, []string{
			"amirollout: -:4 (document 1): EC2NodeClass c: spec.amiSelectorTerms[0].tags: Forbidden: does not go with id",
			`spec.amiSelectorTerms[0].id: Invalid value: "x"`, "spec.amiSelectorTerms[0].tags.a: Invalid value",
			"spec.amiSelectorTerms[1].alias: Forbidden", `spec.amiSelectorTerms[1].alias: Invalid value: "AL2@latest": family "AL2" must be in lower case: al2`}},
		{"terms of the wrong type", class(`al2023@latest`), own, []string{`spec.amiSelectorTerms: Invalid value: "al2023@latest": want a list, got a string`}},
		{"no terms", class(`[]`), own, []string{"spec.amiSelectorTerms: Required value"}},
		{"no family", class(`[{id: ami-1}]`), own, []string{"spec.amiFamily: Required value"}},
		{"nothing", "\n", own, []string{"amirollout: -: holds no object; look whether the command that wrote it failed"}},
		{"no node", "kind: Node\napiVersion: v1\nmetadata: {name: a}\n", []string{"-nodes", "-"}, []string{`amirollout: -: holds no NodeClaim; give what "kubectl get nodeclaims -o yaml" prints`}},
		{"no class", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n", own, []string{"amirollout: -: holds no EC2NodeClass; add the one to look at"}},
		{"a class twice", class("[{alias: al2@latest}]") + "---\n" + class("[{alias: al2@latest}]"), own, []string{"EC2NodeClass c: metadata.name: stands twice in the input, first in -, document 1; remove one of them"}},
		{"two classes", two, own, []string{"holds 2 objects of kind EC2NodeClass; name one of c, default with -class"}},
		{"a class that is not there", two, append(own, "-class", "d"), []string{"holds no EC2NodeClass d; -class is one of c, default"}},
		{"an old class", strings.Replace(class("[{alias: al2@latest}]"), "aws/v1", "aws/v1beta1", 1), own, []string{`apiVersion: karpenter.k8s.aws/v1beta1 is not read; convert it to karpenter.k8s.aws/v1`}},
		{"a bad budget", strings.Replace(sampleClass, `nodes: "3"`, `nodes: "3%%"`, 1), own, []string{"NodePool general: spec.disruption.budgets[1].nodes: "}},
		{"a pool twice", sampleClass + "---\n" + sampleClass[strings.Index(sampleClass, "apiVersion: karpenter.sh"):], own, []string{"NodePool general: metadata.name: stands twice", "NodePool gpu: metadata.name: stands twice"}},
		{"images", `{"Images": [{}, {"ImageId": "ami-1", "CreationDate": "x"}]}`, []string{"-images", "-"}, []string{
			"amirollout: -: Images[0].ImageId: is missing", "Images[0].CreationDate", "Images[1].CreationDate"}},
		{"nodes", strings.NewReplacer("m5.large", "m5.largest", "nodepool: gpu", "nodepool: cpu").Replace(
			"apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: a, labels: {karpenter.sh/nodepool: cpu, node.kubernetes.io/instance-type: m5.large}}\nspec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}\n"),
			[]string{"-nodes", "-"}, []string{`NodeClaim a: metadata.labels[karpenter.sh/nodepool]: NodePool "cpu" is not in the manifest`, `"m5.largest" is not an instance type of the catalog`}},
		{"a node twice", sampleNodes + "---\n" + sampleNodes[strings.Index(sampleNodes, "apiVersion"):strings.Index(sampleNodes, "status")], []string{"-nodes", "-"}, []string{"NodeClaim general-bfh: metadata.name: stands twice in the input"}},
		{"several files", "{}", []string{"-f", "testdata/none.yaml", "-images", "-", "-nodes", "testdata"}, []string{
			"amirollout: open testdata/none.yaml: ", "amirollout: testdata is a directory; name the files in it, one by one", "amirollout: -: images: the object has no list Images"}},
		{"templates", "kind: ${KIND}\n: [\n", []string{"-nodes", "-"}, []string{"amirollout: -:1: is a template that is not filled in: ${KIND}"}},
		{"no image", "", []string{"-kubernetes", "1.29"}, []string{"amirollout: no image is selected: amiSelectorTerms[0] (alias \"al2023@latest\"): AWS publishes none for Kubernetes 1.29"}},
		{"an environment that makes no sense", "", []string{"-kubernetes", "1", "-account", "me", "-deny", `\`}, []string{
			"environment.account: Invalid value", "environment.kubernetesVersion: Invalid value", "options.deny[0]: Invalid value"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stderr := program.RefusesLines(t, tt.stdin, tt.args, tt.want...)
			require.Equal(t, len(tt.want), strings.Count("\n"+stderr, "\namirollout: "))
		})
	}
}

func TestBadFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"-x"}, []string{"flag provided but not defined: -x"}},
		{[]string{"-now", "today", "-soak", "1h"}, []string{`invalid value "today" for flag -now: must be a time such as 2026-03-02T12:00:00Z`}},
		{[]string{"-min-age", "-1h", "-replace", "-1m", "-f", "-", "-images", "-", "rest"}, []string{
			`unexpected argument "rest"; files are named with -f`,
			"invalid value -1h0m0s for flag -min-age: must not be negative", "invalid value -1m0s for flag -replace: must not be negative",
			"-f needs -images and -nodes beside it; those of the sample are of another class",
			`standard input, "-", can be one file only`}},
		{[]string{"-soak", "1h"}, []string{"-soak is the time after a wave; have waves by -canary"}},
	} {
		program.RefusesFlags(t, "amirollout", tt.args, tt.want...)
	}
	program.Help(t, about)
}

// What is denied and is none of the images is most often mistyped.
func TestDenyOfNone(t *testing.T) {
	code, stdout, stderr := call("", "-deny", "ami-0", "-deny", "*-v20240904", "-deny", "v20240904")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "\n  none of the images is ami-0 or v20240904: look for a typing error\n")
}
