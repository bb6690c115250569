package provisioning

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/device"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// class is a group of pods that are identical to the engine.
type class struct {
	// pods are indices into Problem.pods, ascending; the first stands for all.
	pods []int32

	spec         int32 // equal for pods that ask the same, but towards other pods
	requests     resources.List
	alternatives []requirements.Alternative // any one of which will do
	asked        []requirements.Alternative // the same as the pod states them, without what its volumes and devices ask
	labels       []string                   // that a node must have, whatever the value
	preferences  []requirements.Preference
	tolerations  []corev1.Toleration
	priority     int32
	ports        []hostPort

	terms    []term     // constraints towards other pods, hard ones first
	selected bitset.Set // the selections that its pods are in

	// refusal says why the whole class stays unplaced, nil if nothing does.
	refusal *Reason

	volumes    volume.Needs
	shares     []int32 // volumes that other pods may have attached
	volumeKey  string  // equal for volumes that the same nodes suit
	devices    *device.Need
	extra      resources.List // volumes and devices, counted like resources
	headroom   bool           // spare room: the pods do not exist
	noSpot     bool           // its pods are to come on other than spot capacity
	hasVolumes bool           // that may matter to where it runs
}

// pod returns the pod that stands for a class.
func (p *Problem) pod(c int) *corev1.Pod { return p.pods[p.classes[c].pods[0]] }

// sortedPods returns the pods by namespace and name, and reports those that
// are missing, nameless, listed twice or bound.
func sortedPods(pods []*corev1.Pod, list string, f *faults) []*corev1.Pod {
	sorted := make([]*corev1.Pod, 0, len(pods))
	for i, pod := range pods {
		switch {
		case pod == nil:
			f.add(fmt.Sprintf("%s[%d]", list, i), "", "is nil; leave it out")
		case pod.Name == "":
			f.add(fmt.Sprintf("%s[%d]", list, i), "metadata.name", "is empty; pods are told apart by namespace and name")
		default:
			sorted = append(sorted, pod)
		}
	}
	slices.SortStableFunc(sorted, comparePods)
	return slices.CompactFunc(sorted, func(a, b *corev1.Pod) bool {
		if comparePods(a, b) != 0 {
			return false
		}
		f.add(podObject(b), "", "is listed twice in %s; list each pod once", list)
		return true
	})
}

func comparePods(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func podObject(pod *corev1.Pod) string {
	return fmt.Sprintf("Pod %q", pod.Namespace+"/"+pod.Name)
}

// classifier groups pods into classes.
type classifier struct {
	p             *Problem
	f             *faults
	key           podKey
	reader        *termReader
	headroom      map[*corev1.Pod]bool
	selectorIndex *selectorIndex

	specKeys map[string]int32
	specs    []podSpec // by number

	termKeys         map[string]int32
	boundKinds       *boundKinds
	boundMemberships [][]int32 // by node: the kinds of the pods there
	bound            boundTerms
	terms            [][]term // by number; 0 has none
	termErrs         []error
}

// classify groups the sorted pods of a problem into classes, in the order of
// their first pods. It costs O(pods) hash look-ups; what a class means is worked
// out once.
func (k *classifier) classify() {
	termsOf := k.readTerms()
	for i := range k.p.daemons {
		if a := k.p.daemons[i].pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			// What cannot be read keeps nobody away.
			k.p.daemons[i].apart, _ = k.reader.apart(k.p.daemons[i].pod, a.PodAntiAffinity, k.reader.namespaces.Incoming)
		}
	}
	k.specKeys = map[string]int32{}
	k.selectorIndex = newSelectorIndex(k.reader.selections)
	for i := range k.p.daemons {
		k.p.daemons[i].selected = k.selectorIndex.members[k.selectorIndex.of(k.p.daemons[i].pod)]
	}
	index := map[kind]int32{}
	of := make([]int32, len(k.p.pods))
	var kinds []kind
	var first, sizes []int32
	for i, pod := range k.p.pods {
		if pod.Spec.NodeName != "" {
			k.f.add(podObject(pod), "spec.nodeName", "is %q; a bound pod belongs in Node.Pods, not among the pods to place", pod.Spec.NodeName)
		}
		id := kind{k.readSpec(pod, i), termsOf[i], k.selectorIndex.of(pod)}
		c, ok := index[id]
		if !ok {
			c = int32(len(kinds))
			index[id] = c
			kinds, first, sizes = append(kinds, id), append(first, int32(i)), append(sizes, 0)
		}
		of[i] = c
		sizes[c]++
	}
	left := make([]int32, len(k.p.pods))
	k.p.classes = make([]class, len(kinds))
	for c, id := range kinds {
		k.p.classes[c] = k.newClass(int(first[c]), id)
		k.p.classes[c].pods, left = left[:0:sizes[c]], left[sizes[c]:]
	}
	for i, c := range of {
		k.p.classes[c].pods = append(k.p.classes[c].pods, int32(i))
	}
}

// kind is what makes a class: numbers of what its pods ask, of their constraints
// towards others, and of the selections that they are in.
type kind struct{ spec, terms, members int32 }

