package manifest

import (
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// item is a decoded object and where it came from.
type item[T any] struct {
	*object
	value T
}

// objects holds the decoded objects by kind, in the order they were read.
type objects struct {
	nodePools    []item[*v1.NodePool]
	nodeClaims   []item[*v1.NodeClaim]
	nodes        []item[*corev1.Node]
	pods         []item[*corev1.Pod]
	daemonSets   []item[*appsv1.DaemonSet]
	deployments  []item[*appsv1.Deployment]
	replicaSets  []item[*appsv1.ReplicaSet]
	statefulSets []item[*appsv1.StatefulSet]
	jobs         []item[*batchv1.Job]

	replicationControllers []item[*corev1.ReplicationController]

	surroundings
}

// kind is a kind of object that has a say in a plan.
type kind struct {
	apiVersion string // the only one that is read
	namespaced bool
	decode     func(*reader, *object)
}

// kinds lists them by name.
func kinds() map[string]kind {
	all := surroundingKinds()
	maps.Copy(all, map[string]kind{
		"NodePool":  {v1.GroupVersion.String(), false, func(r *reader, o *object) { store(r, o, &r.found.nodePools, decodeNodePool) }},
		"NodeClaim": {v1.GroupVersion.String(), false, func(r *reader, o *object) { store(r, o, &r.found.nodeClaims, decodeNodeClaim) }},

		"Node":        {"v1", false, func(r *reader, o *object) { store(r, o, &r.found.nodes, decodeCore[corev1.Node]) }},
		"Pod":         {"v1", true, func(r *reader, o *object) { store(r, o, &r.found.pods, decodeCore[corev1.Pod]) }},
		"DaemonSet":   {"apps/v1", true, func(r *reader, o *object) { store(r, o, &r.found.daemonSets, decodeCore[appsv1.DaemonSet]) }},
		"Deployment":  {"apps/v1", true, func(r *reader, o *object) { store(r, o, &r.found.deployments, decodeCore[appsv1.Deployment]) }},
		"ReplicaSet":  {"apps/v1", true, func(r *reader, o *object) { store(r, o, &r.found.replicaSets, decodeCore[appsv1.ReplicaSet]) }},
		"StatefulSet": {"apps/v1", true, func(r *reader, o *object) { store(r, o, &r.found.statefulSets, decodeCore[appsv1.StatefulSet]) }},
		"Job":         {"batch/v1", true, func(r *reader, o *object) { store(r, o, &r.found.jobs, decodeCore[batchv1.Job]) }},
		"ReplicationController": {"v1", true, func(r *reader, o *object) {
			store(r, o, &r.found.replicationControllers, decodeCore[corev1.ReplicationController])
		}},
	})
	return all
}

// store decodes an object and keeps it if that succeeds.
func store[T metav1.Object](r *reader, o *object, to *[]item[T], decode func(*reader, *object) (T, bool)) {
	if value, ok := decode(r, o); ok && r.validate(o, value) {
		value.SetNamespace(o.namespace)
		*to = append(*to, item[T]{object: o, value: value})
	}
}

// pointer is a pointer to the Go type of a kind.
type pointer[T any] interface {
	*T
	runtime.Object
}

// decodeCore decodes a kind of Kubernetes itself.
func decodeCore[T any, P pointer[T]](r *reader, o *object) (P, bool) {
	value := P(new(T))
	return value, r.decode(o, value)
}

// oldKinds are those of the alpha days of Karpenter, and what has come of each.
func oldKinds() map[string]string {
	return map[string]string{"Provisioner": "NodePool", "Machine": "NodeClaim", "AWSNodeTemplate": "EC2NodeClass"}
}

// take puts an object where it belongs: among the decoded, the ignored or the
// faults.
func (r *reader) take(o *object) {
	if kind, old := oldKinds()[o.kind]; old && strings.HasPrefix(group(o.apiVersion), "karpenter.") {
		r.older = append(r.older, older{o, id(kind, "", o.name), o.fault([]any{"kind"}, "%s of %s is not read by this program; convert it to %s of v1 with examples/migrate",
			o.kind, o.apiVersion, kind)})
		return
	}
	k, known := r.kinds[o.kind]
	if !known || group(k.apiVersion) != group(o.apiVersion) {
		r.ignored[o.kind]++
		return
	}
	if k.apiVersion != o.apiVersion {
		how := ""
		if k.apiVersion == v1.GroupVersion.String() {
			how = " with examples/migrate"
		}
		o.place(k.namespaced)
		r.older = append(r.older, older{o, id(o.kind, o.namespace, o.name), o.fault([]any{"apiVersion"},
			"%s is not read by this program; convert the object to %s%s", o.apiVersion, k.apiVersion, how)})
		return
	}
	o.place(k.namespaced)
	if !r.named(o) {
		return
	}
	k.decode(r, o)
}

// place gives an object the namespace that it is in by default, or none.
func (o *object) place(namespaced bool) {
	switch {
	case !namespaced:
		o.namespace = ""
	case o.namespace == "":
		o.namespace = corev1.NamespaceDefault
	}
}

// older is an object of a version that is not read, the id of the one that it is in the
// version that is, and the fault that it is without that.
type older struct {
	*object
	id    string
	fault *Fault
}

// judgeOlder is for when all is read. A dump may have an object in two versions, and then the
// one that is read is as good; an object that is there in an older one only is a fault.
func (r *reader) judgeOlder() {
	count := map[string]int{}
	for _, o := range r.older {
		if r.seen[o.id] != nil {
			count[o.kind+" of "+o.apiVersion]++
		} else {
			r.faults = append(r.faults, o.fault)
		}
	}
	for what, n := range count { // the notes are sorted
		r.cluster.Notes = append(r.cluster.Notes, fmt.Sprintf("%d %s not read: there in the version that is", n, what))
	}
}

// id tells objects apart.
func id(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// named checks that an object has a name, and one that nothing else has.
func (r *reader) named(o *object) bool {
	at := []any{"metadata", "name"}
	if o.name == "" && !o.nameOfWrongType() {
		r.faults = append(r.faults, o.fault(at, "is missing; give the object a name"))
		return false
	}
	if o.name == "" {
		return true // for the decoder to report
	}
	if len(validation.IsDNS1123Subdomain(o.name)) > 0 {
		r.faults = append(r.faults, o.fault(at, "is not a name; use up to 253 lower-case letters, digits, '-' and '.'"))
		return false
	}
	if o.namespace != "" && len(validation.IsDNS1123Label(o.namespace)) > 0 {
		r.faults = append(r.faults, o.fault([]any{"metadata", "namespace"},
			"is not a name; use up to 63 lower-case letters, digits and '-'"))
		return false
	}
	id := id(o.kind, o.namespace, o.name)
	if first, twice := r.seen[id]; twice {
		r.faults = append(r.faults, o.fault(at, "stands twice in the input, first in %s, document %d; remove one of them",
			first.doc.file, first.doc.number))
		return false
	}
	r.seen[id] = o
	return true
}

// group is the API group of an apiVersion; that of "v1" is empty.
func group(apiVersion string) string {
	g, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return g
}
