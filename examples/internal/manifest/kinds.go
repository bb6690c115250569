package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// item is a decoded object and where it came from.
type item[T any] struct {
	*object
	value T
}

// objects holds the decoded objects by Go type, in the order they were read: a *[]item[T] for each.
type objects map[reflect.Type]any

// listed returns the objects of a Go type.
func listed[T any](f objects) []item[T] { return *listOf[T](f) }

// listOf returns a pointer to the list of a Go type.
func listOf[T any](f objects) *[]item[T] {
	t := reflect.TypeFor[T]()
	if f[t] == nil {
		f[t] = &[]item[T]{}
	}
	return f[t].(*[]item[T])
}

// kind is a kind of object that affects a plan.
type kind struct {
	apiVersion string // the only version that is read
	namespaced bool
	decode     func(*reader, *object)
}

// kinds returns all kinds by name.
func kinds() map[string]kind {
	return map[string]kind{
		"NodePool":  {v1.GroupVersion.String(), false, func(r *reader, o *object) { store(r, o, decodeNodePool) }},
		"NodeClaim": {v1.GroupVersion.String(), false, func(r *reader, o *object) { store(r, o, decodeNodeClaim) }},
		"NodeOverlay": {v1.GroupVersionAlpha.String(), false, func(r *reader, o *object) {
			store(r, o, decodeNodeOverlay)
		}},

		"Node":                  core[corev1.Node]("v1", false),
		"Pod":                   core[corev1.Pod]("v1", true),
		"DaemonSet":             core[appsv1.DaemonSet]("apps/v1", true),
		"Deployment":            core[appsv1.Deployment]("apps/v1", true),
		"ReplicaSet":            core[appsv1.ReplicaSet]("apps/v1", true),
		"StatefulSet":           core[appsv1.StatefulSet]("apps/v1", true),
		"Job":                   core[batchv1.Job]("batch/v1", true),
		"ReplicationController": core[corev1.ReplicationController]("v1", true),

		"Namespace":           core[corev1.Namespace]("v1", false),
		"Service":             core[corev1.Service]("v1", true),
		"PodTemplate":         core[corev1.PodTemplate]("v1", true),
		"PriorityClass":       core[schedulingv1.PriorityClass]("scheduling.k8s.io/v1", false),
		"RuntimeClass":        core[nodev1.RuntimeClass]("node.k8s.io/v1", false),
		"CapacityBuffer":      core[capacityBuffer]("autoscaling.x-k8s.io/v1beta1", true),
		"PodDisruptionBudget": core[policyv1.PodDisruptionBudget]("policy/v1", true),

		"PersistentVolumeClaim": core[corev1.PersistentVolumeClaim]("v1", true),
		"PersistentVolume":      core[corev1.PersistentVolume]("v1", false),
		"StorageClass":          core[storagev1.StorageClass]("storage.k8s.io/v1", false),
		"CSIDriver":             core[storagev1.CSIDriver]("storage.k8s.io/v1", false),
		"CSIStorageCapacity":    core[storagev1.CSIStorageCapacity]("storage.k8s.io/v1", true),
		"VolumeAttachment":      core[storagev1.VolumeAttachment]("storage.k8s.io/v1", false),
		"CSINode":               core[storagev1.CSINode]("storage.k8s.io/v1", false),

		"ResourceClaim":         core[resourcev1.ResourceClaim]("resource.k8s.io/v1", true),
		"ResourceClaimTemplate": core[resourcev1.ResourceClaimTemplate]("resource.k8s.io/v1", true),
		"DeviceClass":           core[resourcev1.DeviceClass]("resource.k8s.io/v1", false),
		"ResourceSlice":         core[resourcev1.ResourceSlice]("resource.k8s.io/v1", false),
	}
}

// store decodes an object and keeps it if it has no faults.
func store[T metav1.Object](r *reader, o *object, decode func(*reader, *object) (T, bool)) {
	if value, ok := decode(r, o); ok && r.validate(o, value) {
		value.SetNamespace(o.namespace)
		list := listOf[T](r.found)
		*list = append(*list, item[T]{object: o, value: value})
	}
}