// readTerms reads the constraints between pods, of each kind of pod once, and
// returns the number of those of each pod.
func (k *classifier) readTerms() []int32 {
	k.termKeys = map[string]int32{}
	k.terms, k.termErrs = [][]term{nil}, []error{nil}
	out := make([]int32, len(k.p.pods))
	for i, pod := range k.p.pods {
		claims := k.p.extras.sharing(pod, i)
		if !k.reader.constrained(pod) && len(claims) == 0 {
			continue
		}
		key := k.key.between(pod, k.reader.defaults != nil)
		for _, claim := range claims {
			k.key.Text(claim)
			key = k.key.Buf
		}
		id, fresh := intern(k.termKeys, key, int32(len(k.terms)))
		if fresh {
			terms, err := k.reader.terms(pod)
			k.terms = append(k.terms, k.reader.addSharing(terms, k.p.extras, claims))
			k.termErrs = append(k.termErrs, err)
		}
		out[i] = id
	}
	return out
}

// intern returns the number of a key, and whether it is new and got the next.
func intern(index map[string]int32, key []byte, next int32) (int32, bool) {
	if id, ok := index[string(key)]; ok {
		return id, false
	}
	index[string(key)] = next
	return next, true
}

// newClass works out what pods of a kind ask for, of which one is given. What is
// wrong with them keeps them pending and all else goes on.
func (k *classifier) newClass(podID int, id kind) class {
	pod, spec := k.p.pods[podID], &k.specs[id.spec]
	c := class{
		spec:         id.spec,
		requests:     spec.requests,
		alternatives: spec.asked.Alternatives,
		asked:        spec.asked.Alternatives,
		preferences:  spec.asked.Preferences,
		tolerations:  pod.Spec.Tolerations,
		ports:        spec.ports,
		terms:        k.terms[id.terms],
		selected:     k.selectorIndex.members[id.members],
		headroom:     k.headroom[pod],
		hasVolumes:   hasVolumes(pod),
	}
	if pod.Spec.Priority != nil {
		c.priority = *pod.Spec.Priority
	}
	c.needLabels(k.p.vocabulary)
	c.refusal = k.refused(pod, spec, k.termErrs[id.terms])
	k.addExtras(&c, pod, podID)
	if c.refusal != nil {
		c.terms, c.ports = nil, nil
	}
	return c
}

// needLabels notes the labels that constraints towards other pods are about. A
// node without one takes no pod that is to be spread over it, or with others by
// it.
func (c *class) needLabels(v *requirements.Vocabulary) {
	for _, t := range c.terms {
		if t.weight == 0 && t.kind != topology.Apart && !t.besideStorage() && !slices.Contains(c.labels, t.key) {
			c.labels = append(c.labels, t.key)
		}
	}
	for _, key := range c.labels {
		if key == corev1.LabelHostname {
			continue // every new node has it
		}
		there := requirements.NewSet(requirements.Exists(v.NormalizeKey(key)))
		narrowed := make([]requirements.Alternative, len(c.alternatives))
		for i, alt := range c.alternatives {
			narrowed[i] = requirements.Alternative{Set: alt.Set.Intersect(there), NodeNames: alt.NodeNames}
		}
		c.alternatives = narrowed
	}
}

// addExtras works out the volumes and devices of a class.
func (k *classifier) addExtras(c *class, pod *corev1.Pod, podID int) {
	x := k.p.extras
	var volumes *volumeNeed
	if hasVolumes(pod) {
		need := x.needOf(pod, podID)
		volumes, c.volumes, c.volumeKey = &need, need.Needs, need.key
		c.ports = append(c.ports, heldDisks(x.sharedDisks(&need.Needs))...)
		if need.err != nil && c.refusal == nil {
			c.refusal = &Reason{Cause: CauseVolumes, Detail: oneLine(need.err)}
		}
	}
	if x.deviceNeeds != nil && hasDevices(pod) {
		c.devices = &x.deviceNeeds[podID]
		if c.devices.Refusal != nil && c.refusal == nil {
			c.refuse(c.devices.Refusal)
		}
	}
	c.alternatives = x.narrow(c.alternatives, volumes, c.devices)
}

// refused says what keeps pods like this one from being placed at all.
func (k *classifier) refused(pod *corev1.Pod, spec *podSpec, terms error) *Reason {
	if r := k.barred(pod); r != nil {
		return r
	}
	if err := errors.Join(spec.noRequests, terms, spec.notAsked); err != nil {
		// Pods that are alike share the reason, so it names none of them.
		own := fmt.Sprintf("pod %s/%s: ", spec.of.Namespace, spec.of.Name)
		return &Reason{Cause: CauseInvalid, Detail: strings.ReplaceAll(oneLine(err), own, "")}
	}
	return nil
}

// barred says why a pod is not to be scheduled now, whatever it asks for.
func (k *classifier) barred(pod *corev1.Pod) *Reason {
	names := k.p.opts.SchedulerNames
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		return &Reason{Cause: CauseGated, Detail: gates(pod)}
	case len(names) > 0 && !slices.Contains(names, schedulerName(pod)):
		return &Reason{Cause: CauseOtherScheduler, Detail: schedulerName(pod)}
	case pod.DeletionTimestamp != nil:
		return &Reason{Cause: CauseDeleting}
	}
	return nil
}

func schedulerName(pod *corev1.Pod) string {
	return cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// gates lists the scheduling gates of a pod.
func gates(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		names = append(names, cmp.Or(g.Name, "one without a name"))
	}
	return strings.Join(names, ", ")
}

// oneLine joins the lines of an error.
func oneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }
