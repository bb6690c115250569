package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/report"
)

// program and call run the program of this folder.
var (
	program = output.Program(run)
	call    = program.Call
)

// answers are those that succeed has had, by what was asked and whatever is printed of it.
var answers = map[string]*report.Proposal{}

// succeed has a command line answered, once for all that tests want to have printed of it,
// and returns what the program prints.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	s, set := newSettings()
	require.NoError(t, set.Parse(args))
	var faults command.Faults
	s.check(&faults)
	require.Empty(t, faults)
	asked := *s
	asked.output, asked.all, asked.files.Sample = "", false, nil
	key := fmt.Sprintf("%+v", asked)
	if answers[key] == nil {
		r, err := s.ask(strings.NewReader(""), &errs)
		require.NoError(t, err, errs.String())
		answers[key] = r
	}
	require.NoError(t, s.print(&out, answers[key]))
	return out.String()
}

const small = "testdata/small.yaml"

var smallNow = []string{"-now", "2026-03-02T12:00:00Z", "-f", small}

// pendingNow adds pods for which a node is due, whatever is removed.
var pendingNow = append([]string{"-f", "testdata/pending.yaml"}, smallNow...)

// expiredNow adds a node that has expired and one that has drifted, the pods of which
// need new nodes.
var expiredNow = append([]string{"-f", "testdata/expired.yaml"}, smallNow...)

// TestQuestions runs the commands of docs/questions.md.
func TestQuestions(t *testing.T) {
	output.Questions(t, func(args []string, _ io.Reader, stdout, _ io.Writer) int {
		_, err := io.WriteString(stdout, succeed(t, args...))
		require.NoError(t, err)
		return command.OK
	})
}

func TestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"sample.txt":   nil,
		"converge.txt": {"-converge"},
		"all.txt":      append([]string{"-all"}, smallNow...),
		"small.txt":    smallNow,
		"pending.txt":  pendingNow,
		"expired.txt":  expiredNow,
		"held.txt":     {"-now", "2026-11-20T12:00:00Z", "-f", "testdata/held.yaml"},
		"held.json":    {"-now", "2026-11-20T12:00:00Z", "-f", "testdata/held.yaml", "-o", "json"},
		"draining.txt": {"-now", "2026-11-20T12:00:00Z", "-f", "testdata/draining.yaml"},
		"small.json":   append([]string{"-o", "json"}, smallNow...),
		"quiet.json":   append([]string{"-o", "json", "-converge"}, smallNow...),
	} {
		t.Run(name, func(t *testing.T) {
			out := succeed(t, args...)
			golden.Equal(t, out, "golden", name)
			if strings.HasSuffix(name, ".txt") {
				output.Fits(t, out)
			}
		})
	}
}

func TestTheSameInputGivesTheSameText(t *testing.T) {
	testlong.Alone(t)
	_, out, _ := call("")
	require.Equal(t, succeed(t), out)
}

// parse reads the json output.
func parse(t *testing.T, args ...string) report.Proposal {
	t.Helper()
	var r report.Proposal
	require.NoError(t, json.Unmarshal([]byte(succeed(t, append([]string{"-o", "json"}, args...)...)), &r))
	return r
}

// What is said about money and nodes adds up.
func TestTheSampleAddsUp(t *testing.T) {
	r := parse(t)
	require.Equal(t, "dovetail.consolidate/v1", r.Schema)
	require.Equal(t, 60, r.Before.Total.Nodes)
	require.NotEmpty(t, r.Actions)
	about, launched, saved := map[string]bool{}, 0, 0.0
	for _, a := range r.Actions {
		launched += len(a.Replacements)
		saved += a.Savings
		for _, n := range a.Nodes {
			require.False(t, about[n.Node], "one action for a node")
			about[n.Node] = true
		}
		for _, m := range a.Moves {
			require.NotContains(t, a.Nodes, m.To)
		}
	}
	require.InDelta(t, r.Before.Total.USDPerHour-r.After.Total.USDPerHour, saved, 0.02)
	require.Zero(t, r.After.Pending)
	for _, w := range r.Waiting {
		for _, n := range w.Nodes {
			about[n.Node] = true
		}
	}
	for _, n := range r.LeftAlone {
		require.False(t, about[n.Node])
		require.NotEmpty(t, n.Reasons)
		about[n.Node] = true
	}
	require.Len(t, about, 60, "every node is spoken of")
	nodes, cost := 0, 0.0
	for _, p := range r.Before.Pools {
		nodes, cost = nodes+p.Nodes, cost+p.USDPerHour
	}
	require.Equal(t, 60, nodes)
	require.InDelta(t, r.Before.Total.USDPerHour, cost, 1e-4)
	reasons := map[string]bool{}
	for _, a := range r.Actions {
		reasons[a.Reason] = true
	}
	for _, want := range []string{"Empty", "Drifted", "Underutilized"} {
		require.True(t, reasons[want], want)
	}
}

