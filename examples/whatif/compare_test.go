package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/browser"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/report"
)

const (
	dump = "../consolidate/sample.yaml"
	shop = "testdata/shop.yaml"
	noon = "2026-03-02T12:00:00Z"
)

// cluster returns the dump in the long run, and by default the shop, which is smaller.
func cluster() string {
	if testlong.On() {
		return dump
	}
	return shop
}

// Questions of docs/questions.md, as they stand there.
var (
	compareArm = []string{"-f", dump, "-compare", "testdata/arm.yaml", "-now", noon}
	adviseShop = []string{"-f", shop, "-advise", "-now", noon}
)

// watched skips a test whose goroutines are those of TestCompare, where the race detector
// watches: it has seen them there.
func watched(t *testing.T) {
	t.Helper()
	if testlong.UnderRace {
		t.Skip("TestCompare runs the same")
	}
}

// answers are those that asked has had, by the command line.
var answers = map[string]answer{}

// asked has a question answered, once for all tests and all the formats in which they look
// at it.
func asked(t *testing.T, args ...string) answer {
	t.Helper()
	key := strings.Join(args, "\n")
	if known, ok := answers[key]; ok {
		return known
	}
	var stderr bytes.Buffer
	s, set := newSettings()
	require.NoError(t, set.Parse(args))
	a, err := s.ask(nil, &stderr)
	require.NoError(t, err)
	answers[key] = a
	return a
}

// in returns the answer in a format.
func (a answer) in(t *testing.T, format string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, a.print(&out, format))
	return out.String()
}

func TestCompare(t *testing.T) {
	a := asked(t, compareArm...)
	text := a.in(t, "table")
	golden.Equal(t, text, "golden", "compare.txt")
	output.Fits(t, text)

	if testlong.UnderRace {
		return // as data the same is compared
	}
	var r report.Comparison
	require.NoError(t, json.Unmarshal([]byte(a.in(t, "json")), &r))
	require.Equal(t, "dovetail.whatif.compare/v1", r.Schema)
	require.Less(t, r.New.FromEmpty.USDPerHour, r.Old.FromEmpty.USDPerHour)
	require.InDelta(t, r.Old.FromEmpty.USDPerHour, r.Differences[0].Old, 1e-6)
	require.Equal(t, "FreshCost", r.Differences[0].Kind)
	require.InDelta(t, r.New.FromEmpty.USDPerHour-r.Old.FromEmpty.USDPerHour, r.FreshChange.USDPerHour, 2e-6)
	require.InDelta(t, r.New.FromEmpty.LowerBound-r.Old.FromEmpty.USDPerHour, r.FreshChange.AtLeast, 2e-6)
	require.InDelta(t, r.New.FromEmpty.USDPerHour-r.Old.FromEmpty.LowerBound, r.FreshChange.AtMost, 2e-6)
	require.Equal(t, r.FreshChange.AtMost > 0, r.FreshChange.WithinGap)
	require.Equal(t, 1, r.Old.Today.Unmanaged)
}

func TestCompareWithItself(t *testing.T) {
	watched(t)
	a := asked(t, "-f", cluster(), "-compare", cluster(), "-now", noon)
	text := a.in(t, "table")
	require.Contains(t, text, "its NodePools and NodeOverlays are those of the cluster")
	require.Equal(t, "Nothing would change.", strings.Split(text, "\n")[1])
	require.Contains(t, a.in(t, "json"), `"differences": []`)
}

// clutter is what kubectl get all,secrets,events,crds prints beside what has a say.
const clutter = `
apiVersion: v1
kind: Secret
metadata: {namespace: shop, name: sh.helm.release.v1.web.v3, uid: a1}
type: helm.sh/release.v1
data: {release: SDRzSUFBQUFB}
---
apiVersion: v1
kind: Event
metadata: {namespace: shop, name: web.17a, uid: a2}
involvedObject: {kind: Pod, name: web}
---
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: migrate-x7f2p, uid: a3}
spec: {nodeName: gone, containers: [{name: a, resources: {requests: {cpu: 64}}}]}
status: {phase: Succeeded}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh, uid: a4}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: general, uid: a5}
spec: {template: {spec: {nodeClassRef: {name: default}}}}
`

