package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// workload is the part of a workload that determines its pods.
type workload struct {
	replicas *int32
	selector *metav1.LabelSelector
	template *corev1.PodTemplateSpec // nil if it is missing
}

// workloadOf returns the workload of a decoded object, and false for objects of other kinds.
func workloadOf(value any) (w workload, ok bool) {
	switch v := value.(type) {
	case *appsv1.DaemonSet:
		return workload{selector: v.Spec.Selector, template: &v.Spec.Template}, true
	case *appsv1.Deployment:
		return workload{v.Spec.Replicas, v.Spec.Selector, &v.Spec.Template}, true
	case *appsv1.ReplicaSet:
		return workload{v.Spec.Replicas, v.Spec.Selector, &v.Spec.Template}, true
	case *appsv1.StatefulSet:
		return workload{v.Spec.Replicas, v.Spec.Selector, &v.Spec.Template}, true
	case *corev1.ReplicationController:
		return workload{v.Spec.Replicas, &metav1.LabelSelector{MatchLabels: v.Spec.Selector}, v.Spec.Template}, true
	case *batchv1.Job:
		return workload{v.Spec.Parallelism, nil, &v.Spec.Template}, true
	}
	return workload{}, false
}

// expand adds the pods that workloads still lack: the wanted replicas minus the live pods. A
// workload with too many pods keeps all of them, because it is unknown which ones its controller
// would delete.
func (r *reader) expand() {
	x := &expander{reader: r, owned: map[owner]*ownedPods{}, taken: map[string]bool{}}
	x.index()
	each(r.found, x.deployment)
	each(r.found, x.replicaSet)
	each(r.found, x.statefulSet)
	each(r.found, func(rc item[*corev1.ReplicationController]) { x.plain(rc.Object, rc.value) })
	each(r.found, x.job)
	if x.total > MaxPods {
		return // which is a fault, and known to be one before a pod was made
	}
	for _, d := range x.demands {
		x.supply(d)
	}
}

// owner identifies a workload.
type owner struct{ kind, namespace, name string }

// ownedPods is the set of pods of one workload in the input.
type ownedPods struct {
	live      int // number of pods that are neither finished nor being deleted
	succeeded int

	owners  map[string]*corev1.Pod // by ReplicaSet name: one of its live pods
	indexes map[string]bool        // indexes of the live and succeeded pods of an indexed Job
}

type expander struct {
	*reader
	owned map[owner]*ownedPods
	taken map[string]bool // by namespace/name of each existing or added pod: true unless the pod has finished

	demands []demand
	total   int // number of pods in demands
}

// demand is a number of pods to be made from a template.
type demand struct {
	template *template
	base     string   // prefix of their names
	members  []member // the first of them, or all; may be fewer than count
	count    int
}

// index assigns pods to their workloads.
func (x *expander) index() {
	parents := map[owner]owner{} // ReplicaSet to its controller
	for _, rs := range listed[*appsv1.ReplicaSet](x.found) {
		if ref := metav1.GetControllerOf(rs.value); ref != nil {
			parents[owner{"ReplicaSet", rs.Namespace, rs.Name}] = owner{ref.Kind, rs.Namespace, ref.Name}
		}
	}
	guess := x.parents()
	for _, p := range listed[*corev1.Pod](x.found) {
		pod := p.value
		x.taken[pod.Namespace+"/"+pod.Name] = !podlife.Finished(pod)
		ref := metav1.GetControllerOf(pod)
		if ref == nil {
			continue
		}
		of := owner{ref.Kind, pod.Namespace, ref.Name}
		x.count(of, pod)
		parent, known := parents[of]
		if !known && of.kind == "ReplicaSet" {
			parent, known = guess(of, pod)
		}
		if known {
			x.count(parent, pod)
		}
	}
}

// podsOf returns the pods of a workload in the input.
func (x *expander) podsOf(of owner) *ownedPods {
	if x.owned[of] == nil {
		x.owned[of] = &ownedPods{owners: map[string]*corev1.Pod{}, indexes: map[string]bool{}}
	}
	return x.owned[of]
}

// count adds a pod to those of its owner.
func (x *expander) count(of owner, pod *corev1.Pod) {
	b := x.podsOf(of)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		b.succeeded++
	case !podlife.Finished(pod) && pod.DeletionTimestamp == nil:
		b.live++
		b.owners[metav1.GetControllerOf(pod).Name] = pod
	default:
		return
	}
	b.indexes[cmp.Or(pod.Labels[indexKey], pod.Annotations[indexKey])] = true
}

