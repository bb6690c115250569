package manifest

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// expand adds the pods that workloads still lack: the replicas they want, less
// the live pods they have. A workload with more pods than it wants keeps them
// all, as which ones its controller would delete is not known.
func (r *reader) expand() {
	x := &expander{reader: r, owned: map[owner]*brood{}, taken: map[string]bool{}}
	x.index()
	for _, d := range byName(r.found.deployments) {
		x.deployment(d)
	}
	for _, rs := range byName(r.found.replicaSets) {
		x.replicaSet(rs)
	}
	for _, s := range byName(r.found.statefulSets) {
		x.statefulSet(s)
	}
	for _, rc := range byName(r.found.replicationControllers) {
		x.replicationController(rc)
	}
	for _, j := range byName(r.found.jobs) {
		x.job(j)
	}
	if x.total > MaxPods {
		return // which is a fault, and known to be one before a pod was made
	}
	for _, d := range x.demands {
		x.supply(d)
	}
}

// owner identifies a workload.
type owner struct{ kind, namespace, name string }

// brood is the pods of one workload in the input.
type brood struct {
	live      int // neither finished nor being deleted
	succeeded int
}

type expander struct {
	*reader
	owned map[owner]*brood
	taken map[string]bool // namespace/name of each pod, old or new; true unless it has finished

	demands []demand
	total   int // of the pods in demands
}

// demand is a number of pods to be made from a template.
type demand struct {
	template *template
	base     string   // what their names begin with
	names    []string // or their names
	count    int
}

// index finds out which pods belong to which workload.
func (x *expander) index() {
	parents := map[owner]owner{} // ReplicaSet to its controller
	for _, rs := range x.found.replicaSets {
		if ref := metav1.GetControllerOf(rs.value); ref != nil {
			parents[owner{"ReplicaSet", rs.namespace, rs.name}] = owner{ref.Kind, rs.namespace, ref.Name}
		}
	}
	selectors := x.selectors()
	for _, p := range x.found.pods {
		pod := p.value
		x.taken[pod.Namespace+"/"+pod.Name] = !finished(pod)
		ref := metav1.GetControllerOf(pod)
		if ref == nil {
			continue
		}
		of := owner{ref.Kind, pod.Namespace, ref.Name}
		x.count(of, pod)
		parent, known := parents[of]
		if !known && of.kind == "ReplicaSet" {
			parent, known = guessParent(of, pod, selectors)
		}
		if known {
			x.count(parent, pod)
		}
	}
}

// count adds a pod to what its owner has.
func (x *expander) count(of owner, pod *corev1.Pod) {
	b := x.owned[of]
	if b == nil {
		b = &brood{}
		x.owned[of] = b
	}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		b.succeeded++
	case !finished(pod) && pod.DeletionTimestamp == nil:
		b.live++
	}
}

// selection is a Deployment and what it selects.
type selection struct {
	owner
	selector labels.Selector
}

// selectors compiles the selectors of the Deployments.
func (x *expander) selectors() []selection {
	var all []selection
	for _, d := range byName(x.found.deployments) {
		selector, err := metav1.LabelSelectorAsSelector(d.value.Spec.Selector)
		if err != nil {
			continue // validate has refused it before
		}
		all = append(all, selection{owner{"Deployment", d.namespace, d.name}, selector})
	}
	return all
}

// guessParent finds the Deployment of a ReplicaSet that is not in the input
// from one of its pods: the names agree, and the selector selects the pod.
func guessParent(rs owner, pod *corev1.Pod, from []selection) (owner, bool) {
	for _, s := range from {
		if s.namespace == rs.namespace && strings.HasPrefix(rs.name, s.name+"-") && s.selector.Matches(labels.Set(pod.Labels)) {
			return s.owner, true
		}
	}
	return owner{}, false
}

// have is the number of live pods a workload has.
func (x *expander) have(o owner) int {
	if b := x.owned[o]; b != nil {
		return b.live
	}
	return 0
}

