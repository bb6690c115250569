package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Pod returns the pod that represents a class.
func (p *Problem) Pod(c int) *corev1.Pod { return p.Pods[p.Classes[c].Pods[0]] }

// classifier groups pods into classes.
type classifier struct {
	p             *Problem
	f             *model.Faults
	key           workload.PodKey
	keys          workload.PodKeys
	reader        *workload.TermReader
	headroom      map[*corev1.Pod]bool
	selectorIndex *workload.SelectorIndex

	specKeys map[string]int32
	specs    []workload.PodSpec // by number

	termKeys     map[string]int32
	constraining []int32 // kinds of running pods that can exclude others
	bound        workload.BoundTerms
	boundLimits  workload.BoundLimits
	terms        [][]workload.Term  // by number; 0 has none
	limits       [][]workload.Limit // by number; 0 has none
	termErrs     []error
}

// classify groups the sorted pods of a problem into classes, in the order of their first pods. It
// costs O(pods) hash look-ups; each class is then computed once.
func (k *classifier) classify() {
	termsOf := k.readTerms()
	for i := range k.p.Daemons {
		if a := k.p.Daemons[i].Pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			// A term that cannot be read excludes no pod.
			k.p.Daemons[i].Apart, _ = k.reader.Apart(k.p.Daemons[i].Pod, a.PodAntiAffinity, true)
		}
	}
	k.specKeys = map[string]int32{}
	k.selectorIndex = workload.NewSelectorIndex(k.reader.Selections)
	for i := range k.p.Daemons {
		k.p.Daemons[i].Selected = k.selectorIndex.Members[k.selectorIndex.Of(k.p.Daemons[i].Pod)]
	}
	index := map[workload.Kind]int32{}
	of := make([]int32, len(k.p.Pods))
	var kinds []workload.Kind
	var first, sizes []int32
	for i, pod := range k.p.Pods {
		if pod.Spec.NodeName != "" && !k.p.Opts.Placed {
			k.f.Add(model.PodObject(pod), "spec.nodeName", "is %q; a bound pod belongs in Node.Pods, not among the pods to place", pod.Spec.NodeName)
		}
		id := workload.Kind{Spec: k.readSpec(pod, i), Terms: termsOf[i], Members: k.selectorIndex.Of(pod)}
		c, ok := index[id]
		if !ok {
			c = int32(len(kinds))
			index[id] = c
			kinds, first, sizes = append(kinds, id), append(first, int32(i)), append(sizes, 0)
		}
		of[i] = c
		sizes[c]++
	}
	left := make([]int32, len(k.p.Pods))
	k.p.Classes = make([]workload.Class, len(kinds))
	for c, id := range kinds {
		k.p.Classes[c] = k.newClass(int(first[c]), id)
		k.p.Classes[c].Pods, left = left[:0:sizes[c]], left[sizes[c]:]
	}
	for i, c := range of {
		k.p.Classes[c].Pods = append(k.p.Classes[c].Pods, int32(i))
	}
}

// readTerms reads the constraints between pods, once for each kind of pod, and returns the number
// of the constraints of each pod.
func (k *classifier) readTerms() []int32 {
	k.termKeys = map[string]int32{}
	k.terms, k.limits, k.termErrs = [][]workload.Term{nil}, [][]workload.Limit{nil}, []error{nil}
	out := make([]int32, len(k.p.Pods))
	for i, pod := range k.p.Pods {
		claims := k.p.Extras.Sharing(pod, i)
		if !k.reader.Constrained(pod) && len(claims) == 0 {
			continue
		}
		key := k.key.Between(pod, k.reader.Defaults != nil)
		for _, claim := range claims {
			k.key.Text(claim)
			key = k.key.Buf
		}
		id, fresh := model.Intern(k.termKeys, key, int32(len(k.terms)))
		if fresh {
			terms, err := k.reader.Terms(pod)
			limits, limitsErr := k.reader.Limits(pod)
			k.terms = append(k.terms, k.reader.AddSharing(terms, k.p.Extras, claims))
			k.limits = append(k.limits, limits)
			k.termErrs = append(k.termErrs, errors.Join(err, limitsErr))
		}
		out[i] = id
	}
	return out
}

