package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/report"
)

// small returns the flags for a plan that prices of the fake cloud do not change.
func small(more ...string) []string {
	return append([]string{"-f", "testdata/small.yaml", "-instance-types", "testdata/types.yaml"}, more...)
}

// planOf runs the program and reads its json.
func planOf(t *testing.T, stdin string, args ...string) report.Plan {
	t.Helper()
	code, stdout, stderr := call(stdin, append(args, "-o", "json")...)
	require.Equal(t, 0, code, stderr)
	var r report.Plan
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	return r
}

func TestExplain(t *testing.T) {
	first := planOf(t, "", small()...).Order[0]
	for name, pod := range map[string]string{"explain-new.txt": first, "explain-pending.txt": "default/giant"} {
		code, stdout, _ := call("", small("-explain", pod)...)
		require.Equal(t, 0, code)
		golden.Equal(t, stdout, "golden", name)
	}
}

const oneNode = `
apiVersion: v1
kind: Node
metadata:
  name: node-a
  labels: {kubernetes.io/hostname: node-a, kubernetes.io/arch: amd64, kubernetes.io/os: linux, topology.kubernetes.io/zone: zone-a}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 20}}
---
apiVersion: v1
kind: Pod
metadata: {name: settled}
spec: {nodeName: node-a, containers: [{name: a, resources: {requests: {cpu: 1}}}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {template: {spec: {containers: [{name: a}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: newcomer}
spec: {tolerations: [{operator: Exists}], containers: [{name: a, resources: {requests: {cpu: 1}}}]}
`

func TestExplainABoundPod(t *testing.T) {
	code, stdout, _ := call(oneNode, "-f", "-", "-explain", "default/newcomer")
	require.Equal(t, 0, code)
	require.Equal(t, "Pod default/newcomer goes to existing node node-a.\n\n"+
		"  order       number 1 of the 1 pod to bind\n"+
		"  asks for    cpu=1, pods=1\n"+
		"  beside      settled\n", stdout)
}

func TestQuestionsWithoutAnAnswer(t *testing.T) {
	for _, tt := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{oneNode, []string{"-f", "-", "-explain", "default/newcommer"},
			"-explain default/newcommer: neither a pod to place nor a workload of one has this name; did you mean default/newcomer?"},
		{oneNode, []string{"-f", "-", "-explain", "default/something-else"},
			"-explain default/something-else: neither a pod to place nor a workload of one has this name; the first is default/newcomer"},
		{oneNode, []string{"-f", "-", "-explain", "shop/newcomer"},
			"-explain shop/newcomer: neither a pod to place nor a workload of one has this name; did you mean default/newcomer?"},
		{oneNode, []string{"-f", "-", "-explain", "newcomer"},
			"-explain newcomer: give NAMESPACE/POD, or the workload for the pod; did you mean default/newcomer?"},
		{oneNode, []string{"-f", "-", "-explain", "zzz"},
			"-explain zzz: give NAMESPACE/POD, or the workload for the pod; the first is default/newcomer"},
		{"", small("-explain", "default/wbe"),
			"-explain default/wbe: neither a pod to place nor a workload of one has this name; did you mean default/web?"},
		{oneNode, []string{"-f", "-", "-explain", "default/settled"},
			"-explain default/settled: the pod runs on node node-a and is not to be placed; -without node-a would move it"},
		{oneNode, []string{"-f", "-", "-explain", "default/agent"},
			"-explain default/agent: this is a DaemonSet, which runs on all nodes that suit it and is not placed"},
		{oneNode, []string{"-f", "-", "-why", "general-0001/small"}, "-why general-0001/small: the plan launches no node"},
		{oneNode, []string{"-f", "-", "-without", "node-b", "-without", "x"},
			"-without node-b: the input has no such node; did you mean node-a?\nwhatif: -without x: the input has no such node"},
		{"", small("-why", "genral-0001/small"),
			"-why genral-0001/small: the plan has no new node genral-0001; did you mean general-0001?"},
		{"", small("-why", "x/small"), "-why x/small: the plan has no new node x; the first is general-0001"},
		{"", small("-why", "general-0001/smal"), "-why general-0001/smal: there is no instance type smal; did you mean small?"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			stderr := program.Refuses(t, tt.stdin, tt.args)
			require.Equal(t, "whatif: "+tt.want+"\n", strings.TrimPrefix(stderr, "whatif: ignored 1 ConfigMap\n"))
		})
	}
}