// TestDumpsWithEverything: what has no say changes nothing.
func TestDumpsWithEverything(t *testing.T) {
	watched(t)
	args := []string{"-f", shop, "-instance-types", "testdata/types.yaml", "-now", noon, "-compare", "testdata/arm.yaml"}
	code, want, _ := call("", args...)
	require.Equal(t, 0, code)
	code, got, stderr := call(clutter, append([]string{"-f", "-"}, args...)...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, want, got)
	require.Contains(t, stderr, "1 NodePool of karpenter.sh/v1beta1 not read: there in the version that is\n")
}

// TestPages: a page is printed where there are pictures, and needs no network.
func TestPages(t *testing.T) {
	watched(t)
	arm, err := os.ReadFile("testdata/arm-and-spot.yaml")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "NodePools-of-the-production-cluster-with-machines-of-arm64-beside-those-of-amd64.yaml")
	require.NoError(t, os.WriteFile(file, arm, 0o600))
	code, page, stderr := call("", "-now", noon, "-o", "html", "-f", cluster(), "-compare", file)
	require.Equal(t, 0, code, stderr)
	isPage(t, page)
	t.Run("in a browser", func(t *testing.T) { look(t, page) })

	code, page, stderr = call("", small("-now", noon, "-o", "html", "-advise")...)
	require.Equal(t, 0, code, stderr)
	isPage(t, page)

	program.Refuses(t, "", []string{"-o", "html"}, "-o html is a page for -compare or -advise; give one of them, or another format\n")
}

func isPage(t *testing.T, page string) {
	t.Helper()
	for i, plot := range strings.Split(page, "<svg")[1:] {
		require.Contains(t, plot, `class="area `, "plot %d is empty", i)
	}
	require.Contains(t, page, "<svg")
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "http", "it needs no network")
	require.NotContains(t, page, "ZgotmplZ")
}

// look opens a page in a browser, as wide as a phone and as a desk, light and dark.
func look(t *testing.T, page string) {
	t.Helper()
	for _, seen := range browser.Look(t, []byte(page)) {
		require.GreaterOrEqual(t, len(seen.Plots), 3)
		for i, plot := range seen.Plots {
			require.Greater(t, plot.Width, 300.0, i)
			require.LessOrEqual(t, plot.Over, 1.0, i)
		}
	}
}

// pools returns a file of NodePools of these names.
func pools(t *testing.T, names ...string) string {
	one := read(t, "testdata/arm.yaml")
	var docs []string
	for _, name := range names {
		docs = append(docs, strings.Replace(one, "name: general", "name: "+name, 1))
	}
	file := filepath.Join(t.TempDir(), "new.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(docs, "---\n")), 0o600))
	return file
}

func TestComparePairs(t *testing.T) {
	watched(t)
	file := pools(t, "generic")
	args := []string{"-f", shop, "-instance-types", "testdata/types.yaml", "-now", noon, "-compare", file}
	program.Refuses(t, "", args, "new.yaml: no NodePool in it (generic) has the name of one of the cluster (general, gpu, graviton): "+
		"say -pair general=generic if it takes its place, or -pair =generic if it is to stand beside them\n")

	for pair, want := range map[string]string{
		"general=generic": "  - NodePool generic takes the place of general\n",
		"=generic":        "  - NodePool generic is added\n",
	} {
		code, stdout, stderr := call("", append(args, "-pair", pair)...)
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, want)
	}
	code, stdout, _ := call("", "-f", shop, "-instance-types", "testdata/types.yaml", "-compare", pools(t, "generic", "general"), "-now", noon, "-pair", "gpu=")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "  - NodePool gpu goes\n  - NodePool general is changed\n  - NodePool generic is added\n")

	program.Refuses(t, "", append(args, "-pair", "generl=generic", "-pair", "gpu=genric"),
		"whatif: -pair generl=generic: the cluster has no NodePool generl; did you mean general?\n", "new.yaml has no NodePool genric; did you mean generic?\n")
}