// Nodes for pods that were pending already are no loss of consolidation.
func TestPendingPodsAreShownApart(t *testing.T) {
	plain, pending := parse(t, smallNow...), parse(t, pendingNow...)
	require.Nil(t, plain.Provisioned)
	require.Equal(t, 2, pending.Provisioned.Pods)
	require.Positive(t, pending.Provisioned.Nodes)
	require.Greater(t, pending.After.Total.USDPerHour, pending.Before.Total.USDPerHour)
	require.InDelta(t, plain.Saved(), pending.Saved(), 1e-6)
	require.Positive(t, pending.Saved())
	for _, args := range [][]string{pendingNow, append([]string{"-converge"}, pendingNow...)} {
		text := succeed(t, args...)
		require.Contains(t, text, "less than otherwise")
		require.NotRegexp(t, `-\d+%|saves -`, text)
	}
}

// Of a node that is left alone it can be asked what keeps its pods from others.
func TestWhyANodeStays(t *testing.T) {
	testlong.Alone(t)
	args := []string{"-converge", "-why", "ip-10-0-16-88"}
	w := parse(t, args...).Why
	require.Equal(t, "ip-10-0-16-88", w.Node)
	require.NotEmpty(t, w.Pods)
	text := succeed(t, args...)
	require.Contains(t, text, "\nWHY ip-10-0-16-88 STAYS\n")
	require.Contains(t, text, " and 1 like it find no place on 35 other\n  nodes: labels or taints rule out 30, 5 have no room\n")
	require.Nil(t, parse(t).Why)
	for _, name := range []string{"nobody", "ip-10-0-16-130"} { // that goes
		want := map[string]string{"nobody": "no such node is left alone; name one of those that -all lists",
			"ip-10-0-16-130": "it is not left alone; it is to go now: Delete ip-10-0-16-130 (Empty)"}[name]
		program.Refuses(t, "", []string{"-why", name}, "-why "+name+": "+want)
	}
}

// Of any node it can be asked what would become of its pods.
func TestWithoutANode(t *testing.T) {
	testlong.Alone(t)
	r := parse(t, "-without", "ip-10-0-16-88")
	w := r.Without
	require.Len(t, w.Pods, 2)
	require.NotEmpty(t, w.Pods[0].To)
	require.Empty(t, w.Launches)
	require.InDelta(t, *w.USDPerHour, *w.SavesUSDPerHour, 1e-9)
	require.NotEmpty(t, w.Speaks)
	require.Nil(t, parse(t).Without)
	for name, want := range map[string]string{
		"ip-10-0-16-88":  "\nIF ip-10-0-16-88 WENT\n  it costs 0.0745 USD/h, and 2 pods would need another place\n  on 2 nodes that are there:\n",
		"ip-10-0-16-130": "and no pod would need another place\n  that saves 0.1920 USD/h\n  it is to go now: Delete ip-10-0-16-130 (Empty)",
		"ip-10-0-32-18":  "\n  it waits: ",
	} {
		text := succeed(t, "-without", name)
		require.Contains(t, text, want)
		output.Fits(t, text)
	}
	// A node that no other has room for.
	r = parse(t, "-without", r.LeftAlone[len(r.LeftAlone)-1].Node)
	require.NotEmpty(t, r.Without.Speaks)

	program.Refuses(t, "", []string{"-without", "nobody"}, "consolidate: -without nobody: the input has no such node\n")
	program.Refuses(t, "", []string{"-without", "ip-10-0-16-8"}, "consolidate: -without ip-10-0-16-8: the input has no such node; did you mean ip-10-0-16-")
	program.Refuses(t, "", []string{"-without", "nobody", "-converge"}, "-without asks about the cluster as it is; leave out -converge")
}

// What is said of nodes that go without a replacement has their pods in it.
func TestPodsOfExpiredNodesGetNewNodes(t *testing.T) {
	r := parse(t, expiredNow...)
	require.Equal(t, 2, r.FollowUp.Pods)
	require.Equal(t, 1, r.FollowUp.Nodes)
	require.Equal(t, 0.204, r.FollowUp.USDPerHour)
	require.Equal(t, r.Before.Total.Nodes-4+1+r.FollowUp.Nodes, r.After.Total.Nodes)
	for _, a := range r.Actions {
		if a.Reason == "Expired" {
			require.Contains(t, a.Detail, "1 new node for 1 pod, a1.2xlarge/us-east-1a/on-demand at 0.204 USD/h", a.Reason)
		}
	}
	require.Contains(t, succeed(t, append([]string{"-converge"}, expiredNow...)...), "then provisioning finds places for 2 pods and launches 1 node\n")
	require.Nil(t, parse(t, smallNow...).FollowUp)
	both := parse(t, append([]string{"-f", "testdata/pending.yaml"}, expiredNow...)...)
	require.Equal(t, 2, both.FollowUp.Pods, "those that were pending before are not among them")
	require.GreaterOrEqual(t, both.FollowUp.USDPerHour, 0.0)
}

// A node of a static pool stays whether it is empty or not, and the list says so.
func TestEmptyNodesOfStaticPoolsAreListed(t *testing.T) {
	args := append([]string{"-f", "testdata/static.yaml"}, smallNow...)
	left := parse(t, args...).LeftAlone
	i := 0
	for left[i].Node != "e1" {
		i++
	}
	require.Equal(t, "edge", left[i].NodePool)
	require.Len(t, left[i].Reasons, 1)
	require.Equal(t, `Emptiness Static its NodePool "edge" is static`, left[i].Reasons[0].Method+" "+left[i].Reasons[0].Rule+" "+left[i].Reasons[0].Detail)
	require.Contains(t, succeed(t, append([]string{"-all"}, args...)...), "  e1\n    Static: its NodePool \"edge\" is static [Emptiness]")
	require.Contains(t, succeed(t, args...), "  Static ")
}

func TestTheSampleComesToRest(t *testing.T) {
	r := parse(t, "-converge")
	require.True(t, r.Converged, r.Stopped)
	require.Less(t, r.After.Total.USDPerHour, 0.7*r.Before.Total.USDPerHour)
	require.Len(t, r.LeftAlone, r.After.Total.Nodes, "what is left is left alone")
	require.Greater(t, r.Search.Candidates, parse(t).Search.Candidates, "the work of all rounds")
	before := r.Before.Total.USDPerHour
	for _, round := range r.Rounds {
		saved := 0.0
		for _, a := range round.Actions {
			saved += a.Savings
		}
		require.InDelta(t, before-round.USDPerHour, saved, 0.02)
		before = round.USDPerHour
	}
}

func TestFlagsReachTheEngine(t *testing.T) {
	s, set := newSettings()
	require.NoError(t, set.Parse([]string{"-min-saving", "0.25", "-spot-to-spot"}))
	require.InDelta(t, 0.25, s.options().Consolidation.MinimumSaving, 0)
	require.False(t, s.options().Consolidation.NoSpotToSpot)
	s, _ = newSettings()
	require.True(t, s.options().Consolidation.NoSpotToSpot)
	for _, a := range parse(t, append([]string{"-min-saving", "100"}, smallNow...)...).Actions {
		require.NotEqual(t, "Underutilized", a.Reason)
	}
	require.Equal(t, "2026-03-02T12:00:00Z", parse(t, smallNow...).Now.Format("2006-01-02T15:04:05Z07:00"))
}

func TestStandardInput(t *testing.T) {
	data, err := os.ReadFile(small)
	require.NoError(t, err)
	code, out, errs := call(string(data), "-f", "-", "-now", "2026-03-02T12:00:00Z")
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, succeed(t, smallNow...), out)
	code, _, errs = call(string(data), "-f", "-") // at the present
	require.Equal(t, command.OK, code, errs)
}

func TestWrongFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"dump.yaml"}, `unexpected argument "dump.yaml"; files are named with -f`},
		{[]string{"-o", "xml"}, `invalid value "xml" for flag -o: must be text or json`},
		{[]string{"-min-saving", "-1"}, "invalid value -1 for flag -min-saving"},
		{[]string{"-f", small, "-f", small}, "it is given twice"},
	} {
		program.Refuses(t, "", test.args, test.want, "\n\nconsolidate -h lists the flags.\n")
	}
	program.Help(t, about)
}

// Faults say where they are and what to do, all at once.
func TestWrongInput(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  disruption:\n    budgets: [{nodes: lots}]\n" +
		"  template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}}}\n"
	program.Refuses(t, pool, []string{"-f", "-"}, "consolidate: -:6 (document 1): NodePool a: spec.disruption.budgets[0].nodes: ")
	program.Refuses(t, "", []string{"-f", "missing.yaml", "-instance-types", "absent.yaml"}, "missing.yaml", "absent.yaml")
}

// TestNoNode says so, and draws no table of nothing.
func TestNoNode(t *testing.T) {
	code, out, errs := call("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", "-f", "-", "-now", "2026-03-02T12:00:00Z")
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "0 nodes at 0.0000 USD/h                                   2 March 2026 12:00 UTC\n"+
		"The input has no node, so there is nothing to remove.\n", out)
}

func TestOtherInstanceTypes(t *testing.T) {
	program.Refuses(t, "not: [a catalog", append([]string{"-instance-types", "-"}, smallNow...), "consolidate: -: ")
}

func TestColours(t *testing.T) {
	r := parse(t, smallNow...)
	coloured, bare := r.Format(&report.Options{Color: true}), r.Format(nil)
	require.Contains(t, coloured, "\x1b[1m")
	require.NotContains(t, bare, "\x1b")
}

// Whatever names an input has, nothing reaches the terminal but text that fits.
func TestLongAndOddNames(t *testing.T) {
	r := parse(t, smallNow...)
	r.Actions[0].Nodes[0].Node = strings.Repeat("x", 300)
	r.Actions[0].Detail = "\x1b[31m" + strings.Repeat("é", 200)
	r.LeftAlone[0].Node, r.LeftAlone[0].Reasons[0].Rule = strings.Repeat("y", 90), "Rule\nwith more"
	for _, all := range []bool{false, true} {
		text := r.Format(&report.Options{All: all})
		output.Fits(t, text)
		require.NotContains(t, text, "\x1b")
	}
}
