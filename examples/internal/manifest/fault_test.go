package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestFaults(t *testing.T) {
	deployment := func(spec string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n" + spec
	}
	const tmpl = "  template:\n    spec:\n      containers:\n        - name: a\n"
	for _, tt := range []struct {
		name, text string
		want       []string // each after "a.yaml"
	}{
		{"nothing at all", "", []string{
			": holds no object; look whether the command that wrote it failed"}},
		{"only comments", "# nothing\n---\n# here\n", []string{
			": holds no object; look whether the command that wrote it failed"}},
		{"not YAML", "a: b\n---\nx: [1, 2\ny: 3\n", []string{
			":1 (document 1): apiVersion and kind is missing; every object needs apiVersion and kind",
			":3 (document 2): not valid YAML: did not find expected ',' or ']'"}},
		{"text where an object should be", "kubectl: command not found: x", []string{
			":1 (document 1): not valid YAML: mapping values are not allowed in this context"}},
		{"a scalar", "error", []string{
			`:1 (document 1): want an object with apiVersion and kind, got a string: "error"`}},
		{"a scalar in a List", "apiVersion: v1\nkind: List\nitems:\n  - 7\n", []string{
			`:4 (document 1): List: items[0]: want an object with apiVersion and kind, got a number: 7`}},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}", []string{
			":1 (document 1): a: kind is missing; every object needs apiVersion and kind"}},
		{"an old version", "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}", []string{
			":1 (document 1): NodePool a: apiVersion: karpenter.sh/v1beta1 is not read by this program; convert the object to karpenter.sh/v1 with examples/migrate"}},
		{"the alpha days", "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\n---\napiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}", []string{
			":2 (document 1): Provisioner a: kind: Provisioner of karpenter.sh/v1alpha5 is not read by this program; convert it to NodePool of v1 with examples/migrate",
			":6 (document 2): AWSNodeTemplate a: kind: AWSNodeTemplate of karpenter.k8s.aws/v1alpha1 is not read by this program; convert it to EC2NodeClass of v1 with examples/migrate"}},
		{"no name", "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\nspec: {containers: [{name: a}]}", []string{
			":3 (document 1): Pod default/(no name): metadata.name: is missing; give the object a name"}},
		{"a bad name", "apiVersion: v1\nkind: Node\nmetadata:\n  name: Node_1", []string{
			":4 (document 1): Node Node_1: metadata.name: is not a name; use up to 253 lower-case letters, digits, '-' and '.'"}},
		{"a bad namespace", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: a.b", []string{
			":5 (document 1): Pod a.b/a: metadata.namespace: is not a name; use up to 63 lower-case letters, digits and '-'"}},
		{"twice the same", docs(pod("p", container), pod("p", container)), []string{
			":9 (document 2): Pod shop/p: metadata.name: stands twice in the input, first in a.yaml, document 1; remove one of them"}},
		{"a duplicate key", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\nspec: {containers: [{name: a}]}", []string{
			`:5 (document 1): Pod default/b: metadata.name: Duplicate value: "name": the key appears more than once in this object; keep one`}},
		{"more behind a value", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n", []string{
			":1 (document 1): not valid YAML: the document goes on behind its first value; begin each object with a line of ---"}},
		{"a duplicate key of an object that affects no plan", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  a: b\n  a: c\n", []string{
			`:7 (document 1): Secret a: data.a: Duplicate value: "a": the key appears more than once in this object; keep one`}},
		{"a duplicate key in JSON", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","name":"b"},"spec":{"containers":[{"name":"a"}]}}`, []string{
			`:1 (document 1): Pod default/b: metadata.name: Duplicate value: "name": the key appears more than once in this object; keep one`}},
		{"a misspelt field does not hide a bad value", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: x\nspec:\n  template:\n    spec:\n      requirments: []\n      nodeClassRef: {group: a, kind: B, name: c}\n  weight: 500\n", []string{
			`:8 (document 1): NodePool x: spec.template.spec.requirments: Forbidden: unknown field; did you mean "requirements"?`,
			":10 (document 1): NodePool x: spec.weight: Invalid value: 500: want 1 to 100; leave it out for the lowest weight, 0"}},
		{"misspelt fields, each with its line", deployment(`  replicas: 2
  template:
    spec:
      containers:
        - name: a
          resuorces:
            requests: {cpu: 1}
          Image: b
      tolerations:
        - key: a
          xyzzy: b
`), []string{
			":11 (document 1): Deployment default/web: spec.template.spec.containers[0].resuorces: Forbidden: unknown field; did you mean \"resources\"?",
			":13 (document 1): Deployment default/web: spec.template.spec.containers[0].Image: Forbidden: unknown field; did you mean \"image\"?",
			":16 (document 1): Deployment default/web: spec.template.spec.tolerations[0].xyzzy: Forbidden: unknown field; remove it",
		}},
		{"other types that read themselves", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  creationTimestamp: yesterday\n  labels: {app.kubernetes.io/version: 1.5, canary: yes}\nspec:\n  containers:\n    - name: a\n      ports: 80\n      livenessProbe: {tcpSocket: {port: []}}", []string{
			`:5 (document 1): Pod default/a: metadata.creationTimestamp: Invalid value: "yesterday": parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`,
			`:6 (document 1): Pod default/a: metadata.labels.canary: Invalid value: true: want a string, got a boolean; put it in quotes`,
			`:6 (document 1): Pod default/a: metadata.labels[app.kubernetes.io/version]: Invalid value: 1.5: want a string, got a number; put it in quotes`,
			`:10 (document 1): Pod default/a: spec.containers[0].ports: Invalid value: 80: want a list, got a number`,
			`:11 (document 1): Pod default/a: spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: "[...]": want a whole number of 32 bits, or a string, got a list`,
		}},
		{"no containers", docs(pod("p", "spec: {containers: []}"), deployment("  replicas: 1\n")), []string{
			":4 (document 1): Pod shop/p: spec.containers: is empty; a pod needs a container",
			":10 (document 2): Deployment default/web: spec.template.spec.containers: is empty; a pod needs a container"}},
		{"labels that none can have", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    app: " + strings.Repeat("x", 1<<20) +
			"\n    a/b/c: d\nspec:\n  nodeSelector: {disk: fast!}\n  containers: [{name: a}]", []string{
			`:5 (document 1): Pod default/a: metadata.labels: has key "a/b/c", which no label can have; use up to 63 letters, digits, '-', '_' and '.', behind a DNS name and '/' if need be`,
			`:5 (document 1): Pod default/a: metadata.labels: has value "` + strings.Repeat("x", 39) + `…" of 1048576 bytes for key "app", which no label can have; ` +
				`use up to 63 letters, digits, '-', '_' and '.', with a letter or digit at either end`,
			`:9 (document 1): Pod default/a: spec.nodeSelector: has value "fast!" of 5 bytes for key "disk", which no label can have; ` +
				`use up to 63 letters, digits, '-', '_' and '.', with a letter or digit at either end`}},
		{"labels of a node and of a template", docs("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {rack: _}}",
			deployment("  template:\n    metadata:\n      labels: {a b: c}\n    spec:\n      containers:\n        - name: a\n")), []string{
			`:3 (document 1): Node n1: metadata.labels: has value "_" of 1 bytes for key "rack", which no label can have; ` +
				`use up to 63 letters, digits, '-', '_' and '.', with a letter or digit at either end`,
			`:12 (document 2): Deployment default/web: spec.template.metadata.labels: has key "a b", which no label can have; ` +
				`use up to 63 letters, digits, '-', '_' and '.', behind a DNS name and '/' if need be`}},
		{"negative replicas", deployment("  replicas: -1\n" + tmpl), []string{
			":6 (document 1): Deployment default/web: spec.replicas: is -1; it must not be negative"}},
		{"too many replicas", deployment("  replicas: 2000000000\n" + tmpl), []string{
			":6 (document 1): Deployment default/web: spec.replicas: is 2000000000, but at most 200000 pods can be planned at once; lower it"}},
		{"too many together", docs(deployment("  replicas: 200000\n"+tmpl), strings.Replace(deployment("  replicas: 1\n"+tmpl), "web", "xyz", 1)), []string{
			":13 (document 2): Deployment default/xyz: brings the pods that workloads stand for above 200000, more than can be planned at once; lower the replicas"}},
		{"a broken selector", deployment("  selector: {matchExpressions: [{key: a, operator: Near}]}\n" + tmpl), []string{
			`:6 (document 1): Deployment default/web: spec.selector: "Near" is not a valid label selector operator; correct it`}},
		{"a request above its limit", docs(
			pod("p", "spec:\n  resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}\n  initContainers: [{name: i, resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}}]\n"+
				"  containers:\n    - {name: a, resources: {requests: {cpu: 1}, limits: {cpu: 1, memory: 1Gi}}}\n"),
			deployment("  template:\n    spec:\n      containers:\n        - name: a\n          resources:\n            requests:\n              example.com/gpu: 3\n"+
				"            limits:\n              example.com/gpu: 2\n")), []string{
			":5 (document 1): Pod shop/p: spec.resources.requests.memory: is 2Gi, above the limit of 1Gi; lower the request or raise the limit",
			":6 (document 1): Pod shop/p: spec.initContainers[0].resources.requests.cpu: is 2, above the limit of 1500m; lower the request or raise the limit",
			":22 (document 2): Deployment default/web: spec.template.spec.containers[0].resources.requests[example.com/gpu]: is 3, above the limit of 2; lower the request or raise the limit"}},
		{"a selector of another template", docs(workload("StatefulSet", "db", "selector: {matchLabels: {app: db}}"), workload("DaemonSet", "agent", "selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}"),
			workload("ReplicationController", "rc", "selector: {app: rc}"), workload("StatefulSet", "web", "selector: {matchLabels: {app: web}}")), []string{
			":7 (document 1): StatefulSet shop/db: spec.template.metadata.labels: do not match spec.selector, app=db; change one of the two",
			":17 (document 2): DaemonSet shop/agent: spec.template.metadata.labels: do not match spec.selector, !app; change one of the two",
			":27 (document 3): ReplicationController shop/rc: spec.template.metadata.labels: do not match spec.selector, app=rc; change one of the two"}},
		{"two default PriorityClasses", docs(object("scheduling.k8s.io/v1", "PriorityClass", "a", "value: 1\nglobalDefault: true"),
			object("scheduling.k8s.io/v1", "PriorityClass", "b", "value: 1"), object("scheduling.k8s.io/v1", "PriorityClass", "c", "value: 2\nglobalDefault: true")), []string{
			":16 (document 3): PriorityClass c: globalDefault: is true, as it is in PriorityClass a, but a cluster has one default; set it to false in one of them"}},
		{"a broken selector of a budget", object("policy/v1", "PodDisruptionBudget", "b", "spec: {selector: {matchExpressions: [{key: a, operator: Near}]}}"), []string{
			`:4 (document 1): PodDisruptionBudget default/b: spec.selector: "Near" is not a valid label selector operator; correct it`}},
		{"a pod on a node that is not there", docs(
			pod("p", "spec: {nodeName: gone, containers: [{name: a}]}"),
			pod("q", "spec: {nodeName: gone, containers: [{name: a}]}"),
			pod("r", "spec: {nodeName: lost, containers: [{name: a}]}")), []string{
			":4 (document 1): Pod shop/p: spec.nodeName: is bound to Node gone, as is Pod shop/q, which is not in the input; add the node (kubectl get nodes -o yaml) or remove spec.nodeName",
			":14 (document 3): Pod shop/r: spec.nodeName: is bound to Node lost, which is not in the input; add the node (kubectl get nodes -o yaml) or remove spec.nodeName"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := read(tt.text)
			require.Error(t, err)
			require.Nil(t, c)
			var want []string
			for _, line := range tt.want {
				want = append(want, "a.yaml"+line)
			}
			require.Equal(t, want, strings.Split(err.Error(), "\n"))
		})
	}
}

