package provisioning_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

var update = flag.Bool("update", false, "write the outcome of scenarios into their files")

// TestScenarios tells the stories of testdata: what is declared there is
// solved, and the plan is shown as text. The notation is described in package
// internal/scenario. After an intended change run
//
//	go test ./provisioning -run TestScenarios -update
//
// and review the difference.
func TestScenarios(t *testing.T) {
	testlong.Alone(t)
	for _, file := range storyFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, f := storyOf(t, file)
			outcomes := make([]string, len(f.Cases))
			for i := range f.Cases {
				outcomes[i] = outcome(t, &f.Cases[i])
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(f.Update(outcomes)), 0o644))
				return
			}
			for i, c := range f.Cases {
				require.Equal(t, c.Want, outcomes[i], "%s: case %s", file, c.Title)
			}
			require.Equal(t, text, f.Update(outcomes), "the layout of the file is that of an update")
		})
	}
}

// TestScenariosShowEveryGivenUpCause: there is a story for each kind of preference, and for each
// reason why a plan gives one up.
func TestScenariosShowEveryGivenUpCause(t *testing.T) {
	text, err := os.ReadFile("testdata/soft.txt")
	require.NoError(t, err)
	for _, cause := range []provisioning.Cause{
		provisioning.GivenUpNoPods, provisioning.GivenUpExistingNodes, provisioning.GivenUpUnavailable, provisioning.GivenUpCost,
		provisioning.GivenUpOutweighed, provisioning.GivenUpNewNode, provisioning.GivenUpFewNodes, provisioning.GivenUpPlanCost,
		provisioning.GivenUpConstraints,
	} {
		require.Contains(t, string(text), " ("+string(cause)+")\n")
	}
}

// storyFiles are the files of scenarios.
func storyFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func storyOf(t testing.TB, file string) (text string, f *scenario.File) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err = scenario.Parse(string(data))
	require.NoError(t, err)
	return string(data), f
}

// TestScenariosShowEveryCause: there is a story for each reason why a pod may
// stay pending.
func TestScenariosShowEveryCause(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range storyFiles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n") {
			if causes, ok := strings.CutSuffix(line, ")"); ok && strings.HasPrefix(line, "pending ") {
				for _, cause := range strings.Split(causes[strings.LastIndexByte(causes, '(')+1:], ", ") {
					seen[cause] = true
				}
			}
		}
	}
	for _, cause := range []provisioning.Cause{
		provisioning.CauseUnsupported, provisioning.CauseInvalid, provisioning.CauseNoNodePool,
		provisioning.CauseNotReady, provisioning.CauseNoInstanceTypes, provisioning.CauseTaints,
		provisioning.CauseRequirements, provisioning.CauseInstanceTypes, provisioning.CauseOfferings,
		provisioning.CauseResources, provisioning.CauseMinValues, provisioning.CauseLimits,
		provisioning.CauseGated, provisioning.CauseDeleting, provisioning.CauseOtherScheduler,
		provisioning.CauseSpread, provisioning.CauseAffinity, provisioning.CauseAntiAffinity,
		provisioning.CauseHostPorts, provisioning.CauseVolumes, provisioning.CauseDevices,
		provisioning.CauseReservations,
	} {
		require.True(t, seen[string(cause)], "no scenario shows %s", cause)
	}
}

// outcome solves a case and shows the plan. Whatever the story, the referee
// must agree, and the order in which things are told must not matter.
func outcome(t *testing.T, c *scenario.Case) string {
	t.Helper()
	in, opts := scenarioInput(c.World)
	text := solveText(t, in, opts, c.World.Show)
	slices.Reverse(in.NodePools)
	slices.Reverse(in.Nodes)
	slices.Reverse(in.Pods)
	slices.Reverse(in.DaemonSetPods)
	for _, types := range in.InstanceTypes {
		slices.Reverse(types)
	}
	require.Equal(t, text, solveText(t, in, opts, c.World.Show), "case %s: the reverse order of input gives another plan", c.Title)
	return text
}

func scenarioInput(w *scenario.World) (provisioning.Input, *provisioning.Options) {
	in := provisioning.Input{
		NodePools:     w.NodePools,
		InstanceTypes: w.InstanceTypes,
		Pods:          w.Pods,
		DaemonSetPods: w.DaemonSetPods,
		Namespaces:    w.Namespaces,
		Volumes:       provisioning.Volumes(w.Volumes),
		Devices: provisioning.Devices{
			Claims: w.Devices.Claims, Templates: w.Devices.Templates, Classes: w.Devices.Classes, Slices: w.Devices.Slices,
			Matcher: scenario.Matcher{},
		},
		Overlays:   w.Overlays,
		Services:   w.Services,
		Vocabulary: w.Vocabulary,
	}
	for _, n := range w.Nodes {
		in.Nodes = append(in.Nodes, provisioning.Node{Node: n.Node, NodeClaim: n.NodeClaim, Pods: n.Pods})
	}
	for _, c := range w.Controllers {
		in.Controllers = append(in.Controllers, provisioning.Controller(c))
	}
	for _, b := range w.Buffers {
		in.Buffers = append(in.Buffers, provisioning.Buffer{
			Namespace: b.Namespace, Name: b.Name, Template: b.Template, Replicas: b.Replicas,
		})
	}
	return in, scenarioOptions(&w.Options)
}

func scenarioOptions(o *scenario.Options) *provisioning.Options {
	opts := &provisioning.Options{
		MinValues:       provisioning.MinValuesPolicy(o.MinValues),
		MaxSteps:        o.MaxSteps,
		Preferences:     provisioning.PreferencePolicy(o.Preferences),
		PreferenceCost:  o.PreferenceCost,
		DefaultSpread:   o.DefaultSpread,
		SchedulerNames:  o.SchedulerNames,
		Reserved:        provisioning.ReservedPolicy(o.Reserved),
		NodeFee:         o.NodeFee,
		SpotFlexibility: o.SpotFlexibility,
		Kubernetes:      o.Kubernetes,
	}
	if o.CapacityMix != nil {
		mix := provisioning.CapacityMix(*o.CapacityMix)
		opts.CapacityMix = &mix
	}
	return opts
}

func solveText(t *testing.T, in provisioning.Input, opts *provisioning.Options, show map[string]bool) string {
	t.Helper()
	plan, err := provisioning.Solve(context.Background(), in, opts)
	if err != nil {
		return faultsText(err)
	}
	require.Empty(t, verify.Plan(in, plan, opts))
	require.Empty(t, verify.Unplaced(in, plan, opts))
	return planText(plan, show)
}

// planText shows a plan to people. Alike nodes are one entry:
//
//	2 × general  0.2000 USD/h  web ×3, cart
//	    small/a/on-demand 0.1000, small/b/on-demand 0.1000
//	node-1  web ×2
//	pending huge
//	    NodePool general: the pod asks for ...
//	given up for web ×3 (Cost)
//	    preferred node affinity of weight 100 to ...
//	static fixed: 2 nodes, 1 to launch
//	buffer spare: 1 on existing nodes, 2 on new ones
//	cost 0.2000 USD/h, at least 0.1800
//
// The pods of a buffer are named as such. Behind these come what a node has
// beyond the usual (labels of its own, DaemonSets, a lowered minValues) and what
// a scenario asks to show: "names", "requests", "requirements", "labels",
// "claim", "overlays" and "order".
func planText(plan *provisioning.Plan, show map[string]bool) string {
	var b strings.Builder
	writeNewNodes(&b, plan, show)
	for _, bind := range plan.Bind {
		fmt.Fprintf(&b, "%s  %s\n", bind.Node, podsText(bind.Pods))
	}
	writePending(&b, plan)
	writeGivenUp(&b, plan)
	writeStatic(&b, plan)
	writeBuffers(&b, plan)
	if show["overlays"] {
		writeOverlays(&b, plan)
	}
	if show["order"] {
		fmt.Fprintf(&b, "order %s\n", namesText(plan.Order))
	}
	if plan.Cost > 0 {
		fmt.Fprintf(&b, "cost %.4f USD/h, at least %.4f", plan.Cost, plan.LowerBound)
		if packing := fmt.Sprintf("%.4f", plan.PackingBound); packing != fmt.Sprintf("%.4f", plan.LowerBound) {
			fmt.Fprintf(&b, ", packed so %s", packing)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		b.WriteString("nothing to do\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func writeNewNodes(b *strings.Builder, plan *provisioning.Plan, show map[string]bool) {
	for i := 0; i < len(plan.Create); {
		entry := newNodeText(&plan.Create[i], show)
		alike := i + 1
		for alike < len(plan.Create) && newNodeText(&plan.Create[alike], show) == entry {
			alike++
		}
		if show["names"] {
			for _, n := range plan.Create[i:alike] {
				fmt.Fprintf(b, "%s for %s\n", n.Name, namesText(n.Pods))
			}
		}
		fmt.Fprintf(b, "%d × %s", alike-i, entry)
		i = alike
	}
}

func newNodeText(n *provisioning.NewNode, show map[string]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %.4f USD/h  %s\n", n.Pool.Name, n.Price(), podsText(n.Pods))
	fmt.Fprintf(&b, "    %s\n", optionsText(n.Options))
	labels := maps.Clone(n.Labels)
	if !show["labels"] {
		delete(labels, v1.NodePoolLabelKey)
		delete(labels, "example.com/nodeclass")
	}
	if len(labels) > 0 {
		fmt.Fprintf(&b, "    labels %s\n", labelsText(labels))
	}
	if n.Daemons.Len() > 0 {
		fmt.Fprintf(&b, "    DaemonSets take %s\n", n.Daemons)
	}
	if show["requests"] {
		fmt.Fprintf(&b, "    pods request %s\n", n.Requests)
	}
	if show["requirements"] {
		fmt.Fprintf(&b, "    requires %s\n", n.Requirements)
	}
	for _, m := range n.MissedMinValues() {
		fmt.Fprintf(&b, "    %s\n", m)
	}
	if show["claim"] {
		writeClaim(&b, n.NodeClaim())
	}
	return b.String()
}

func writeClaim(b *strings.Builder, claim *v1.NodeClaim) {
	for _, r := range claim.Spec.Requirements {
		fmt.Fprintf(b, "    claims %s %s", r.Key, r.Operator)
		if len(r.Values) > 0 {
			fmt.Fprintf(b, " %s", strings.Join(r.Values, ", "))
		}
		if r.MinValues != nil {
			fmt.Fprintf(b, ", at least %d", *r.MinValues)
		}
		b.WriteString("\n")
	}
	if claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] == "true" {
		b.WriteString("    claims fewer values than the pool demands\n")
	}
}

func optionsText(options []cloudprovider.LaunchOption) string {
	const most = 6
	var parts []string
	for _, o := range options {
		parts = append(parts, fmt.Sprintf("%s %.4f", o.Key(), o.Offering.Price))
	}
	if len(parts) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(parts[:most], ", "), len(parts)-most)
	}
	return strings.Join(parts, ", ")
}

func labelsText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ", ")
}

// podsText counts pods by name, where web-1 and web-2 are both web.
func podsText(pods []*corev1.Pod) string {
	counts := map[string]int{}
	for _, pod := range pods {
		name := pod.Name
		if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
			name = name[:i]
		}
		counts[name]++
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 1 {
			parts = append(parts, fmt.Sprintf("%s ×%d", name, counts[name]))
		} else {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ", ")
}

func namesText(pods []*corev1.Pod) string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Name
	}
	return strings.Join(names, ", ")
}

