// Command whatif plans nodes for a cluster that is described by manifests, and says what they would
// cost. It needs neither a cloud nor a cluster. README.md has commands to begin with and the exit
// codes, reference.md what is read and the format of -o json.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/page"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/report"
)

// sample is the cluster that is planned when no file is named: a small shop
// with two nodes, a flash sale ahead, and one pod that fits nowhere.
//
//go:embed sample.yaml
var sample []byte

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type settings struct {
	files        offline.Files
	output       string // table, json, yaml or html
	engine       provisioning.Options
	without      []string // names of nodes to plan without
	explain      string   // namespace/name of a pod to explain instead of printing the plan
	why          string   // new node/instance type to explain
	compare      string   // file of new policies; empty for none
	pairs        []string // OLD=NEW, OLD= or =NEW; see checkPairs
	advise       bool
	questions    int // number of questions of -advise; 0 for the default of package advice
	maxOptions   int // per node in json and yaml; 0 is all
	failUnplaced bool
	verify       bool // check plans of any size
}

func (s *settings) options() *provisioning.Options {
	o := s.engine
	o.Kubernetes = strings.TrimPrefix(o.Kubernetes, "all")
	return &o
}

const about = `Whatif plans nodes for the pods of a cluster that is written down in manifests.

Colours are used on a terminal unless NO_COLOR is set.`

// newSettings returns the defaults of the flags, and the flags that change them.
func newSettings() (*settings, *flag.FlagSet) {
	s := &settings{files: offline.Files{Sample: sample}, engine: provisioning.Options{MinValues: provisioning.Strict, Preferences: provisioning.Respect, Reserved: provisioning.ReservedFallback}}
	set := flag.NewFlagSet("whatif", flag.ContinueOnError)
	s.files.Flags(set)
	set.StringVar((*string)(&s.engine.MinValues), "min-values", string(s.engine.MinValues), "`POLICY` what to do when a minValues cannot be met: Strict launches nothing, BestEffort lowers it. Default Strict")
	set.StringVar((*string)(&s.engine.Preferences), "preferences", string(s.engine.Preferences), "`POLICY` Respect weighs soft constraints (preferred affinity, ScheduleAnyway, PreferNoSchedule) against cost, Ignore leaves them to the scheduler. Default Respect")
	set.StringVar((*string)(&s.engine.Reserved), "reserved", string(s.engine.Reserved), "`POLICY` what nodes that draw on a reservation name beside it: Fallback other capacity, in case it is full, Strict nothing, so that the launch fails. Default Fallback")
	set.Float64Var(&s.engine.NodeFee, "node-fee", 0, "`USD` what a node costs in an hour beside its bill; more makes plans with fewer, larger nodes. Default 0")
	set.StringVar(&s.engine.Kubernetes, "kubernetes", "", "`VERSION` the version of kube-scheduler that binds the pods, as 1.37, or all for places that are valid in each version that is supported. Default: that of the newest kubelet, or all if no Node names one")
	command.List(set, "without", &s.without, "the name of the node is empty", "`NODE` plan as if NODE were being removed, its pods to be placed elsewhere; may be repeated")
	set.StringVar(&s.explain, "explain", "", "`NAMESPACE/POD` instead of the plan, tell where the pod goes and when, or all that keeps it pending; the name of a workload stands for a pod of it, one that is pending if any is")
	set.StringVar(&s.why, "why", "", "`NODE/INSTANCETYPE` instead of the plan, tell how the instance type stands with the new NODE of the plan")
	set.StringVar(&s.compare, "compare", "", "`FILE` instead of the plan, tell what would change if the NodePools and NodeOverlays of FILE took the place of those of their names: cost, pods, drift, evictions")
	command.List(set, "pair", &s.pairs, "the names of the NodePools are empty", "`OLD=NEW` with -compare, NEW of FILE takes the place of NodePool OLD; OLD= goes, =NEW is added; may be repeated")
	set.BoolVar(&s.advise, "advise", false, "instead of the plan, tell what each constraint costs if all pods were planned for anew")
	set.IntVar(&s.questions, "questions", 0, "`N` with -advise, ask about N constraints thoroughly, and half as many requests; more takes longer. Default 10")
	set.StringVar(&s.output, "o", "table", "`FORMAT` table, json or yaml, and html for -compare and -advise. Default table")
	set.IntVar(&s.maxOptions, "options", 20, "`N` list at most N ways to launch each node in json and yaml, the cheapest first; 0 lists all, which may be thousands. Default 20")
	set.BoolVar(&s.failUnplaced, "fail-unplaced", false, "exit with code 1 if a pod stays pending")
	set.BoolVar(&s.verify, "verify", false, "check the plan by the referee even if it is so large that it takes minutes; smaller plans are always checked")
	return s, set
}

