package manifest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const tmpl = `
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, resources: {limits: {cpu: 1}}}]}
`

// workload returns a manifest; spec is further lines of its spec.
func workload(kind, name, spec string) string {
	apiVersion := "apps/v1"
	switch kind {
	case "Job":
		apiVersion = "batch/v1"
	case "ReplicationController":
		apiVersion = "v1"
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {namespace: shop, name: %s}\nspec:\n  %s%s", apiVersion, kind, name, spec, tmpl)
}

// owned returns a manifest of a pod that a workload owns; status and meta are
// further fields.
func owned(name, kind, owner, status string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":%q,"labels":{"app":"web"},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":%q,"name":%q,"uid":"1","controller":true}]},
		"spec":{"containers":[{"name":"a"}]},"status":{%s}}`, name, kind, owner, status)
}

const (
	running   = `"phase":"Running"`
	succeeded = `"phase":"Succeeded"`
	failed    = `"phase":"Failed"`
)

func TestWorkloadsStandForThePodsTheyLack(t *testing.T) {
	const selector = "selector: {matchLabels: {app: web}}\n  "
	replicaSet := `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"namespace":"shop","name":"web-abc","uid":"1",
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"2","controller":true}]},
		"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"a"}]}}}}`
	for _, tt := range []struct {
		name string
		docs []string
		want string // a pattern for each pod
	}{
		{"replicas default to one", []string{workload("Deployment", "web", "")}, "web-R"},
		{"no replicas", []string{workload("Deployment", "web", "replicas: 0")}, ""},
		{"a Deployment without pods", []string{workload("Deployment", "web", "replicas: 3")}, "web-R web-R web-R"},
		{"a Deployment with some, through its ReplicaSet",
			[]string{workload("Deployment", "web", "replicas: 3"), replicaSet, owned("web-abc-1", "ReplicaSet", "web-abc", running)},
			"web-abc-1 web-R web-R"},
		{"a Deployment with some, by its selector",
			[]string{workload("Deployment", "web", selector+"replicas: 3"), owned("web-abc-1", "ReplicaSet", "web-abc", running)},
			"web-abc-1 web-R web-R"},
		{"pods of another ReplicaSet with the same labels",
			[]string{workload("Deployment", "web", selector+"replicas: 1"), owned("api-abc-1", "ReplicaSet", "api-abc", running)},
			"api-abc-1 web-R"},
		{"more pods than replicas are kept",
			[]string{workload("Deployment", "web", selector+"replicas: 1"), owned("web-abc-1", "ReplicaSet", "web-abc", running), owned("web-abc-2", "ReplicaSet", "web-abc", running)},
			"web-abc-1 web-abc-2"},
		{"pods that are over do not count",
			[]string{workload("Deployment", "web", selector+"replicas: 1"), owned("web-abc-1", "ReplicaSet", "web-abc", failed)},
			"web-R"},
		{"a ReplicaSet of its own", []string{workload("ReplicaSet", "web", "replicas: 2"), owned("web-1", "ReplicaSet", "web", running)}, "web-1 web-R"},
		{"a ReplicaSet whose Deployment is not there", []string{replicaSet}, "web-abc-R web-abc-R web-abc-R"},
		{"a ReplicationController", []string{workload("ReplicationController", "web", "replicas: 2"), owned("web-1", "ReplicationController", "web", running)}, "web-1 web-R"},
		{"a StatefulSet", []string{workload("StatefulSet", "db", "replicas: 3")}, "db-0 db-1 db-2"},
		{"a StatefulSet that counts from five", []string{workload("StatefulSet", "db", "replicas: 2\n  ordinals: {start: 5}")}, "db-5 db-6"},
		{"a StatefulSet fills the gaps",
			[]string{workload("StatefulSet", "db", "replicas: 3"), owned("db-1", "StatefulSet", "db", running), owned("db-2", "StatefulSet", "db", failed)},
			"db-0 db-1 db-2"},
		{"a Job runs one pod", []string{workload("Job", "job", "")}, "job-R"},
		{"a Job's parallelism", []string{workload("Job", "job", "parallelism: 3\n  completions: 10")}, "job-R job-R job-R"},
		{"a Job's last completions",
			[]string{workload("Job", "job", "parallelism: 3\n  completions: 4"), owned("job-1", "Job", "job", succeeded), owned("job-2", "Job", "job", succeeded), owned("job-3", "Job", "job", succeeded), owned("job-4", "Job", "job", failed)},
			"job-R"},
		{"a Job with a live pod",
			[]string{workload("Job", "job", "parallelism: 2\n  completions: 4"), owned("job-1", "Job", "job", running)},
			"job-1 job-R"},
		{"a work queue", []string{workload("Job", "job", "parallelism: 2")}, "job-R job-R"},
		{"a work queue that runs dry", []string{workload("Job", "job", "parallelism: 2"), owned("job-1", "Job", "job", succeeded)}, ""},
		{"a suspended Job", []string{workload("Job", "job", "suspend: true")}, ""},
		{"a Job that says it is done", []string{workload("Job", "job", "completions: 2") + "status: {conditions: [{type: Complete, status: 'True'}]}"}, ""},
		{"a Job that says how far it is", []string{workload("Job", "job", "parallelism: 9\n  completions: 5") + "status: {succeeded: 3}"}, "job-R job-R"},
		{"a CronJob is ignored", []string{"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {schedule: x}"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mustRead(t, docs(tt.docs...))
			random := regexp.MustCompile(`^(.*?)(-[24-9]+)?-[bcdfghjklmnpqrstvwxz24-9]{5}$`)
			var got []string
			for _, p := range c.Pods {
				got = append(got, p.Name)
			}
			want := strings.Fields(tt.want)
			require.Len(t, got, len(want), "got %v", got)
			for _, name := range want {
				found := false
				for i, have := range got {
					if base, ok := strings.CutSuffix(name, "-R"); have == name || ok && strings.HasPrefix(have, base+"-") && random.MatchString(have) {
						got, found = append(got[:i], got[i+1:]...), true
						break
					}
				}
				require.True(t, found, "%s in %v", name, got)
			}
		})
	}
}