// TestDaemonsToCome: room that is set aside for a DaemonSet is used, until its pod
// runs and asks for it itself.
func TestDaemonsToCome(t *testing.T) {
	cpu := func(spec, more string) float64 {
		text := strings.Replace(oneNode, "{template: {spec: {containers: [{name: a}]}}}",
			"{template: {spec: {"+spec+"containers: [{name: a, resources: {requests: {cpu: 500m}}}]}}}", 1)
		r := planOf(t, strings.Replace(text, "status: {allocatable", "spec: {taints: [{key: gpu, effect: NoSchedule}]}\nstatus: {allocatable", 1)+more, "-f", "-")
		require.Len(t, r.Bindings, 1)
		return r.Bindings[0].Utilization.CPU
	}
	const all = "tolerations: [{operator: Exists}], "
	require.Equal(t, 0.5, cpu("", ""), "its taint is not tolerated")
	require.Equal(t, 0.625, cpu(all, ""))
	require.Equal(t, 0.625, cpu("tolerations: [{key: gpu, operator: Exists}], ", ""))
	require.Equal(t, 0.5, cpu(all+"nodeSelector: {kubernetes.io/arch: arm64}, ", ""))
	require.Equal(t, 0.625, cpu(all, `---
apiVersion: v1
kind: Pod
metadata: {name: agent-1, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]}
spec: {nodeName: node-a, containers: [{name: a, resources: {requests: {cpu: 500m}}}]}
`), "it runs")
}

// TestExplainByWorkload: who asks for a workload is told one of its pods.
func TestExplainByWorkload(t *testing.T) {
	code, stdout, stderr := call("", small("-explain", "default/web")...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "of Deployment web goes to new node")

	// One that is pending tells more than those that have a place.
	text := strings.NewReplacer("  template:\n    spec:\n      nodeClassRef", "  limits: {cpu: 2}\n  template:\n    spec:\n      nodeClassRef",
		"replicas: 3", "replicas: 9").Replace(read(t, "testdata/small.yaml"))
	code, stdout, stderr = call(text, "-f", "-", "-instance-types", "testdata/types.yaml")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "web", "some have a place")
	code, stdout, stderr = call(text, "-f", "-", "-instance-types", "testdata/types.yaml", "-explain", "default/web")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "of Deployment web stays pending.")
	output.Fits(t, stdout)
}

func TestWhy(t *testing.T) {
	for _, name := range []string{"small", "large"} {
		code, stdout, _ := call("", small("-why", "general-0001/"+name)...)
		require.Equal(t, 0, code)
		golden.Equal(t, stdout, "golden", "why-"+name+".txt")
	}
}

func TestAnswersFitThePage(t *testing.T) {
	world, err := offline.Read(offline.Files{Sample: sample}, nil)
	require.NoError(t, err)
	in := world.Input()
	plan, err := provisioning.Solve(t.Context(), in, nil)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Create)
	for _, pod := range plan.Order {
		text, err := report.ExplainPod(pod.Namespace+"/"+pod.Name, in, plan, nil)
		require.NoError(t, err)
		output.Fits(t, text)
	}
}

