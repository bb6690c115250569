package manifest

import (
	"encoding/json"
	"fmt"
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
	return map[string]kind{
		"NodePool":  {v1.GroupVersion.String(), false, func(r *reader, o *object) { store(r, o, &r.found.nodePools, decodeNodePool) }},
		"NodeClaim": {v1.GroupVersion.String(), false, func(r *reader, o *object) { store(r, o, &r.found.nodeClaims, decodeNodeClaim) }},
		"NodeOverlay": {v1.GroupVersionAlpha.String(), false, func(r *reader, o *object) {
			store(r, o, &r.found.overlays, decodeNodeOverlay)
		}},

		"Node":                  core("v1", false, func(f *objects) *[]item[*corev1.Node] { return &f.nodes }),
		"Pod":                   core("v1", true, func(f *objects) *[]item[*corev1.Pod] { return &f.pods }),
		"DaemonSet":             core("apps/v1", true, func(f *objects) *[]item[*appsv1.DaemonSet] { return &f.daemonSets }),
		"Deployment":            core("apps/v1", true, func(f *objects) *[]item[*appsv1.Deployment] { return &f.deployments }),
		"ReplicaSet":            core("apps/v1", true, func(f *objects) *[]item[*appsv1.ReplicaSet] { return &f.replicaSets }),
		"StatefulSet":           core("apps/v1", true, func(f *objects) *[]item[*appsv1.StatefulSet] { return &f.statefulSets }),
		"Job":                   core("batch/v1", true, func(f *objects) *[]item[*batchv1.Job] { return &f.jobs }),
		"ReplicationController": core("v1", true, func(f *objects) *[]item[*corev1.ReplicationController] { return &f.replicationControllers }),

		"Namespace":           core("v1", false, func(f *objects) *[]item[*corev1.Namespace] { return &f.namespaces }),
		"Service":             core("v1", true, func(f *objects) *[]item[*corev1.Service] { return &f.services }),
		"PodTemplate":         core("v1", true, func(f *objects) *[]item[*corev1.PodTemplate] { return &f.podTemplates }),
		"PriorityClass":       core("scheduling.k8s.io/v1", false, func(f *objects) *[]item[*schedulingv1.PriorityClass] { return &f.priorityClasses }),
		"RuntimeClass":        core("node.k8s.io/v1", false, func(f *objects) *[]item[*nodev1.RuntimeClass] { return &f.runtimeClasses }),
		"CapacityBuffer":      core("autoscaling.x-k8s.io/v1beta1", true, func(f *objects) *[]item[*capacityBuffer] { return &f.buffers }),
		"PodDisruptionBudget": core("policy/v1", true, func(f *objects) *[]item[*policyv1.PodDisruptionBudget] { return &f.budgets }),

		"PersistentVolumeClaim": core("v1", true, func(f *objects) *[]item[*corev1.PersistentVolumeClaim] { return &f.volumeClaims }),
		"PersistentVolume":      core("v1", false, func(f *objects) *[]item[*corev1.PersistentVolume] { return &f.volumes }),
		"StorageClass":          core("storage.k8s.io/v1", false, func(f *objects) *[]item[*storagev1.StorageClass] { return &f.storageClasses }),
		"CSIDriver":             core("storage.k8s.io/v1", false, func(f *objects) *[]item[*storagev1.CSIDriver] { return &f.csiDrivers }),
		"CSIStorageCapacity":    core("storage.k8s.io/v1", true, func(f *objects) *[]item[*storagev1.CSIStorageCapacity] { return &f.storageCapacities }),
		"VolumeAttachment":      core("storage.k8s.io/v1", false, func(f *objects) *[]item[*storagev1.VolumeAttachment] { return &f.attachments }),
		"CSINode":               core("storage.k8s.io/v1", false, func(f *objects) *[]item[*storagev1.CSINode] { return &f.csiNodes }),

		"ResourceClaim":         core("resource.k8s.io/v1", true, func(f *objects) *[]item[*resourcev1.ResourceClaim] { return &f.deviceClaims }),
		"ResourceClaimTemplate": core("resource.k8s.io/v1", true, func(f *objects) *[]item[*resourcev1.ResourceClaimTemplate] { return &f.deviceTemplates }),
		"DeviceClass":           core("resource.k8s.io/v1", false, func(f *objects) *[]item[*resourcev1.DeviceClass] { return &f.deviceClasses }),
		"ResourceSlice":         core("resource.k8s.io/v1", false, func(f *objects) *[]item[*resourcev1.ResourceSlice] { return &f.deviceSlices }),
	}
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
	metav1.Object
}