func (s *settings) check(f *command.Faults) {
	s.checkFormat(f)
	command.OneOf(f, "min-values", s.engine.MinValues, provisioning.Strict, provisioning.BestEffort)
	command.OneOf(f, "preferences", s.engine.Preferences, provisioning.Respect, provisioning.Ignore)
	command.OneOf(f, "reserved", s.engine.Reserved, provisioning.ReservedFallback, provisioning.ReservedStrict)
	f.USD("node-fee", s.engine.NodeFee)
	if err := s.options().Validate(); s.engine.Kubernetes != "" && err != nil {
		_, why, found := strings.Cut(err.Error(), "Kubernetes is ")
		why, _, _ = strings.Cut(why, ", or nothing")
		f.If(found, "invalid value for flag -kubernetes: %s, or all", why)
	}
	s.checkQuestions(f)
	command.NotNegative(f, "options", s.maxOptions)
	s.files.Check(f)
}

// checkFormat lists the faults of -o. Only answers with pictures can be pages.
func (s *settings) checkFormat(f *command.Faults) {
	switch {
	case s.compare != "" || s.advise:
		command.OneOf(f, "o", s.output, "table", "json", "yaml", "html")
	case s.output == "html":
		f.If(true, "-o html is a page for -compare or -advise; give one of them, or another format")
	default:
		f.If(!slices.Contains([]string{"table", "json", "yaml"}, s.output), "invalid value %q for flag -o: must be table, json or yaml, or html with -compare or -advise", s.output)
	}
}

// checkQuestions lists the faults of the flags that ask one question.
func (s *settings) checkQuestions(f *command.Faults) {
	if strings.Contains(s.explain, "/") { // without one, a namespace is suggested once pods are known
		f.Pair("explain", s.explain, "NAMESPACE/POD")
	}
	f.Pair("why", s.why, "NODE/INSTANCETYPE")
	var asked command.Faults
	asked.If(s.explain != "", "-explain")
	asked.If(s.why != "", "-why")
	asked.If(s.compare != "", "-compare")
	asked.If(s.advise, "-advise")
	f.If(len(asked) > 1, "%s are several questions; ask one at a time", strings.Join(asked, " and "))
	f.If((s.compare != "" || s.advise) && len(s.without) > 0, "-compare and -advise look at the whole cluster; leave out -without")
	command.NotNegative(f, "questions", s.questions)
	f.If(s.questions > 0 && !s.advise, "-questions says how much -advise asks; give -advise too")
	f.If(s.compare == "-" && slices.Contains(s.files.Manifests, "-"), `invalid value "-" for flag -compare: standard input holds the manifests already`)
	s.checkPairs(f)
	f.If((s.explain != "" || s.why != "") && (s.output == "json" || s.output == "yaml"), "-explain and -why answer in text; leave out -o %s", s.output)
}

// hints name the flags that show more.
var hints = report.Hints{
	Explain:  "Ask -explain %s for all that is in its way.",
	Why:      "Ask -why %s/%s how an instance type stands with the node.",
	More:     "; -o json lists all",
	NotAsked: "A larger -questions asks about more; -o json names them all.",
}

// answer is the output: data, unless there is only a text; the text; and a page if there are pictures.
type answer struct {
	data    any
	text    func(*report.Options) string
	page    func() page.Page
	pending bool // some pod is unplaced
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, set := newSettings()
	return command.Run(set, args, about, stdout, stderr, s.check, func() error {
		a, err := s.ask(stdin, stderr)
		if err == nil {
			err = a.print(stdout, s.output)
		}
		if err == nil && s.failUnplaced && a.pending {
			err = command.ErrTold
		}
		return err
	})
}

// ask reads the input and computes the answer.
func (s *settings) ask(stdin io.Reader, stderr io.Writer) (answer, error) {
	world, err := offline.Open("whatif", s.files, stdin, stderr)
	if err != nil {
		return answer{}, command.Input(err)
	}
	if s.engine.Kubernetes == "" {
		var remark string
		s.engine.Kubernetes, remark = world.Kubernetes()
		world.Say("whatif", stderr, remark)
	}
	ctx, done := command.Progress(context.Background(), stderr)
	defer done()
	switch {
	case s.compare != "":
		return s.compareWith(ctx, world, stdin, stderr)
	case s.advise:
		return s.adviseOn(ctx, world, stderr)
	}
	return s.plan(ctx, world, stderr)
}