func (x *expander) deployment(d item[*appsv1.Deployment]) {
	if d.value.DeletionTimestamp != nil {
		return
	}
	t := newTemplate(d.object, &d.value.Spec.Template)
	rs := d.name + "-" + t.hash
	t.labels = withLabel(t.labels, hashLabel, t.hash)
	uid := madeUID("ReplicaSet", d.namespace, rs)
	t.owners = controller("apps/v1", "ReplicaSet", rs, uid)
	x.own(uid, withHash(d.value.Spec.Selector, t.hash))
	x.want(demand{template: t, base: rs, count: orOne(d.value.Spec.Replicas) - x.have(owner{"Deployment", d.namespace, d.name})})
}

// replicaSet expands a ReplicaSet that stands alone. One that belongs to a
// Deployment of the input is left to it.
func (x *expander) replicaSet(rs item[*appsv1.ReplicaSet]) {
	if rs.value.DeletionTimestamp != nil {
		return
	}
	if ref := metav1.GetControllerOf(rs.value); ref != nil && ref.Kind == "Deployment" &&
		x.seen["Deployment "+rs.namespace+"/"+ref.Name] != nil {
		return
	}
	t := newTemplate(rs.object, &rs.value.Spec.Template)
	t.owners = controller("apps/v1", "ReplicaSet", rs.name, uidOf(rs.value, "ReplicaSet"))
	x.want(demand{template: t, base: rs.name, count: orOne(rs.value.Spec.Replicas) - x.have(owner{"ReplicaSet", rs.namespace, rs.name})})
}

// replicationController expands what came before the ReplicaSet.
func (x *expander) replicationController(rc item[*corev1.ReplicationController]) {
	if rc.value.DeletionTimestamp != nil {
		return
	}
	const kind = "ReplicationController"
	t := newTemplate(rc.object, rc.value.Spec.Template)
	t.owners = controller("v1", kind, rc.name, uidOf(rc.value, kind))
	x.want(demand{template: t, base: rc.name, count: orOne(rc.value.Spec.Replicas) - x.have(owner{kind, rc.namespace, rc.name})})
}

// statefulSet adds the ordinals that have no pod, all at once even if the
// controller would start them one after another. A pod that is being deleted
// keeps its ordinal until it is gone.
func (x *expander) statefulSet(s item[*appsv1.StatefulSet]) {
	if s.value.DeletionTimestamp != nil {
		return
	}
	first := 0
	if s.value.Spec.Ordinals != nil {
		first = int(s.value.Spec.Ordinals.Start)
	}
	t := newTemplate(s.object, &s.value.Spec.Template)
	t.owners = controller("apps/v1", "StatefulSet", s.name, uidOf(s.value, "StatefulSet"))
	for _, claim := range s.value.Spec.VolumeClaimTemplates {
		t.claims = append(t.claims, claim.Name)
	}
	d := demand{template: t}
	for i := range orOne(s.value.Spec.Replicas) {
		if name := ordinalName(s.name, first+i); !x.taken[s.namespace+"/"+name] {
			d.names = append(d.names, name)
		}
	}
	d.count = len(d.names)
	x.want(d)
}

// job adds the pods that a Job would run now. One that is suspended or done
// runs none.
func (x *expander) job(j item[*batchv1.Job]) {
	spec := &j.value.Spec
	if jobOver(j.value) {
		return
	}
	b := x.owned[owner{"Job", j.namespace, j.name}]
	if b == nil {
		b = &brood{}
	}
	succeeded := max(int(j.value.Status.Succeeded), b.succeeded)
	want := orOne(spec.Parallelism)
	switch {
	case spec.Completions != nil || spec.Parallelism == nil:
		want = min(want, max(0, orOne(spec.Completions)-succeeded))
	case succeeded > 0:
		want = 0 // a work queue: once one pod has succeeded no more are started
	}
	t := newTemplate(j.object, &spec.Template)
	t.owners = controller("batch/v1", "Job", j.name, uidOf(j.value, "Job"))
	x.want(demand{template: t, base: j.name, count: want - b.live})
}

