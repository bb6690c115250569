package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// item is a decoded object and where it came from.
type item[T any] struct {
	*Object
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
	decode     func(*reader, *Object)
}

func kinds(rules Rules) map[string]kind {
	all := map[string]kind{
		"NodePool":    read[v1.NodePool](v1.GroupVersion.String(), false),
		"NodeClaim":   read[v1.NodeClaim](v1.GroupVersion.String(), false),
		"NodeOverlay": read[v1.NodeOverlay](v1.GroupVersionAlpha.String(), false),

		"Node":                  read[corev1.Node]("v1", false),
		"Pod":                   read[corev1.Pod]("v1", true),
		"DaemonSet":             read[appsv1.DaemonSet]("apps/v1", true),
		"Deployment":            read[appsv1.Deployment]("apps/v1", true),
		"ReplicaSet":            read[appsv1.ReplicaSet]("apps/v1", true),
		"StatefulSet":           read[appsv1.StatefulSet]("apps/v1", true),
		"Job":                   read[batchv1.Job]("batch/v1", true),
		"ReplicationController": read[corev1.ReplicationController]("v1", true),

		"Namespace":           read[corev1.Namespace]("v1", false),
		"Service":             read[corev1.Service]("v1", true),
		"PodTemplate":         read[corev1.PodTemplate]("v1", true),
		"PriorityClass":       read[schedulingv1.PriorityClass]("scheduling.k8s.io/v1", false),
		"RuntimeClass":        read[nodev1.RuntimeClass]("node.k8s.io/v1", false),
		"CapacityBuffer":      read[capacityBuffer]("autoscaling.x-k8s.io/v1beta1", true),
		"PodDisruptionBudget": read[policyv1.PodDisruptionBudget]("policy/v1", true),

		"PersistentVolumeClaim": read[corev1.PersistentVolumeClaim]("v1", true),
		"PersistentVolume":      read[corev1.PersistentVolume]("v1", false),
		"StorageClass":          read[storagev1.StorageClass]("storage.k8s.io/v1", false),
		"CSIDriver":             read[storagev1.CSIDriver]("storage.k8s.io/v1", false),
		"CSIStorageCapacity":    read[storagev1.CSIStorageCapacity]("storage.k8s.io/v1", true),
		"VolumeAttachment":      read[storagev1.VolumeAttachment]("storage.k8s.io/v1", false),
		"CSINode":               read[storagev1.CSINode]("storage.k8s.io/v1", false),

		"ResourceClaim":         read[resourcev1.ResourceClaim]("resource.k8s.io/v1", true),
		"ResourceClaimTemplate": read[resourcev1.ResourceClaimTemplate]("resource.k8s.io/v1", true),
		"DeviceClass":           read[resourcev1.DeviceClass]("resource.k8s.io/v1", false),
		"ResourceSlice":         read[resourcev1.ResourceSlice]("resource.k8s.io/v1", false),
	}
	classes := read[awsv1.EC2NodeClass](awsv1.GroupVersion.String(), false)
	if !rules.Classes {
		classes.decode = (*reader).decodeClass
	}
	all[awsv1.EC2NodeClassKind] = classes
	return all
}

// decoded is a pointer to the Go type of a kind.
type decoded interface {
	runtime.Object
	metav1.Object
}

// pointer is decoded, of the kind with the Go type T.
type pointer[T any] interface {
	*T
	decoded
}

// read returns a kind whose objects are decoded, and kept if they have no faults.
func read[T any, P pointer[T]](apiVersion string, namespaced bool) kind {
	return kind{apiVersion, namespaced, func(r *reader, o *Object) {
		value := P(new(T))
		if r.decodeValid(o, value) {
			value.SetNamespace(o.Namespace)
			keep(r, o, value)
		}
	}}
}

func keep[T any](r *reader, o *Object, value T) {
	o.value = value
	r.cluster.places[o.String()] = place{object: o}
	list := listOf[T](r.found)
	*list = append(*list, item[T]{o, value})
}

// decodeClass decodes an EC2NodeClass. One with faults is ignored, because a cluster may be planned
// without it.
func (r *reader) decodeClass(o *Object) {
	class, err := awsv1.DecodeEC2NodeClass(o.JSON)
	if err != nil {
		r.note("%s: it has no say: %s", o, strings.ReplaceAll(err.Error(), "\n", "; "))
		r.ignored[o.Kind]++
		return
	}
	keep(r, o, class)
}

// oldKinds are the kinds of Karpenter's alpha versions, each with the name of its successor.
var oldKinds = map[string]string{"Provisioner": "NodePool", "Machine": "NodeClaim", "AWSNodeTemplate": "EC2NodeClass"}

// take sorts an object: it is decoded, ignored, or reported as a fault.
func (r *reader) take(o *Object) {
	if kind, old := oldKinds[o.Kind]; old && strings.HasPrefix(group(o.APIVersion), "karpenter.") {
		r.older = append(r.older, older{o, id(kind, "", o.Name), o.Fault("kind", "%s of %s is not read by this program; convert it to %s of v1 with examples/migrate",
			o.Kind, o.APIVersion, kind)})
		return
	}
	k, known := r.kinds[o.Kind]
	if !known || group(k.apiVersion) != group(o.APIVersion) {
		r.pass(o)
		return
	}
	if o.Kind == awsv1.EC2NodeClassKind {
		r.cluster.ClassObjects = append(r.cluster.ClassObjects, o)
	}
	switch { // the default namespace, or none
	case !k.namespaced:
		o.Namespace = ""
	case o.Namespace == "":
		o.Namespace = corev1.NamespaceDefault
	}
	if k.apiVersion != o.APIVersion {
		how := ""
		if strings.HasPrefix(k.apiVersion, "karpenter.") {
			how = " with examples/migrate"
		}
		r.older = append(r.older, older{o, id(o.Kind, o.Namespace, o.Name), o.Fault("apiVersion",
			"%s is not read by this program; convert the object to %s%s", o.APIVersion, k.apiVersion, how)})
		return
	}
	if r.named(o) {
		k.decode(r, o)
	}
}

// pass counts an object of a kind that does not affect a plan. It reports a fault if the kind or
// group seems misspelt, or if the object is a table or the like that kubectl prints for people.
func (r *reader) pass(o *Object) {
	const slips = 2
	name := group(o.APIVersion) + "/" + o.Kind
	for _, kind := range sortedKeys(r.kinds) {
		if k := r.kinds[kind]; command.Slips(name, group(k.apiVersion)+"/"+kind) <= slips {
			r.fault(o, "kind", "there is no kind %s in %s; did you mean kind %s of %s?", o.Kind, o.APIVersion, kind, k.apiVersion)
			return
		}
	}
	if group(o.APIVersion) == "meta.k8s.io" && (o.Kind == "Table" || o.Kind == "PartialObjectMetadata") {
		r.fault(o, "kind", "a %s has the names of objects and not what is in them; write the objects down with kubectl get -o yaml", o.Kind)
		return
	}
	// The fields of any kind are known, so the faults are keys that appear twice.
	err := o.written.Into(o.written.GroupVersionKind(), &unstructured.Unstructured{})
	if broken, ok := err.(*v1.DecodeError); ok {
		r.refuse(o, broken.Faults)
	}
	r.ignored[o.Kind]++
}

// older is an object in a version that is not read. It has the id that the object would have in the
// version that is read, and the fault to report if it is missing there.
type older struct {
	*Object
	id    string
	fault *Fault
}