func TestCompareFaults(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-pair", "a=b"}, "-pair says which NodePool of -compare takes the place of which; give -compare too"},
		{[]string{"-compare", "testdata/arm.yaml", "-pair", "="}, `invalid value "=" for flag -pair: must be OLD=NEW, OLD= for a NodePool that goes, or =NEW for one that is added`},
		{[]string{"-compare", "testdata/arm.yaml", "-advise"}, "-compare and -advise are several questions; ask one at a time"},
		{[]string{"-compare", "testdata/arm.yaml", "-without", "n1"}, "-compare and -advise look at the whole cluster; leave out -without"},
		{[]string{"-f", "-", "-compare", "-"}, `invalid value "-" for flag -compare: standard input holds the manifests already`},
		{[]string{"-compare", "testdata/none.yaml"}, "open testdata/none.yaml"},
		{[]string{"-compare", "testdata/types.yaml"}, "testdata/types.yaml"},
		{[]string{"-now", "today"}, `invalid value "today" for flag -now`},
	} {
		program.Refuses(t, "", tt.args, tt.want)
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a}]}\n"), 0o600))
	program.Refuses(t, "", []string{"-compare", file}, "pod.yaml: there is no NodePool and no NodeOverlay in it to compare with")
}

// adviceOf reads an answer of -advise as data.
func adviceOf(t *testing.T, a answer) (r report.Advice) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.in(t, "json")), &r))
	require.Equal(t, "dovetail.whatif.advice/v1", r.Schema)
	return r
}

func TestAdvise(t *testing.T) {
	if testlong.UnderRace { // more pods and questions run no other goroutines
		code, _, _ := call("", small("-advise", "-now", noon)...)
		require.Equal(t, 0, code)
		return
	}
	a := asked(t, adviseShop...)
	told := a.in(t, "table")
	golden.Equal(t, told, "golden", "advise.txt")
	output.Fits(t, told)
	page := a.in(t, "html")
	isPage(t, page)
	t.Run("in a browser", func(t *testing.T) { look(t, page) })

	r := adviceOf(t, a)
	require.NotEmpty(t, r.Prices)
	require.InDelta(t, r.Cost.USDPerHour, r.Prices[0].USDPerHour+r.Prices[0].Saves, 2e-6)
	if !testlong.On() {
		return
	}

	// What it says is saved without a taint is what -compare finds for a file in which the
	// taint is not there.
	r = adviceOf(t, asked(t, "-f", dump, "-advise", "-now", noon))
	require.NotEmpty(t, r.Requests)
	require.Equal(t, "Taint", r.Prices[0].Constraints[0].Kind)
	require.Equal(t, "NodePool spot", r.Prices[0].Constraints[0].Object)

	text := read(t, dump)
	start := strings.Index(text, "      taints:\n        - key: example.com/spot\n")
	require.Positive(t, start)
	end := start + strings.Index(text[start:], "      requirements:")
	file := filepath.Join(t.TempDir(), "new.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text[:start]+text[end:]), 0o600))
	code, stdout, _ := call("", "-f", dump, "-compare", file, "-now", noon, "-o", "json")
	require.Equal(t, 0, code)
	var c report.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &c))
	require.Equal(t, []string{"NodePool spot is changed"}, c.Changes)
	require.InDelta(t, r.Prices[0].Saves, c.Old.FromEmpty.USDPerHour-c.New.FromEmpty.USDPerHour, 2e-6)
}
