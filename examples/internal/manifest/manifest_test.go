package manifest_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

// read reads texts as files a.yaml, b.yaml and so on.
func read(texts ...string) (*manifest.Cluster, error) {
	var sources []manifest.Source
	for i, text := range texts {
		sources = append(sources, manifest.Source{Name: string(rune('a'+i)) + ".yaml", Data: []byte(text)})
	}
	return manifest.Read(manifest.Rules{}, sources...)
}

func mustRead(t *testing.T, texts ...string) *manifest.Cluster {
	t.Helper()
	c, err := read(texts...)
	require.NoError(t, err)
	return c
}

// names lists pods as namespace/name.
func names(pods []*corev1.Pod) []string {
	out := []string{}
	for _, p := range pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	return out
}

// docs joins YAML documents.
func docs(texts ...string) string { return strings.Join(texts, "\n---\n") }

// pod returns a manifest of a pod; more is further lines of its top level.
func pod(name, more string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: " + name + "}\n" + more
}

const container = "spec: {containers: [{name: a}]}\n"

func TestReadsAllKindsOfDocuments(t *testing.T) {
	item := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"NAME","namespace":"shop"},"spec":{"containers":[{"name":"a"}]}}`
	with := func(name string) string { return strings.ReplaceAll(item, "NAME", name) }
	untyped := `{"metadata":{"name":"p","namespace":"shop"},"spec":{"containers":[{"name":"a"}]}}`
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"one YAML document", pod("p", container), []string{"shop/p"}},
		{"several YAML documents", docs(pod("p", container), pod("q", container)), []string{"shop/p", "shop/q"}},
		{"JSON", with("p"), []string{"shop/p"}},
		{"a run of JSON objects", with("p") + "\n" + with("q") + with("r"), []string{"shop/p", "shop/q", "shop/r"}},
		{"a JSON array", "[" + with("p") + "," + with("q") + "]", []string{"shop/p", "shop/q"}},
		{"YAML that starts like JSON", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a}]}}", []string{"default/p"}},
		{"the List of kubectl", `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[` + with("p") + "," + with("q") + "]}", []string{"shop/p", "shop/q"}},
		{"a List in a List", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + with("p") + "]}]}", []string{"shop/p"}},
		{"a PodList, whose items do not say what they are", `{"apiVersion":"v1","kind":"PodList","items":[` + untyped + "]}", []string{"shop/p"}},
		{"an empty List", `{"apiVersion":"v1","kind":"List","items":[]}`, []string{}},
		{"a List without items", "apiVersion: v1\nkind: List\nitems:\n", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, names(mustRead(t, tt.text).Pods))
		})
	}
}

func TestReadsSourcesTogether(t *testing.T) {
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
	bound := pod("p", "spec: {nodeName: n1, containers: [{name: a}]}\n")
	c := mustRead(t, bound, node)
	require.Len(t, c.Nodes, 1)
	require.Equal(t, []string{"shop/p"}, names(c.Nodes[0].Pods))
	require.Empty(t, c.Pods)
}

func TestOrderDoesNotMatter(t *testing.T) {
	data, err := os.ReadFile("../../whatif/testdata/shop.yaml")
	require.NoError(t, err)
	parts := strings.Split(string(data), "\n---\n")
	forwards := mustRead(t, docs(parts...))
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	backwards := mustRead(t, docs(parts...))
	require.Equal(t, forwards.NodePools, backwards.NodePools)
	require.Equal(t, forwards.Nodes, backwards.Nodes)
	require.Equal(t, forwards.Pods, backwards.Pods)
	require.Equal(t, forwards.DaemonSetPods, backwards.DaemonSetPods)
	require.Len(t, forwards.NodePools, 3)
	require.Len(t, forwards.DaemonSetPods, 3)
	require.Empty(t, forwards.Ignored)
	require.Len(t, forwards.Classes, 1)
}

func TestCountsIgnoredKinds(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nspec: {whatever: 1}"
	cron := "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}"
	knative := "apiVersion: example.com/v1\nkind: Deployment\nmetadata: {name: a}"
	c := mustRead(t, docs(secret, secret, cron, knative))
	require.Equal(t, []manifest.KindCount{{"CronJob", 1}, {"Deployment", 1}, {"Secret", 2}}, c.Ignored)
}

func TestReadsPodDisruptionBudgets(t *testing.T) {
	budget := "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {namespace: shop, name: name}\n" +
		"spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}\nstatus: {disruptionsAllowed: 1}\n"
	c := mustRead(t, docs(strings.ReplaceAll(budget, "name: name", "name: b"), strings.ReplaceAll(budget, "name: name", "name: a")))
	require.Len(t, c.PodDisruptionBudgets, 2)
	require.Equal(t, "a", c.PodDisruptionBudgets[0].Name)
	require.EqualValues(t, 1, c.PodDisruptionBudgets[0].Status.DisruptionsAllowed)
	require.Empty(t, c.Ignored)
	_, err := read(strings.ReplaceAll(budget, "matchLabels: {app: web}", "matchExpressions: [{key: app, operator: Near}]"))
	require.ErrorContains(t, err, `a.yaml:4 (document 1): PodDisruptionBudget shop/name: spec.selector: "Near" is not a valid label selector operator; correct it`)
	_, err = read(strings.ReplaceAll(budget, "policy/v1", "policy/v1beta1"))
	require.ErrorContains(t, err, "policy/v1beta1 is not read by this program; convert the object to policy/v1")
}

// A dump of all versions has an object in several.
func TestOlderVersionsBesideThoseThatAreRead(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: web}\nspec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}}}"
	beta := "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: web}"
	alpha := "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: web}"
	for _, text := range []string{docs(pool, beta, alpha), docs(alpha, beta, pool)} {
		c := mustRead(t, text)
		require.Len(t, c.NodePools, 1)
		require.Equal(t, []string{"1 NodePool of karpenter.sh/v1beta1 not read: there in the version that is",
			"1 Provisioner of karpenter.sh/v1alpha5 not read: there in the version that is"}, c.Notes)
	}
	_, err := read(docs(pool, strings.Replace(beta, "web", "other", 1)))
	require.ErrorContains(t, err, "NodePool other: apiVersion: karpenter.sh/v1beta1 is not read by this program")
}

func TestPodsThatAreNotPlannedFor(t *testing.T) {
	c := mustRead(t, docs(
		pod("pending", container),
		pod("done", container+"status: {phase: Succeeded}"),
		pod("failed-on-a-node-that-is-gone", "spec: {nodeName: gone, containers: [{name: a}]}\nstatus: {phase: Failed}"),
		pod("gated", "spec: {schedulingGates: [{name: example.com/quota}], containers: [{name: a}]}"),
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"dying","deletionTimestamp":"2026-01-02T03:04:05Z"},"spec":{"containers":[{"name":"a"}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"daemon","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"","controller":true}]},"spec":{"containers":[{"name":"a"}]}}`,
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"full"},"status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"victim","deletionTimestamp":"2026-01-02T03:04:05Z"},"spec":{"nodeName":"full","containers":[{"name":"a"}]},"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}}`,
		pod("urgent", container+"status: {nominatedNodeName: full}"),
	))
	require.Equal(t, []string{"shop/pending"}, names(c.Pods))
	require.Equal(t, []string{
		"1 pending pod is being deleted and not planned for",
		"1 pod is held back by scheduling gates and not planned for",
		"1 pod is waiting for others that kube-scheduler preempts and not planned for",
		"1 pod is waiting for the node of their DaemonSet and not planned for",
	}, c.Notes)
}

func TestFieldsNewerThanThisProgram(t *testing.T) {
	const newer = "spec: {containers: [{name: a}], teleport: true}\n"
	_, err := read(pod("p", newer))
	require.ErrorContains(t, err, "Pod shop/p: spec.teleport: Forbidden: unknown field; remove it")

	c := mustRead(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, uid: 0b1f}\n"+newer)
	require.Equal(t, []string{"default/p"}, names(c.Pods))
	require.Equal(t, []string{"Pod default/p: spec.teleport is newer than this program and was ignored"}, c.Notes)
}

// Kubernetes 1.37 added fields that the types of 1.36 do not have.
func TestFieldsOfALaterKubernetes(t *testing.T) {
	c := mustRead(t, pod("p", "spec: {containers: [{name: a, livenessProbe: {httpGet: {port: 80, protocol: HTTP2}}}], evictionResponders: [{name: a}]}\n"))
	require.Equal(t, []string{"shop/p"}, names(c.Pods))
	require.Equal(t, []string{
		"Pod shop/p: spec.containers[0].livenessProbe.httpGet.protocol is newer than this program and was ignored",
		"Pod shop/p: spec.evictionResponders is newer than this program and was ignored",
	}, c.Notes)

	_, err := read(pod("p", "spec: {containers: [{name: a}], protocol: TCP}\n"))
	require.ErrorContains(t, err, "Pod shop/p: spec.protocol: Forbidden: unknown field")
}

func TestFaultsAreErrors(t *testing.T) {
	_, err := read(pod("p", "spec: {contaners: []}"), pod("q", "spec: {containers: [{nam: a}]}"))
	var all manifest.Faults
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 2)
	var first *manifest.Fault
	require.True(t, errors.As(err, &first))
	require.Equal(t, &manifest.Fault{File: "a.yaml", Document: 1, Line: 4, Object: "Pod shop/p",
		Field: "spec.contaners", Message: "Forbidden: unknown field; did you mean \"containers\"?"}, first)
}

func TestRequestsDefaultToLimits(t *testing.T) {
	c := mustRead(t, pod("p", `