// writePending lists the pods without a place, those with one reason together.
func writePending(b *strings.Builder, plan *provisioning.Plan) {
	var reasons []*provisioning.Explanation
	pods := map[*provisioning.Explanation][]*corev1.Pod{}
	for _, u := range plan.Unplaced {
		if pods[u.Explanation] == nil {
			reasons = append(reasons, u.Explanation)
		}
		pods[u.Explanation] = append(pods[u.Explanation], u.Pod)
	}
	for _, r := range reasons {
		fmt.Fprintf(b, "pending %s (%s)\n    %s\n", podsText(pods[r]), causesText(r), r)
	}
}

// writeGivenUp shows what pods would rather have.
func writeGivenUp(b *strings.Builder, plan *provisioning.Plan) {
	for i := range plan.GivenUp {
		g := &plan.GivenUp[i]
		fmt.Fprintf(b, "given up for %s (%s)\n    %s\n", podsText(g.Pods), g.Cause, g)
	}
}

// writeStatic tells of the pools with a fixed number of nodes.
func writeStatic(b *strings.Builder, plan *provisioning.Plan) {
	for _, s := range plan.Static {
		fmt.Fprintf(b, "static %s: %d node", s.Pool.Name, s.Active)
		if s.Active != 1 {
			b.WriteString("s")
		}
		if s.Missing > 0 {
			fmt.Fprintf(b, ", %d to launch", s.Missing)
		}
		if s.HeldBack > 0 {
			fmt.Fprintf(b, ", %d held back (%s)", s.HeldBack, s.Held)
		}
		if s.Excess > 0 {
			fmt.Fprintf(b, ", %d to remove: %s", s.Excess, strings.Join(s.Remove, ", "))
		}
		b.WriteString("\n")
		for _, pods := range s.Pods {
			fmt.Fprintf(b, "    one for %s\n", podsText(pods))
		}
	}
}

// writeBuffers tells where spare room is.
func writeBuffers(b *strings.Builder, plan *provisioning.Plan) {
	for _, s := range plan.Buffers {
		var parts []string
		for _, part := range []struct {
			n     int
			where string
		}{{s.Existing, "on existing nodes"}, {s.Fresh, "on new ones"}, {s.Unplaced, "without a place"}} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", part.n, part.where))
			}
		}
		fmt.Fprintf(b, "buffer %s: %s\n", s.Name, strings.Join(parts, ", "))
		if s.Explanation != nil {
			fmt.Fprintf(b, "    %s\n", s.Explanation)
		}
	}
}

// writeOverlays tells what became of overlays.
func writeOverlays(b *strings.Builder, plan *provisioning.Plan) {
	for _, s := range plan.Overlays {
		fmt.Fprintf(b, "overlay %s: selects %d offerings of %d types, sets the price of %d and the capacity of %d\n",
			s.Name, s.Offerings, s.InstanceTypes, s.Priced, s.Resized)
		for _, c := range s.Conflicts {
			what := fmt.Sprintf("the price of %s", c.Offering)
			if c.Resource != "" {
				what = fmt.Sprintf("%s of %s", c.Resource, c.Offering.InstanceType)
			}
			fmt.Fprintf(b, "    gives way to %s in NodePool %s on %s\n", c.With[0], c.NodePool, what)
		}
		for _, f := range s.Faults {
			fmt.Fprintf(b, "    %s\n", f.Error())
		}
	}
}

// causesText names the causes as programs see them.
func causesText(r *provisioning.Explanation) string {
	if r.Cause != provisioning.CauseNodePools {
		return string(r.Cause)
	}
	var parts []string
	for _, p := range r.Pools {
		parts = append(parts, string(p.Cause))
	}
	return strings.Join(parts, ", ")
}

func faultsText(err error) string {
	lines := []string{"the input is refused"}
	for _, f := range provisioning.Faults(err) {
		lines = append(lines, "    "+f.Error())
	}
	return strings.Join(lines, "\n")
}