// core is a kind of Kubernetes itself, and the list that its objects go into.
func core[T any, P pointer[T]](apiVersion string, namespaced bool, list func(*objects) *[]item[P]) kind {
	return kind{apiVersion, namespaced, func(r *reader, o *object) {
		store(r, o, list(&r.found), func(r *reader, o *object) (P, bool) {
			value := P(new(T))
			return value, r.decode(o, value)
		})
	}}
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

// pass counts an object of a kind that has no say, unless it should have one: a slip of the
// hand in its kind or group, or what kubectl makes of objects for people.
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

// group is the API group of an apiVersion; that of "v1" is empty.
func group(apiVersion string) string {
	g, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return g
}

// surroundings are the objects that pods and workloads refer to, or that
// change what others mean.
type surroundings struct {
	namespaces      []item[*corev1.Namespace]
	services        []item[*corev1.Service]
	priorityClasses []item[*schedulingv1.PriorityClass]
	runtimeClasses  []item[*nodev1.RuntimeClass]
	podTemplates    []item[*corev1.PodTemplate]
	overlays        []item[*v1.NodeOverlay]
	buffers         []item[*capacityBuffer]
	budgets         []item[*policyv1.PodDisruptionBudget]

	volumeClaims   []item[*corev1.PersistentVolumeClaim]
	volumes        []item[*corev1.PersistentVolume]
	storageClasses []item[*storagev1.StorageClass]
	csiNodes       []item[*storagev1.CSINode]

	csiDrivers        []item[*storagev1.CSIDriver]
	storageCapacities []item[*storagev1.CSIStorageCapacity]
	attachments       []item[*storagev1.VolumeAttachment]

	deviceClaims    []item[*resourcev1.ResourceClaim]
	deviceTemplates []item[*resourcev1.ResourceClaimTemplate]
	deviceClasses   []item[*resourcev1.DeviceClass]
	deviceSlices    []item[*resourcev1.ResourceSlice]
}

// surround hands the surroundings to the cluster.
func (r *reader) surround() {
	c, f := r.cluster, &r.found
	c.Namespaces = values(f.namespaces)
	c.Services = values(f.services)
	c.Overlays = values(f.overlays)
	c.PodDisruptionBudgets = values(f.budgets)
	for _, claim := range f.volumeClaims {
		markBound(claim.value)
	}
	c.Volumes = provisioning.Volumes{
		Claims: values(f.volumeClaims), Volumes: values(f.volumes), Classes: values(f.storageClasses), CSINodes: values(f.csiNodes),
		CSIDrivers: values(f.csiDrivers), CSIStorageCapacities: values(f.storageCapacities), VolumeAttachments: values(f.attachments),
	}
	c.Devices = provisioning.Devices{
		Claims: values(f.deviceClaims), Templates: values(f.deviceTemplates), Classes: values(f.deviceClasses), Slices: values(f.deviceSlices),
	}
	for _, rs := range f.replicaSets {
		r.own(uidOf(rs.value, "ReplicaSet"), rs.value.Spec.Selector)
	}
	for _, s := range f.statefulSets {
		r.own(uidOf(s.value, "StatefulSet"), s.value.Spec.Selector)
	}
	for _, rc := range f.replicationControllers {
		if selects := rc.value.Spec.Selector; len(selects) > 0 {
			r.own(uidOf(rc.value, "ReplicationController"), &metav1.LabelSelector{MatchLabels: selects})
		}
	}
}

// values returns the objects of items, sorted by namespace and name.
func values[T any](items []item[T]) []T {
	var out []T
	for _, i := range byName(items) {
		out = append(out, i.value)
	}
	return out
}

// own adds a controller of pods, if it selects any.
func (r *reader) own(uid types.UID, selector *metav1.LabelSelector) {
	if selector != nil {
		r.cluster.Controllers = append(r.cluster.Controllers, provisioning.Controller{UID: uid, Selector: selector})
	}
}

// withHash is the selector of a ReplicaSet of a Deployment: that of the
// Deployment, and the hash of the template.
func withHash(of *metav1.LabelSelector, hash string) *metav1.LabelSelector {
	if of == nil {
		return nil
	}
	more := *of
	more.MatchLabels = withLabels(of.MatchLabels, map[string]string{hashLabel: hash})
	return &more
}