spec:
  resources: {limits: {cpu: 4, memory: 8Gi}}
  initContainers:
    - {name: i, resources: {limits: {memory: 1Gi}}}
  containers:
    - {name: a, resources: {limits: {nvidia.com/gpu: 1, cpu: 2}, requests: {cpu: 1}}}
`))
	spec := c.Pods[0].Spec
	require.Equal(t, "1", text(spec.Containers[0].Resources.Requests, "nvidia.com/gpu"))
	require.Equal(t, "1", text(spec.Containers[0].Resources.Requests, "cpu"), "a request that is there stays")
	require.Equal(t, "1Gi", text(spec.InitContainers[0].Resources.Requests, "memory"))
	// The containers ask for CPU and memory, so the pod's limits do not speak
	// for them.
	require.Empty(t, spec.Resources.Requests)

	c = mustRead(t, pod("p", "spec: {resources: {limits: {cpu: 4}}, containers: [{name: a}]}"))
	require.Equal(t, "4", text(c.Pods[0].Spec.Resources.Requests, "cpu"))
}

func text(list corev1.ResourceList, name corev1.ResourceName) string {
	q, ok := list[name]
	if !ok {
		return ""
	}
	return q.String()
}

func TestReadsWhatKubectlPrints(t *testing.T) {
	data, err := os.ReadFile("testdata/dump.yaml")
	require.NoError(t, err)
	c := mustRead(t, string(data))
	require.Len(t, c.NodePools, 1)
	require.Len(t, c.Nodes, 1)
	require.Equal(t, "general-zx8lk", c.Nodes[0].NodeClaim.Name)
	require.Equal(t, []string{"shop/web-7d4b9c6f58-k2x9p"}, names(c.Nodes[0].Pods))
	require.Len(t, c.Pods, 2, "the pending one and the one that is still to be made")
	require.Contains(t, names(c.Pods), "shop/web-7d4b9c6f58-pn4tz")
	require.Equal(t, []string{"Node ip-10-0-17-21.ec2.internal: status.quantumFlux is newer than this program and was ignored"}, c.Notes)
}