func (a answer) print(stdout io.Writer, format string) error {
	if format != "html" {
		return command.Print(stdout, format, a.data, func(coloured bool) string {
			return a.text(&report.Options{Color: coloured, Hints: hints})
		})
	}
	text, err := a.page().HTML()
	if err == nil {
		_, err = io.WriteString(stdout, text)
	}
	return err
}

// plan makes the plan, or answers a question about it.
func (s *settings) plan(ctx context.Context, w *offline.World, stderr io.Writer) (answer, error) {
	in := w.Input()
	removed, err := toRemove(in, s.without)
	if err != nil {
		return answer{}, command.Input(err)
	}
	problem, err := provisioning.Prepare(in, s.options())
	if err == nil && len(removed) > 0 {
		problem, err = problem.Without(removed...)
		in = withoutNodes(in, removed)
	}
	if err != nil {
		return answer{}, command.Input(w.Cluster.Explain(err))
	}
	plan, err := problem.Solve(ctx)
	if err != nil {
		return answer{}, err
	}
	verified := s.verify || countOptions(plan) <= maxJudged
	if verified {
		if err := check(in, plan, s.options()); err != nil {
			return answer{}, err
		}
	}
	w.Say("whatif", stderr, report.LessThanPromised(in, plan)...)
	switch {
	case s.explain != "":
		text, err := report.ExplainPod(s.explain, in, plan, &report.Options{Hints: hints})
		if node := runsOn(in, s.explain); err != nil && node != "" {
			err = fmt.Errorf("%w; -without %s would move it", err, node)
		}
		return told("-explain "+s.explain, text, err)
	case s.why != "":
		node, typeName, _ := strings.Cut(s.why, "/")
		text, err := report.ExplainInstanceType(node, typeName, in, plan)
		return told("-why "+s.why, text, err)
	}
	maxOptions := s.maxOptions
	if s.output == "table" {
		maxOptions = 1 // the table only counts them
	}
	ignored := map[string]int{}
	for _, k := range w.Cluster.Ignored {
		ignored[k.Kind] = k.Count
	}
	r := report.NewPlan(in, plan, &report.PlanOptions{MaxOptions: maxOptions, Verified: verified, Ignored: ignored, Notes: w.Cluster.Notes})
	return answer{data: r, text: r.Format, pending: len(plan.Unplaced) > 0}, nil
}

// told returns the answer to a flag whose answer is text only.
func told(flag, text string, err error) (answer, error) {
	if err != nil {
		return answer{}, command.Input(fmt.Errorf("%s: %w", flag, err))
	}
	return answer{text: func(*report.Options) string { return text }}, nil
}

// runsOn returns the node on which a pod runs, given by namespace and name; "" if it runs on none.
func runsOn(in provisioning.Input, pod string) string {
	for i := range in.Nodes {
		if slices.ContainsFunc(in.Nodes[i].Pods, func(p *corev1.Pod) bool { return p.Namespace+"/"+p.Name == pod }) {
			return in.Nodes[i].Name()
		}
	}
	return ""
}

// toRemove returns the named nodes that are not being deleted already. The pods of nodes that are
// being deleted are planned for in any case.
func toRemove(in provisioning.Input, names []string) (out []string, err error) {
	leaving := disruption.Leaving(in.Nodes)
	for i := range in.Nodes {
		if name := in.Nodes[i].Name(); slices.Contains(names, name) && !slices.Contains(leaving, name) {
			out = append(out, name)
		}
	}
	for _, name := range names {
		err = errors.Join(err, offline.HasNode(in, name))
	}
	return out, err
}

// running returns the cluster as it runs.
func (s *settings) running(w *offline.World, stderr io.Writer) compare.Side {
	w.Say("whatif", stderr, w.Age())
	return compare.Side{Input: w.Running(), Options: &disruption.Options{Provisioning: s.options()}}
}

// adviseOn answers -advise: it computes the cost of all pods on new nodes, the price of each
// constraint, and the savings that budgets prevent.
func (s *settings) adviseOn(ctx context.Context, w *offline.World, stderr io.Writer) (a answer, err error) {
	defer func() { err = command.Input(w.Cluster.Explain(err)) }()
	side := s.running(w, stderr)
	in, err := compare.Emptied(w.Now, side)
	if err != nil {
		return a, err
	}
	found, err := advice.Ask(ctx, in.Input, &advice.Options{Provisioning: side.Options.Provisioning, Questions: s.questions})
	if err != nil {
		return a, err
	}
	budgets, err := compare.Budgets(ctx, w.Now, side)
	r := report.NewAdvice(found, budgets)
	return answer{data: r, text: r.Format, page: func() page.Page { return page.Advice(r, found, hints) }}, err
}