// judgeOlder runs after all objects are read. A dump may contain an object in two versions; then
// the one that is read suffices. An object that exists only in an older version is a fault.
func (r *reader) judgeOlder() {
	count := map[string]int{}
	for _, o := range r.older {
		switch {
		case r.seen[o.id] != nil:
			count[o.Kind+" of "+o.APIVersion]++
		case o.Kind == awsv1.EC2NodeClassKind && !r.rules.Classes:
			r.note("%s: it has no say, as it is of %s; convert it to %s with examples/migrate", o, o.APIVersion, awsv1.GroupVersion)
			r.ignored[o.Kind]++
		default:
			r.faults = append(r.faults, o.fault)
		}
	}
	for what, n := range count { // the notes are sorted
		r.note("%d %s not read: there in the version that is", n, what)
	}
}

// id returns a text that identifies an object.
func id(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// named checks that an object has a name, and that no other object has the same one.
func (r *reader) named(o *Object) bool {
	const at = "metadata.name"
	switch {
	case o.misnamed:
		return true // for the decoder to report
	case o.Name == "":
		remedy := "give the object a name"
		var stray struct{ Name string }
		if err := json.Unmarshal(o.JSON, &stray); err == nil && stray.Name != "" {
			remedy = fmt.Sprintf("the name %s stands next to metadata; set it in, so that it is a field of metadata", layout.Shorten(stray.Name, 40))
		}
		return r.fault(o, at, "is missing; %s", remedy)
	case len(validation.IsDNS1123Subdomain(o.Name)) > 0:
		return r.fault(o, at, "is not a name; use up to 253 lower-case letters, digits, '-' and '.'")
	case o.Namespace != "" && len(validation.IsDNS1123Label(o.Namespace)) > 0:
		return r.fault(o, "metadata.namespace", "is not a name; use up to 63 lower-case letters, digits and '-'")
	}
	id := id(o.Kind, o.Namespace, o.Name)
	if first := r.seen[id]; first != nil {
		return r.fault(o, at, "stands twice in the input, first in %s, document %d; remove one of them", first.doc.file, first.doc.number)
	}
	r.seen[id] = o
	return true
}

// group returns the API group of an apiVersion; that of "v1" is empty.
func group(apiVersion string) string {
	gv, _ := schema.ParseGroupVersion(apiVersion)
	return gv.Group
}

// surround gives the cluster the objects that pods refer to.
func (r *reader) surround() {
	c, f := r.cluster, r.found
	c.Namespaces = values[*corev1.Namespace](f)
	c.Services = values[*corev1.Service](f)
	c.Overlays = values[*v1.NodeOverlay](f)
	c.PodDisruptionBudgets = values[*policyv1.PodDisruptionBudget](f)
	c.Classes = values[*awsv1.EC2NodeClass](f)
	for _, claim := range listed[*corev1.PersistentVolumeClaim](f) {
		if claim.value.Status.Phase == corev1.ClaimBound && claim.value.Spec.VolumeName != "" {
			// Schedulers read the annotation, which tools that tidy up manifests remove.
			metav1.SetMetaDataAnnotation(&claim.value.ObjectMeta, v1.BindCompletedAnnotationKey, "yes")
		}
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
func values[T metav1.Object](f objects) (out []T) {
	for _, i := range byName(listed[T](f)) {
		out = append(out, i.value)
	}
	return out
}

// each calls do for the objects of a Go type that are not being deleted, by namespace and name.
func each[T metav1.Object](f objects, do func(item[T])) {
	for _, i := range byName(listed[T](f)) {
		if i.value.GetDeletionTimestamp() == nil {
			do(i)
		}
	}
}

// byName returns the items sorted by namespace and name.
func byName[T metav1.Object](items []item[T]) []item[T] {
	return slices.SortedFunc(slices.Values(items), func(a, b item[T]) int { return compareNames(a.value, b.value) })
}

// compareNames orders objects by namespace and name.
func compareNames[T metav1.Object](a, b T) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// own records a controller of pods, if it has a selector.
func (r *reader) own(uid types.UID, selector *metav1.LabelSelector) {
	if selector != nil {
		r.cluster.Controllers = append(r.cluster.Controllers, provisioning.Controller{UID: uid, Selector: selector})
	}
}