// newClass computes the requirements of a class from one of its pods. Faults keep the pods of the
// class pending and affect no others.
func (k *classifier) newClass(podID int, id workload.Kind) workload.Class {
	pod, spec := k.p.Pods[podID], &k.specs[id.Spec]
	c := workload.Class{
		Spec:         id.Spec,
		Requests:     spec.Requests,
		Alternatives: spec.Asked.Alternatives,
		Asked:        spec.Asked.Alternatives,
		Preferences:  spec.Asked.Preferences,
		Tolerations:  pod.Spec.Tolerations,
		Holds:        spec.Holds,
		Terms:        k.terms[id.Terms],
		Limits:       k.limits[id.Terms],
		Selected:     k.selectorIndex.Members[id.Members],
		Headroom:     k.headroom[pod],
		HasVolumes:   workload.HasVolumes(pod),
		Priority:     podlife.Priority(pod),
	}
	c.NeedLabels(k.p.Vocabulary)
	c.Refusal = k.refused(pod, spec, k.termErrs[id.Terms])
	k.addExtras(&c, pod, podID)
	if c.Refusal != nil {
		c.Terms, c.Limits, c.Holds = nil, nil, nil
	}
	return c
}

// addExtras sets the volumes and devices of a class.
func (k *classifier) addExtras(c *workload.Class, pod *corev1.Pod, podID int) {
	x := k.p.Extras
	var volumes *workload.VolumeNeed
	if workload.HasVolumes(pod) {
		need := x.NeedOf(pod, podID)
		volumes, c.Volumes, c.VolumeKey = &need, need.Needs, need.Key
		c.Holds = append(c.Holds, kinds.HeldDisks(x.SharedDisks(&need.Needs))...)
		if need.Err != nil && c.Refusal == nil {
			c.Refusal = &model.Reason{Cause: model.CauseVolumes, Detail: workload.OneLine(need.Err)}
		}
	}
	if x.DeviceNeeds != nil && workload.HasDevices(pod) {
		c.Devices = &x.DeviceNeeds[podID]
		if c.Devices.Refusal != nil && c.Refusal == nil {
			c.Refuse(c.Devices.Refusal)
		}
	}
	c.Alternatives = x.Narrow(c.Alternatives, volumes, c.Devices)
}

// refused returns the reason for which pods like this one cannot be placed at all, nil if they can.
func (k *classifier) refused(pod *corev1.Pod, spec *workload.PodSpec, terms error) *model.Reason {
	if r := k.barred(pod); r != nil {
		return r
	}
	if what := workload.Unsupported(pod, k.p.Opts.Kubernetes); what != "" {
		return &model.Reason{Cause: model.CauseUnsupported, Detail: what}
	}
	if err := errors.Join(spec.NoRequests, terms, spec.NotAsked); err != nil {
		// Equal pods share the reason, so it names none of them.
		own := fmt.Sprintf("pod %s/%s: ", spec.Of.Namespace, spec.Of.Name)
		return &model.Reason{Cause: model.CauseInvalid, Detail: strings.ReplaceAll(workload.OneLine(err), own, "")}
	}
	return nil
}

// barred returns the reason for which a pod is not to be scheduled now, whatever it requires; nil
// if it is.
func (k *classifier) barred(pod *corev1.Pod) *model.Reason {
	names := k.p.Opts.SchedulerNames
	switch {
	case k.p.Opts.Placed:
	case len(pod.Spec.SchedulingGates) > 0:
		return &model.Reason{Cause: model.CauseGated, Detail: workload.Gates(pod)}
	case len(names) > 0 && !slices.Contains(names, workload.SchedulerName(pod)):
		return &model.Reason{Cause: model.CauseOtherScheduler, Detail: workload.SchedulerName(pod)}
	case pod.DeletionTimestamp != nil:
		return &model.Reason{Cause: model.CauseDeleting}
	}
	return nil
}

// readSpec returns the number of the PodSpec of a pod.
func (k *classifier) readSpec(pod *corev1.Pod, podID int) int32 {
	id, fresh := model.Intern(k.specKeys, k.specKey(pod, podID), int32(len(k.specs)))
	if fresh {
		s := workload.PodSpec{Of: pod, Holds: kinds.Wanted(pod)}
		s.Requests, s.NoRequests = k.p.requests.Of(pod)
		s.Asked, s.NotAsked = requirements.FromPod(pod, k.p.Vocabulary)
		s.Holds = s.Holds[:len(s.Holds):len(s.Holds)]
		k.specs = append(k.specs, s)
	}
	return id
}

// specKey returns the key of everything that decides where a pod may run, except its constraints
// with other pods. Pods that are pending for a reason of their own get a key of their own.
func (k *classifier) specKey(pod *corev1.Pod, podID int) []byte {
	buf := append(k.key.Buf[:0], k.keys.Of(podID)...)
	buf = append(buf, k.p.Extras.Key(pod, podID)...)
	if r := k.barred(pod); r != nil {
		buf = append(buf, r.Cause...)
		buf = append(buf, r.Detail...)
	}
	buf = append(buf, workload.Unsupported(pod, k.p.Opts.Kubernetes)...)
	if k.headroom[pod] {
		buf = append(buf, "spare"...)
	}
	k.key.Buf = buf
	return buf
}