// parents returns a function that finds the Deployment of a ReplicaSet that is not in the input
// from one of its pods: the names agree, and the selector selects the pod.
func (x *expander) parents() func(rs owner, pod *corev1.Pod) (owner, bool) {
	all := byName(listed[*appsv1.Deployment](x.found))
	selectors := make([]labels.Selector, len(all))
	for i, d := range all {
		selectors[i], _ = metav1.LabelSelectorAsSelector(d.value.Spec.Selector) // validate has judged it
	}
	return func(rs owner, pod *corev1.Pod) (owner, bool) {
		for i, d := range all {
			if d.Namespace == rs.namespace && strings.HasPrefix(rs.name, d.Name+"-") && selectors[i].Matches(labels.Set(pod.Labels)) {
				return owner{"Deployment", d.Namespace, d.Name}, true
			}
		}
		return owner{}, false
	}
}

func (x *expander) deployment(d item[*appsv1.Deployment]) {
	if t := x.newTemplate(d.Object, d.value, &d.value.Spec.Template); t != nil {
		b := x.podsOf(owner{"Deployment", d.Namespace, d.Name})
		base := x.revision(d, t, b)
		x.want(demand{template: t, base: base, count: orOne(d.value.Spec.Replicas) - b.live})
	}
}

// revision gives a template the labels and the owner of the Deployment's pods: those of the
// ReplicaSet that runs this template. If the input has no ReplicaSet of the Deployment, and its
// pods all belong to one ReplicaSet, that one is used; otherwise a new one is made up. revision
// returns the name of the ReplicaSet.
func (x *expander) revision(d item[*appsv1.Deployment], t *template, b *ownedPods) string {
	any, all := false, byName(listed[*appsv1.ReplicaSet](x.found))
	slices.SortStableFunc(all, func(a, b item[*appsv1.ReplicaSet]) int { // as the Deployment controller compares them
		return a.value.CreationTimestamp.Compare(b.value.CreationTimestamp.Time)
	})
	for _, rs := range all {
		if ref := metav1.GetControllerOf(rs.value); rs.Namespace != d.Namespace || ref == nil || ref.Kind != "Deployment" || ref.Name != d.Name {
			continue
		}
		any = true
		if runs(rs.value, &d.value.Spec.Template) {
			t.Labels = rs.value.Spec.Template.Labels
			t.OwnerReferences = controller("apps/v1", "ReplicaSet", rs.Name, uidOf(rs.value, "ReplicaSet"))
			return rs.Name
		}
	}
	if len(b.owners) == 1 && !any {
		for name, pod := range b.owners {
			if hash := pod.Labels[hashLabel]; hash != "" {
				t.Labels = withLabels(t.Labels, map[string]string{hashLabel: hash})
			}
			t.OwnerReferences = controller("apps/v1", "ReplicaSet", name, metav1.GetControllerOf(pod).UID)
			return name
		}
	}
	name := d.Name + "-" + t.hash
	t.Labels = withLabels(t.Labels, map[string]string{hashLabel: t.hash})
	uid := madeUID("ReplicaSet", d.Namespace, name)
	t.OwnerReferences = controller("apps/v1", "ReplicaSet", name, uid)
	selector := d.value.Spec.Selector.DeepCopy() // the ReplicaSet adds the hash to that of the Deployment
	if selector != nil {
		selector.MatchLabels = withLabels(selector.MatchLabels, map[string]string{hashLabel: t.hash})
	}
	x.own(uid, selector)
	return name
}

// runs says whether a ReplicaSet has the given template of its Deployment.
func runs(rs *appsv1.ReplicaSet, template *corev1.PodTemplateSpec) bool {
	a, b := rs.Spec.Template.DeepCopy(), template.DeepCopy()
	delete(a.Labels, hashLabel)
	delete(b.Labels, hashLabel)
	return equality.Semantic.DeepEqual(a, b)
}

// replicaSet expands a ReplicaSet without a Deployment in the input. Others are expanded with their
// Deployment.
func (x *expander) replicaSet(rs item[*appsv1.ReplicaSet]) {
	ref := metav1.GetControllerOf(rs.value)
	if ref == nil || ref.Kind != "Deployment" || x.seen[id("Deployment", rs.Namespace, ref.Name)] == nil {
		x.plain(rs.Object, rs.value)
	}
}