// TestFaultsOfDecodingDoNotHideOthers has values that cannot be decoded, and other values that are wrong.
func TestFaultsOfDecodingDoNotHideOthers(t *testing.T) {
	_, err := read(docs(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: x}
spec:
  weight: 500
  limits: {cpu: -1, memory: abc}
  template:
    spec:
      terminationGracePeriod: 1d
      nodeClassRef: {group: a, kind: B, name: ""}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [5], minValues: 60}
        - {key: a b, operator: In, values: 5, minValues: 3}
`, `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {a: _}}
spec:
  replicas: -1
  minReadySeconds: soon
  template: {spec: {containers: []}}
`))
	require.Error(t, err)
	var faults manifest.Faults
	require.ErrorAs(t, err, &faults)
	got := []string{}
	for _, f := range faults {
		got = append(got, fmt.Sprint(f.Line, " ", f.Field))
	}
	const reqs = "spec.template.spec.requirements"
	require.Equal(t, []string{
		"5 spec.weight", "6 spec.limits.cpu", "6 spec.limits.memory", "9 spec.template.spec.terminationGracePeriod",
		"10 spec.template.spec.nodeClassRef.name", "12 " + reqs + "[0].values[0]", "13 " + reqs + "[1].key", "13 " + reqs + "[1].values",
		"18 metadata.labels", "20 spec.replicas", "21 spec.minReadySeconds", "22 spec.template.spec.containers",
	}, got)
}

// TestFaultsThatOnlyFollow puts a value of the wrong type in place of each value of a sound NodePool
// and of a sound Deployment, and misspells each field: that is the only fault.
func TestFaultsThatOnlyFollow(t *testing.T) {
	for _, text := range []string{`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: x}