// jobOver tells whether a Job starts no more pods.
func jobOver(j *batchv1.Job) bool {
	if j.DeletionTimestamp != nil || j.Spec.Suspend != nil && *j.Spec.Suspend {
		return true
	}
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// orOne is a count that is 1 when left out.
func orOne(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// want asks for pods. The workload with which there are too many is at fault.
func (x *expander) want(d demand) {
	if d.count <= 0 || x.total > MaxPods {
		return
	}
	x.demands = append(x.demands, d)
	x.total += d.count
	if x.total > MaxPods {
		x.faults = append(x.faults, d.template.object.fault(nil,
			"brings the pods that workloads stand for above %d, more than can be planned at once; lower the replicas", MaxPods))
	}
}

// supply makes the pods of a demand. Those without names get random-looking
// ones, as a ReplicaSet or Job gives.
func (x *expander) supply(d demand) {
	for _, name := range d.names {
		x.add(d.template, name)
	}
	suffixes := newSuffixes(d.template.object.namespace + "/" + d.base)
	for range d.count - len(d.names) {
		name := generated(d.base, suffixes.next())
		for x.has(d.template.object.namespace, name) {
			name = generated(d.base, suffixes.next())
		}
		x.add(d.template, name)
	}
}

// has tells whether there is or was a pod of the name.
func (x *expander) has(namespace, name string) bool {
	_, taken := x.taken[namespace+"/"+name]
	return taken
}

// add makes one pod pending.
func (x *expander) add(t *template, name string) {
	x.taken[t.object.namespace+"/"+name] = true
	x.cluster.Pods = append(x.cluster.Pods, t.pod(name))
	x.cluster.placed("Pod "+t.object.namespace+"/"+name, place{t.object, []any{"spec", "template"}})
}

// byName returns the items sorted by namespace and name.
func byName[T any](items []item[T]) []item[T] {
	return slices.SortedFunc(slices.Values(items), func(a, b item[T]) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
}

// addClaims makes the claims that pending pods of StatefulSets get from its
// templates, where they are not in the input. Claims outlive their pods, so one
// that is there is used, whatever the template says by now.
func (r *reader) addClaims() {
	c := r.cluster
	sets := map[string]*appsv1.StatefulSet{}
	for _, s := range r.found.statefulSets {
		sets[s.namespace+"/"+s.name] = s.value
	}
	for _, pod := range c.Pods {
		ref := metav1.GetControllerOf(pod)
		if ref == nil || ref.Kind != "StatefulSet" {
			continue
		}
		set := sets[pod.Namespace+"/"+ref.Name]
		if set == nil {
			continue
		}
		for i := range set.Spec.VolumeClaimTemplates {
			template := &set.Spec.VolumeClaimTemplates[i]
			name := template.Name + "-" + pod.Name
			if r.seen["PersistentVolumeClaim "+pod.Namespace+"/"+name] == nil {
				c.Volumes.Claims = append(c.Volumes.Claims, newClaim(template, pod.Namespace, name))
			}
		}
	}
	slices.SortFunc(c.Volumes.Claims, func(a, b *corev1.PersistentVolumeClaim) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// newClaim makes a claim that no volume has been bound to.
func newClaim(from *corev1.PersistentVolumeClaim, namespace, name string) *corev1.PersistentVolumeClaim {
	claim := from.DeepCopy()
	claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	claim.Namespace, claim.Name = namespace, name
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	return claim
}

// markBound gives a claim that is bound by its status the annotation that says so to a
// scheduler. Tools that tidy up manifests leave annotations out.
func markBound(claim *corev1.PersistentVolumeClaim) {
	if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "" || metav1.HasAnnotation(claim.ObjectMeta, v1.BindCompletedAnnotationKey) {
		return
	}
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, v1.BindCompletedAnnotationKey, "yes")
}