func TestWithout(t *testing.T) {
	pool, _, _ := strings.Cut(read(t, "testdata/small.yaml"), "---\n")
	args := []string{"-f", "-", "-instance-types", "testdata/types.yaml"}
	stays := planOf(t, pool+"---"+oneNode, args...)
	require.Len(t, stays.Bindings, 1)
	require.Empty(t, stays.NewNodes)

	moves := planOf(t, pool+"---"+oneNode, append(args, "-without", "node-a", "-without", "node-a")...)
	require.True(t, moves.Verified)
	require.Empty(t, moves.Bindings)
	require.Equal(t, []string{"default/newcomer", "default/settled"}, moves.Order)
	require.Equal(t, 2, moves.Input.Pods)

	// A node that goes anyway is no other than one that is to go.
	leaving := strings.Replace(oneNode, "  name: node-a\n", "  name: node-a\n  deletionTimestamp: \"2026-01-02T03:04:05Z\"\n", 1)
	again := planOf(t, pool+"---"+leaving, append(args, "-without", "node-a")...)
	require.Equal(t, moves.NewNodes, again.NewNodes)

	// A StatefulSet creates a pod that is being deleted again, so the pod needs a place.
	member := strings.Replace(oneNode, "metadata: {name: settled}", `metadata: {name: settled, deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 30,
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: settled, uid: a, controller: true}]}`, 1)
	created := planOf(t, pool+"---"+member, append(args, "-without", "node-a")...)
	require.True(t, created.Verified)
	require.Equal(t, moves.Order, created.Order)
}

func TestPreferences(t *testing.T) {
	text := strings.Replace(read(t, "testdata/small.yaml"), "    spec:\n      containers:\n        - name: web\n", `
    metadata: {labels: {app: web}}
    spec:
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - {weight: 100, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-b]}]}}
      containers:
        - name: web
`, 1)
	// With prices that make a CPU cost the same everywhere, the zone is free.
	types := strings.NewReplacer("price: 0.04", "price: 0.10", "price: 0.35", "price: 0.45").Replace(read(t, "testdata/types.yaml"))
	file := filepath.Join(t.TempDir(), "types.yaml")
	require.NoError(t, os.WriteFile(file, []byte(types), 0o666))
	args := []string{"-f", "-", "-instance-types", file}
	require.Equal(t, "zone-b", planOf(t, text, args...).NewNodes[0].Zone)
	require.Equal(t, "zone-a", planOf(t, text, append(args, "-preferences", "Ignore")...).NewNodes[0].Zone)
}

func TestNodeFee(t *testing.T) {
	text := strings.Replace(read(t, "testdata/small.yaml"), "replicas: 3", "replicas: 12", 1)
	args := []string{"-f", "-", "-instance-types", "testdata/types.yaml"}
	cheap, few := planOf(t, text, args...), planOf(t, text, append(args, "-node-fee", "5")...)
	require.Less(t, len(few.NewNodes), len(cheap.NewNodes))
	require.Greater(t, few.Cost.USDPerHour, cheap.Cost.USDPerHour, "the fee is not in the cost")
	require.Less(t, few.Cost.USDPerHour, 5.0)
}

func TestReserved(t *testing.T) {
	types := read(t, "testdata/types.yaml") + `
  - name: booked
    requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: kubernetes.io/os, operator: In, values: [linux]}
    capacity: {cpu: 2, memory: 4Gi, pods: 20}
    offerings:
      - {zone: zone-a, capacityType: reserved, price: 0.001, reservationID: cr-1, reservationCapacity: 1}
`
	file := filepath.Join(t.TempDir(), "types.yaml")
	require.NoError(t, os.WriteFile(file, []byte(types), 0o666))
	text := strings.Replace(read(t, "testdata/small.yaml"), "[spot, on-demand]", "[reserved, spot, on-demand]", 1)
	text = strings.Replace(text, "cpu: 600m", "cpu: 1500m", 1)
	args := []string{"-f", "-", "-instance-types", file}
	fallback, strict := planOf(t, text, args...), planOf(t, text, append(args, "-reserved", "Strict")...)
	require.NotEqual(t, optionsOnReserved(fallback), optionsOnReserved(strict))
	require.Equal(t, map[string]bool{"reserved": true}, optionsOnReserved(strict))
}

// optionsOnReserved lists the capacity types that nodes with a reserved option
// may turn out to have.
func optionsOnReserved(r report.Plan) map[string]bool {
	out := map[string]bool{}
	for _, n := range r.NewNodes {
		if n.CapacityType != "reserved" {
			continue
		}
		for _, o := range n.Options {
			out[o.CapacityType] = true
		}
	}
	return out
}

func TestExtras(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/extras.yaml", "-instance-types", "testdata/types.yaml")
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	golden.Equal(t, stdout, "golden", "extras.txt")
}