// plain expands a workload whose pods differ only in their names.
func (x *expander) plain(o *Object, value metav1.Object) {
	w, _ := workloadOf(value)
	if t := x.newTemplate(o, value, w.template); t != nil {
		x.want(demand{template: t, base: o.Name, count: orOne(w.replicas) - x.podsOf(owner{o.Kind, o.Namespace, o.Name}).live})
	}
}

// statefulSet adds all ordinals that have no pod, even if the controller would start them one after
// another. A pod that is being deleted keeps its ordinal until it is gone.
func (x *expander) statefulSet(s item[*appsv1.StatefulSet]) {
	t := x.newTemplate(s.Object, s.value, &s.value.Spec.Template)
	if t == nil {
		return
	}
	for _, claim := range s.value.Spec.VolumeClaimTemplates {
		t.claims = append(t.claims, claim.Name)
	}
	first, partition := 0, 0
	if s.value.Spec.Ordinals != nil {
		first = int(s.value.Spec.Ordinals.Start)
	}
	revision := cmp.Or(s.value.Status.UpdateRevision, s.Name+"-"+t.hash)
	older := cmp.Or(s.value.Status.CurrentRevision, revision)
	if u := s.value.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		partition = int(*u.Partition)
	}
	d := demand{template: t}
	for i := range orOne(s.value.Spec.Replicas) {
		ordinal := strconv.Itoa(first + i)
		name := s.Name + "-" + ordinal
		if x.taken[s.Namespace+"/"+name] {
			continue
		}
		labels := map[string]string{appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: ordinal, appsv1.ControllerRevisionHashLabelKey: revision}
		if i < partition {
			labels[appsv1.ControllerRevisionHashLabelKey] = older
		}
		d.members = append(d.members, member{name, labels})
	}
	d.count = len(d.members)
	x.want(d)
}

// job adds the pods that a Job would run now. A suspended or finished Job adds none.
func (x *expander) job(j item[*batchv1.Job]) {
	spec := &j.value.Spec
	ended := func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	}
	if spec.Suspend != nil && *spec.Suspend || slices.ContainsFunc(j.value.Status.Conditions, ended) {
		return
	}
	t := x.newTemplate(j.Object, j.value, &spec.Template)
	if t == nil {
		return
	}
	b := x.podsOf(owner{"Job", j.Namespace, j.Name})
	succeeded := max(int(j.value.Status.Succeeded), b.succeeded)
	want := orOne(spec.Parallelism)
	switch {
	case spec.Completions != nil || spec.Parallelism == nil:
		want = min(want, max(0, orOne(spec.Completions)-succeeded))
	case succeeded > 0:
		want = 0 // a work queue: once one pod has succeeded no more are started
	}
	if spec.ManualSelector == nil || !*spec.ManualSelector {
		uid := string(uidOf(j.value, "Job"))
		t.Labels = withLabels(map[string]string{
			batchv1.JobNameLabel: j.Name, "job-name": j.Name, batchv1.ControllerUidLabel: uid, "controller-uid": uid,
		}, t.Labels)
	}
	d := demand{template: t, base: j.Name, count: want - b.live}
	if spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion {
		d.members = x.indexed(j, b, d.count)
		d.count = len(d.members)
	}
	x.want(d)
}

// indexKey is the label and the annotation that have the completion index of a pod.
const indexKey = batchv1.JobCompletionIndexAnnotation

// indexed returns the next pods of an indexed Job: those of the lowest indexes without a live or
// succeeded pod.
func (x *expander) indexed(j item[*batchv1.Job], b *ownedPods, count int) (out []member) {
	completed := ranges(j.value.Status.CompletedIndexes)
	for i := 0; i < orOne(j.value.Spec.Completions) && len(out) < min(count, MaxPods); i++ {
		index := strconv.Itoa(i)
		if b.indexes[index] || slices.ContainsFunc(completed, func(r [2]int) bool { return r[0] <= i && i <= r[1] }) {
			continue
		}
		name := j.Name + "-" + index
		out = append(out, member{x.freeName(j.Namespace, name, newSuffixes(j.Namespace+"/"+name)), map[string]string{indexKey: index}})
	}
	return out
}