// pointer is a pointer to the Go type of a kind, with the methods of a metav1.Object.
type pointer[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// core returns a kind of Kubernetes itself.
func core[T any, P pointer[T]](apiVersion string, namespaced bool) kind {
	return kind{apiVersion, namespaced, func(r *reader, o *object) {
		store(r, o, func(r *reader, o *object) (P, bool) {
			value := P(new(T))
			return value, r.decode(o, value)
		})
	}}
}

// oldKinds returns the kinds of Karpenter's alpha versions, each with the name of its successor.
func oldKinds() map[string]string {
	return map[string]string{"Provisioner": "NodePool", "Machine": "NodeClaim", "AWSNodeTemplate": "EC2NodeClass"}
}

// take sorts an object: it is decoded, ignored, or reported as a fault.
func (r *reader) take(o *object) {
	if kind, old := oldKinds()[o.kind]; old && strings.HasPrefix(group(o.apiVersion), "karpenter.") {
		r.older = append(r.older, older{o, id(kind, "", o.name), o.fault([]any{"kind"}, "%s of %s is not read by this program; convert it to %s of v1 with examples/migrate",
			o.kind, o.apiVersion, kind)})
		return
	}
	k, known := r.kinds[o.kind]
	if !known || group(k.apiVersion) != group(o.apiVersion) {
		r.pass(o)
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

// pass counts an object of a kind that does not affect a plan. It reports a fault if the kind or
// group seems misspelt, or if the object is a table or the like that kubectl prints for people.
func (r *reader) pass(o *object) {
	const slips = 2
	name := group(o.apiVersion) + "/" + o.kind
	for _, kind := range sortedKeys(r.kinds) {
		if k := r.kinds[kind]; command.Slips(name, group(k.apiVersion)+"/"+kind) <= slips {
			r.faults = append(r.faults, o.fault([]any{"kind"}, "there is no kind %s in %s; did you mean kind %s of %s?", o.kind, o.apiVersion, kind, k.apiVersion))
			return
		}
	}
	if group(o.apiVersion) == "meta.k8s.io" && (o.kind == "Table" || o.kind == "PartialObjectMetadata") {
		r.faults = append(r.faults, o.fault([]any{"kind"}, "a %s has the names of objects and not what is in them; write the objects down with kubectl get -o yaml", o.kind))
		return
	}
	r.ignored[o.kind]++
}

// place gives an object its default namespace, or none if its kind has no namespace.
func (o *object) place(namespaced bool) {
	switch {
	case !namespaced:
		o.namespace = ""
	case o.namespace == "":
		o.namespace = corev1.NamespaceDefault
	}
}

// older is an object in a version that is not read. It has the id that the object would have in the
// version that is read, and the fault to report if it is missing there.
type older struct {
	*object
	id    string
	fault *Fault
}

// judgeOlder runs after all objects are read. A dump may contain an object in two versions; then
// the one that is read suffices. An object that exists only in an older version is a fault.
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

// id returns a text that identifies an object.
func id(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// named checks that an object has a name, and that no other object has the same one.
func (r *reader) named(o *object) bool {
	at := []any{"metadata", "name"}
	if o.name == "" && !o.nameOfWrongType() {
		var beside struct{ Name string }
		remedy := "give the object a name"
		if json.Unmarshal(o.json, &beside) == nil && beside.Name != "" {
			remedy = fmt.Sprintf("the name %s stands next to metadata; set it in, so that it is a field of metadata", short(beside.Name))
		}
		r.faults = append(r.faults, o.fault(at, "is missing; %s", remedy))
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

// group returns the API group of an apiVersion; that of "v1" is empty.
func group(apiVersion string) string {
	g, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return g
}

// surround gives the cluster the objects that pods refer to.
func (r *reader) surround() {
	c, f := r.cluster, r.found
	c.Namespaces = values[*corev1.Namespace](f)
	c.Services = values[*corev1.Service](f)
	c.Overlays = values[*v1.NodeOverlay](f)
	c.PodDisruptionBudgets = values[*policyv1.PodDisruptionBudget](f)
	for _, claim := range listed[*corev1.PersistentVolumeClaim](f) {
		markBound(claim.value)
	}
	c.Volumes = provisioning.Volumes{
		Claims: values[*corev1.PersistentVolumeClaim](f), Volumes: values[*corev1.PersistentVolume](f), Classes: values[*storagev1.StorageClass](f), CSINodes: values[*storagev1.CSINode](f),
		CSIDrivers: values[*storagev1.CSIDriver](f), CSIStorageCapacities: values[*storagev1.CSIStorageCapacity](f), VolumeAttachments: values[*storagev1.VolumeAttachment](f),
	}
	c.Devices = provisioning.Devices{
		Claims: values[*resourcev1.ResourceClaim](f), Templates: values[*resourcev1.ResourceClaimTemplate](f), Classes: values[*resourcev1.DeviceClass](f), Slices: values[*resourcev1.ResourceSlice](f),
	}
	for _, rs := range listed[*appsv1.ReplicaSet](f) {
		r.own(uidOf(rs.value, "ReplicaSet"), rs.value.Spec.Selector)
	}
	for _, s := range listed[*appsv1.StatefulSet](f) {
		r.own(uidOf(s.value, "StatefulSet"), s.value.Spec.Selector)
	}
	for _, rc := range listed[*corev1.ReplicationController](f) {
		if selects := rc.value.Spec.Selector; len(selects) > 0 {
			r.own(uidOf(rc.value, "ReplicationController"), &metav1.LabelSelector{MatchLabels: selects})
		}
	}
}

// values returns the objects of a Go type, sorted by namespace and name.
func values[T any](f objects) []T {
	var out []T
	for _, i := range byName(listed[T](f)) {
		out = append(out, i.value)
	}
	return out
}

// own records a controller of pods, if it has a selector.
func (r *reader) own(uid types.UID, selector *metav1.LabelSelector) {
	if selector != nil {
		r.cluster.Controllers = append(r.cluster.Controllers, provisioning.Controller{UID: uid, Selector: selector})
	}
}

// withHash returns the selector of a Deployment's ReplicaSet: that of the Deployment, with the hash
// of the pod template added.
func withHash(of *metav1.LabelSelector, hash string) *metav1.LabelSelector {
	if of == nil {
		return nil
	}
	more := *of
	more.MatchLabels = withLabels(of.MatchLabels, map[string]string{hashLabel: hash})
	return &more
}