func TestPodsOfADeployment(t *testing.T) {
	manifestText := workload("Deployment", "web", "replicas: 40")
	c := mustRead(t, manifestText)
	again := mustRead(t, manifestText)
	seen := map[string]bool{}
	for i, p := range c.Pods {
		require.Equal(t, p, again.Pods[i], "the same input gives the same pods")
		require.False(t, seen[p.Name])
		seen[p.Name] = true

		hash := p.Labels["pod-template-hash"]
		require.NotEmpty(t, hash)
		require.Equal(t, "web", p.Labels["app"])
		require.Len(t, p.OwnerReferences, 1)
		require.Equal(t, "ReplicaSet", p.OwnerReferences[0].Kind)
		require.Equal(t, "web-"+hash, p.OwnerReferences[0].Name)
		require.Regexp(t, "^web-"+hash+"-.{5}$", p.Name)
		require.Equal(t, "1", text(p.Spec.Containers[0].Resources.Requests, "cpu"), "requests default to limits")
	}
}

func TestNamesAreCutToFit(t *testing.T) {
	c := mustRead(t, workload("ReplicaSet", strings.Repeat("x", 80), "replicas: 2"))
	for _, p := range c.Pods {
		require.Len(t, p.Name, 63)
	}
}

func TestNewPodsAvoidTakenNames(t *testing.T) {
	taken := mustRead(t, workload("ReplicaSet", "web", "replicas: 1")).Pods[0].Name
	c := mustRead(t, docs(workload("ReplicaSet", "web", "replicas: 1"), pod(taken, container)))
	require.Len(t, c.Pods, 2)
	require.NotEqual(t, c.Pods[0].Name, c.Pods[1].Name)
}

func TestVolumesOfAStatefulSet(t *testing.T) {
	c := mustRead(t, workload("StatefulSet", "db", "replicas: 2\n  volumeClaimTemplates: [{metadata: {name: data}}]"))
	for i, want := range []string{"data-db-0", "data-db-1"} {
		require.Equal(t, want, c.Pods[i].Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
	}
}

// TestClaimsOfAStatefulSet: each pod that waits has its claims, those of the
// input as they are, and the others from the templates.
func TestClaimsOfAStatefulSet(t *testing.T) {
	const templates = "replicas: 3\n  volumeClaimTemplates: [{metadata: {name: data, labels: {tier: db}}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce]}}]"
	c := mustRead(t, docs(workload("StatefulSet", "db", templates),
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"}}`,
		strings.Replace(owned("db-2", "StatefulSet", "db", running), `"spec":{`, `"spec":{"nodeName":"node-a",`, 1),
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data-db-1}\nspec: {storageClassName: slow}"))
	require.Equal(t, []string{"shop/db-0", "shop/db-1"}, names(c.Pods))
	var got []string
	for _, claim := range c.Volumes.Claims {
		got = append(got, fmt.Sprintf("%s/%s %s %s", claim.Namespace, claim.Name, *claim.Spec.StorageClassName, claim.Labels["tier"]))
	}
	require.Equal(t, []string{"shop/data-db-0 fast db", "shop/data-db-1 slow "}, got)
	require.Equal(t, corev1.ClaimPending, c.Volumes.Claims[0].Status.Phase)
}

func TestDaemonSets(t *testing.T) {
	c := mustRead(t, workload("DaemonSet", "agent", "selector: {}"))
	require.Equal(t, []string{"shop/agent"}, names(c.DaemonSetPods))
	require.Empty(t, c.Pods)
	p := c.DaemonSetPods[0]
	require.Equal(t, "DaemonSet", p.OwnerReferences[0].Kind)
	require.Equal(t, "1", text(p.Spec.Containers[0].Resources.Requests, "cpu"))
}