// ranges returns the first and last numbers of the ranges in a list such as 1,3-5,7. Parts that are
// no numbers are left out.
func ranges(list string) (out [][2]int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, found := strings.Cut(part, "-")
		if !found {
			last = first
		}
		low, err := strconv.Atoi(first)
		if high, err2 := strconv.Atoi(last); err == nil && err2 == nil {
			out = append(out, [2]int{low, high})
		}
	}
	return out
}

// orOne returns *n, or 1 if n is nil.
func orOne(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// want adds a demand for pods. If there are too many pods in total, it reports a fault of this
// workload.
func (x *expander) want(d demand) {
	if d.count <= 0 || x.total > MaxPods {
		return
	}
	x.demands = append(x.demands, d)
	x.total += d.count
	if x.total > MaxPods {
		x.fault(d.template.object, "", "brings the pods that workloads stand for above %d, more than can be planned at once; lower the replicas", MaxPods)
	}
}

// supply makes the pods of a demand. Pods without a name get a random-looking one, as from a
// ReplicaSet or Job.
func (x *expander) supply(d demand) {
	o := d.template.object
	for _, m := range d.members {
		x.add(d.template, m)
	}
	suffixes := newSuffixes(o.Namespace + "/" + d.base)
	for range d.count - len(d.members) {
		x.add(d.template, member{name: x.freeName(o.Namespace, d.base, suffixes)})
	}
	if node := d.template.Spec.NodeName; node != "" && x.node(node) == nil {
		x.note("%s: spec.template.spec.nodeName names node %s, which is not in the input; its pods (%d) run there or nowhere and are not planned for",
			o, node, d.count)
	}
}

// freeName returns the first name that no pod of the input has or had. It is made of a prefix, which
// is shortened if need be, as the API server makes names.
func (x *expander) freeName(namespace, base string, suffixes *suffixes) string {
	if limit := maxNameLength - suffixLength - 1; len(base) > limit {
		base = strings.TrimRight(base[:limit], "-.")
	}
	for {
		name := base + "-" + suffixes.next()
		if _, taken := x.taken[namespace+"/"+name]; !taken {
			return name
		}
	}
}

// add makes one pod. It is pending unless its template names a node.
func (x *expander) add(t *template, m member) {
	x.taken[t.object.Namespace+"/"+m.name] = true
	pod := t.pod(m)
	x.cluster.places["Pod "+pod.Namespace+"/"+pod.Name] = place{t.object, "spec.template"}
	if pod.Spec.NodeName == "" {
		x.cluster.Pods = append(x.cluster.Pods, pod)
	} else if node := x.node(pod.Spec.NodeName); node != nil {
		node.Pods = append(node.Pods, pod)
	}
}

// node finds a Node of the input by its name.
func (x *expander) node(name string) *provisioning.Node {
	i := slices.IndexFunc(x.cluster.Nodes, func(n provisioning.Node) bool { return n.Node != nil && n.Node.Name == name })
	if i < 0 {
		return nil
	}
	return &x.cluster.Nodes[i]
}

// addClaims makes the missing claims that pending pods of StatefulSets get from its templates.
// Claims outlive their pods, so an existing claim is used even if the template has changed.
func (r *reader) addClaims() {
	c := r.cluster
	pods := slices.Clone(c.Pods)
	leaving := disruption.Leaving(c.Nodes) // their pods wait for a place as well: see Depart
	for _, n := range c.Nodes {
		if slices.Contains(leaving, n.Name()) {
			pods = append(pods, n.Pods...)
		}
	}
	for _, pod := range pods {
		ref := metav1.GetControllerOf(pod)
		if ref == nil || ref.Kind != "StatefulSet" {
			continue
		}
		set := r.seen[id("StatefulSet", pod.Namespace, ref.Name)]
		if set == nil {
			continue
		}
		for _, template := range set.value.(*appsv1.StatefulSet).Spec.VolumeClaimTemplates {
			name := template.Name + "-" + pod.Name
			if r.seen[id("PersistentVolumeClaim", pod.Namespace, name)] == nil {
				claim := template.DeepCopy()
				claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
				claim.Namespace, claim.Name = pod.Namespace, name
				claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
				c.Volumes.Claims = append(c.Volumes.Claims, claim)
			}
		}
	}
	slices.SortFunc(c.Volumes.Claims, compareNames)
}