spec:
  weight: 5
  limits:
    cpu: 1
  disruption:
    consolidateAfter: 5m
    budgets:
      - nodes: "1"
        schedule: "@daily"
        duration: 1h
        reasons:
          - Empty
  template:
    spec:
      nodeClassRef:
        group: a
        kind: B
        name: c
      taints:
        - effect: NoSchedule
          key: a
        - effect: NoExecute
          key: a
      requirements:
        - key: karpenter.sh/capacity-type
          operator: In
          minValues: 2
          values:
            - spot
            - on-demand
        - key: a
          operator: Gt
          values:
            - "1"
`, `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: a
          resources:
            requests:
              cpu: 1
            limits:
              cpu: 2
`} {
		_, err := read(text)
		require.NoError(t, err)
		lines := strings.SplitAfter(text, "\n")
		for i := 4; i < len(lines)-1; i++ {
			name, value, _ := strings.Cut(strings.TrimSuffix(lines[i], "\n"), ":")
			below := i + 1 // the first line behind the value
			for value == "" && below < len(lines)-1 && indent(lines[below]) > indent(lines[i]) {
				below++
			}
			with := func(line string, rest int) string {
				return strings.Join(lines[:i], "") + line + "\n" + strings.Join(lines[rest:], "")
			}
			wrong := []string{with(name+": [[]]", below), with(name+"q:"+value, i+1)}
			if strings.HasSuffix(name, "cpu") || strings.HasSuffix(name, "app") {
				wrong = wrong[:1] // any key will do
			}
			if !strings.Contains(lines[i], ":") { // an element of a list
				wrong = []string{with(name[:strings.Index(name, "-")]+"- [[]]", below)}
			}
			for _, text := range wrong {
				_, err := read(text)
				var faults manifest.Faults
				require.ErrorAs(t, err, &faults, text)
				require.Len(t, faults, 1, "%s\n%v", text, err)
			}
		}
	}
}

// indent counts the blanks before a line, and the dash of a list.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " -")) }

// TestFaultsThatAreAlike has the same fault in many objects: three are told, and how many
// more there are. Others stand where they belong, and errors.As finds all.
func TestFaultsThatAreAlike(t *testing.T) {
	var faults manifest.Faults
	add := func(line int, object, field string) {
		faults = append(faults, &manifest.Fault{File: "a.yaml", Document: 1, Line: line, Object: object, Field: field, Message: "is wrong"})
	}
	for i := range 9 {
		add(10*i, fmt.Sprintf("Node n%d", i), fmt.Sprintf("status.conditions[%d].reason", i))
	}
	add(95, "Pod shop/p", "spec")
	for i := range 5 { // few enough to be told one by one
		add(100+i, fmt.Sprintf("Pod shop/q%d", i), "status")
	}
	require.Equal(t, strings.Join([]string{
		"a.yaml (document 1): Node n0: status.conditions[0].reason: is wrong",
		"a.yaml:10 (document 1): Node n1: status.conditions[1].reason: is wrong",
		"a.yaml:20 (document 1): Node n2: status.conditions[2].reason: is wrong",
		"a.yaml:80 (document 1): Node n8: is the last of 6 more with this fault",
		"a.yaml:95 (document 1): Pod shop/p: spec: is wrong",
		"a.yaml:100 (document 1): Pod shop/q0: status: is wrong",
		"a.yaml:101 (document 1): Pod shop/q1: status: is wrong",
		"a.yaml:102 (document 1): Pod shop/q2: status: is wrong",
		"a.yaml:103 (document 1): Pod shop/q3: status: is wrong",
		"a.yaml:104 (document 1): Pod shop/q4: status: is wrong",
	}, "\n"), faults.Error())
	require.Len(t, faults.Unwrap(), 15)
}

// TestAcceptedObjectsHaveNoContradictions has objects with UIDs, which an API server has accepted.
func TestAcceptedObjectsHaveNoContradictions(t *testing.T) {
	accepted := func(text string) string {
		return strings.Replace(text, "namespace: shop,", "namespace: shop, uid: a,", 1)
	}
	mustRead(t, docs(accepted(pod("p", "spec: {containers: [{name: a, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}")),
		accepted(workload("StatefulSet", "db", "selector: {matchLabels: {app: db}}"))))
}

func TestFaultsOfAllSourcesInTheirOrder(t *testing.T) {
	_, err := read(pod("p", "x: 1"), "", pod("p", "y: 1"))
	require.EqualError(t, err, strings.Join([]string{
		"a.yaml:4 (document 1): Pod shop/p: x: Forbidden: unknown field; remove it",
		"b.yaml: holds no object; look whether the command that wrote it failed",
		"c.yaml:3 (document 1): Pod shop/p: metadata.name: stands twice in the input, first in a.yaml, document 1; remove one of them",
	}, "\n"))
}

func TestLinesOfJSON(t *testing.T) {
	_, err := read("{\n \"apiVersion\": \"v1\",\n \"kind\": \"Pod\",\n \"metadata\": {\"name\": \"a\"},\n \"spec\": {\n  \"containers\": [\n   {\"name\": \"a\",\n    \"imag\": \"b\"}]}}\n\n" +
		"{\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n \"metadata\": {\"name\": 5}}")
	require.EqualError(t, err, strings.Join([]string{
		"a.yaml:8 (document 1): Pod default/a: spec.containers[0].imag: Forbidden: unknown field; did you mean \"image\"?",
		"a.yaml:11 (document 2): Pod default/(no name): metadata.name: Invalid value: 5: want a string, got a number; put it in quotes",
	}, "\n"))
}

func TestExplainsFaultsOfTheEngine(t *testing.T) {
	c := mustRead(t, workload("Deployment", "web", "replicas: 2"), workload("DaemonSet", "agent", "selector: {}"), node("node-a", ""))
	wrong := func(object, field string) error {
		return &provisioning.InputError{Object: object, Field: field, Detail: "is negative", Err: errors.New("why")}
	}
	var pods []error
	for _, p := range c.Pods {
		pods = append(pods, wrong(`Pod "`+p.Namespace+"/"+p.Name+`"`, "spec.containers[0].resources"))
	}
	err := c.Explain(errors.Join(append(pods,
		wrong(`Node "node-a"`, ""),
		wrong(`DaemonSet Pod "shop/agent"`, "spec"),
		wrong("Options", ""))...))
	require.EqualError(t, err, strings.Join([]string{
		"a.yaml:8 (document 1): Deployment shop/web: spec.template.spec.containers[0].resources: is negative: why",
		"b.yaml:8 (document 1): DaemonSet shop/agent: spec.template.spec: is negative: why",
		"c.yaml:1 (document 1): Node node-a: is negative: why",
		"Options: is negative: why",
	}, "\n"))

	other := errors.New("something else")
	require.Same(t, other, c.Explain(other))
}
