package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
)

// labelled lists the pods to place with the values that they have for some labels.
func labelled(c *manifest.Cluster, keys ...string) string {
	var out []string
	for _, p := range c.Pods {
		text := p.Name
		if i := strings.LastIndex(text, "-"); len(text)-i == 6 { // a generated name
			text = text[:i] + "-R"
		}
		for _, key := range keys {
			text += "," + p.Labels[key]
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// revision returns a manifest of a ReplicaSet of Deployment web, whose template has the image.
func revision(hash, image string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"namespace":"shop","name":"web-%s","uid":"u-%s",
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"2","controller":true}]},
		"spec":{"replicas":1,"template":{"metadata":{"labels":{"app":"web","pod-template-hash":%q}},
		"spec":{"containers":[{"name":"a","image":%q,"resources":{"limits":{"cpu":1}}}]}}}}`, hash, hash, hash, image)
}

func TestLabelsOfADeployment(t *testing.T) {
	const hash = "pod-template-hash"
	web := docs(workload("Deployment", "web", "replicas: 2\n  selector: {matchLabels: {app: web}}"), node("n1", ""))
	live := func(hash string) string {
		return strings.NewReplacer(`"app":"web"`, `"app":"web","pod-template-hash":"`+hash+`"`, `"spec":{`, `"spec":{"nodeName":"n1",`).
			Replace(owned("web-"+hash+"-1", "ReplicaSet", "web-"+hash, running))
	}
	c := mustRead(t, docs(web, revision("old", "v1"), revision("new", ""), live("old")))
	require.Equal(t, "web-new-R,new", labelled(c, hash), "the ReplicaSet of the same template")
	require.Equal(t, "web-new", c.Pods[0].OwnerReferences[0].Name)
	require.EqualValues(t, "u-new", c.Pods[0].OwnerReferences[0].UID)

	c = mustRead(t, docs(web, live("one")))
	require.Equal(t, "web-one-R,one", labelled(c, hash), "there is no ReplicaSet, and one revision runs")
	require.Equal(t, "web-one", c.Pods[0].OwnerReferences[0].Name)

	for name, docs := range map[string]string{
		"another template": docs(web, revision("old", "v1"), live("old")),
		"two revisions":    docs(strings.Replace(web, "replicas: 2", "replicas: 3", 1), live("one"), live("two")),
	} {
		c = mustRead(t, docs)
		require.Len(t, c.Pods, 1, name)
		made := c.Pods[0].Labels[hash]
		require.NotContains(t, []string{"", "old", "one", "two"}, made, name)
		require.Equal(t, "web-"+made, c.Pods[0].OwnerReferences[0].Name, name)
	}
}

func TestLabelsOfAStatefulSet(t *testing.T) {
	keys := []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"}
	c := mustRead(t, workload("StatefulSet", "db", "replicas: 3\n  ordinals: {start: 4}\n  updateStrategy: {rollingUpdate: {partition: 1}}")+
		"status: {currentRevision: db-1, updateRevision: db-2}")
	require.Equal(t, "db-4,db-4,4,db-1 db-5,db-5,5,db-2 db-6,db-6,6,db-2", labelled(c, keys...))
	require.Equal(t, "web", c.Pods[0].Labels["app"])

	c = mustRead(t, workload("StatefulSet", "db", "replicas: 2"))
	require.Regexp(t, "^db-[a-z0-9]+$", c.Pods[0].Labels["controller-revision-hash"])
	require.Equal(t, c.Pods[0].Labels["controller-revision-hash"], c.Pods[1].Labels["controller-revision-hash"])
}

func TestLabelsOfAJob(t *testing.T) {
	names := []string{"batch.kubernetes.io/job-name", "job-name"}
	c := mustRead(t, workload("Job", "sum", "parallelism: 1"))
	require.Equal(t, "sum-R,sum,sum", labelled(c, names...))
	uid := string(c.Pods[0].OwnerReferences[0].UID)
	require.Equal(t, "sum-R,"+uid+","+uid, labelled(c, "batch.kubernetes.io/controller-uid", "controller-uid"))
	require.Regexp(t, "^[0-9a-f-]{36}$", uid, "a label can have it as its value")

	c = mustRead(t, workload("Job", "sum", "manualSelector: true"))
	require.Equal(t, "sum-R,,", labelled(c, names...))

	const index = "batch.kubernetes.io/job-completion-index"
	live := strings.Replace(owned("sum-2-abcde", "Job", "sum", running), `"app":"web"`, `"batch.kubernetes.io/job-completion-index":"2"`, 1)
	c = mustRead(t, docs(workload("Job", "sum", "completionMode: Indexed\n  completions: 9\n  parallelism: 4")+
		"status: {succeeded: 4, completedIndexes: '0,3-5'}", live))
	require.Equal(t, "sum-1-R,1 sum-2-R,2 sum-6-R,6 sum-7-R,7", labelled(c, index), "one of them was there")
}

func TestTemplatesThatNameTheirNode(t *testing.T) {
	pinned := strings.Replace(workload("Deployment", "web", "replicas: 2"), "spec: {containers", "spec: {nodeName: n1, containers", 1)
	c := mustRead(t, docs(pinned, workload("Deployment", "free", "replicas: 1"), node("n1", "")))
	require.Equal(t, "free", c.Pods[0].OwnerReferences[0].Name[:4])
	require.Len(t, c.Pods, 1)
	require.Len(t, c.Nodes[0].Pods, 2)
	require.Empty(t, c.Notes)

	c = mustRead(t, docs(pinned, workload("Deployment", "free", "replicas: 1")))
	require.Len(t, c.Pods, 1)
	require.Equal(t, []string{"Deployment shop/web: spec.template.spec.nodeName names node n1, which is not in the input; " +
		"its pods (2) run there or nowhere and are not planned for"}, c.Notes)
}

func TestRuntimeClasses(t *testing.T) {
	kata := object("node.k8s.io/v1", "RuntimeClass", "kata",
		"handler: kata\noverhead: {podFixed: {cpu: 250m}}\nscheduling: {nodeSelector: {vm: 'yes'}}")
	with := func(manifest, more string) string {
		return strings.NewReplacer("spec: {containers", "spec: {runtimeClassName: kata, "+more+"containers").Replace(manifest)
	}
	all := docs(with(workload("Deployment", "web", "replicas: 2"), ""), with(workload("DaemonSet", "log", "minReadySeconds: 0"), ""),
		with(pod("own", container), ""), buffer("spec: {replicas: 2, scalableRef: {kind: Deployment, name: web}}"))
	c := mustRead(t, docs(kata, all))
	for _, p := range append(c.Pods, c.DaemonSetPods...) {
		require.Equal(t, "250m", p.Spec.Overhead.Cpu().String(), p.Name)
		require.Equal(t, map[string]string{"vm": "yes"}, p.Spec.NodeSelector, p.Name)
	}
	require.Len(t, c.Pods, 3)
	require.Equal(t, "250m", c.Buffers[0].Template.Spec.Overhead.Cpu().String())
	require.Empty(t, c.Notes)

	c = mustRead(t, all)
	require.Equal(t, []string{"RuntimeClass kata is not in the input; the overhead, node selector and tolerations that it adds to its pods (6) are missing"}, c.Notes)

	c = mustRead(t, docs(kata, with(workload("Deployment", "web", "replicas: 2"), "nodeSelector: {vm: 'no'}, ")))
	require.Empty(t, c.Pods)
	require.Equal(t, []string{`Deployment shop/web: no pod is planned for, because the API server would refuse it: ` +
		`spec.template.spec.nodeSelector[vm] is "no", and RuntimeClass kata wants "yes"; remove one of the two`}, c.Notes)

	admitted := strings.Replace(with(pod("own", container), "nodeSelector: {vm: 'no'}, "), "name: own", "name: own, uid: u", 1)
	c = mustRead(t, docs(kata, admitted))
	require.Len(t, c.Pods, 1, "it is there, so it was admitted")
	require.Nil(t, c.Pods[0].Spec.Overhead)
	require.Empty(t, c.Notes)
}
