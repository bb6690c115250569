package workload

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Class is a group of pods that are identical to the engine.
type Class struct {
	// pods are indices into Problem.pods, ascending; the first stands for all.
	Pods []int32

	Spec         int32 // equal for pods that ask the same, but towards other pods
	Requests     resources.List
	Alternatives []requirements.Alternative // any one of which will do
	Asked        []requirements.Alternative // the same as the pod states them, without what its volumes and devices ask
	Labels       []string                   // that a node must have, whatever the value
	Preferences  []requirements.Preference
	Tolerations  []corev1.Toleration
	Priority     int32
	Holds        []constraint.Hold // of its node: ports, and disks that others name too

	Terms    []Term     // constraints towards other pods, hard ones first
	Limits   []Limit    // on the pods of its node
	Selected bitset.Set // the selections that its pods are in

	// refusal says why the whole class stays unplaced, nil if nothing does.
	Refusal *model.Reason

	Volumes    volume.Needs
	Shares     []int32 // volumes that other pods may have attached
	VolumeKey  string  // equal for volumes that the same nodes suit
	Devices    *device.Need
	Demand     device.Demand  // the one of Devices that is counted
	Extra      resources.List // volumes and devices, counted like resources
	Headroom   bool           // spare room: the pods do not exist
	NoSpot     bool           // its pods are to come on other than spot capacity
	HasVolumes bool           // that may matter to where it runs
}

// Kind is what makes a class: numbers of what its pods ask, of their constraints
// towards others, and of the selections that they are in.
type Kind struct{ Spec, Terms, Members int32 }

// NeedLabels notes the labels that constraints towards other pods are about. A
// node without one takes no pod that is to be spread over it, or with others by
// it.
func (c *Class) NeedLabels(v *requirements.Vocabulary) {
	for _, t := range c.Terms {
		if t.Weight == 0 && t.Kind != topology.Apart && !t.besideStorage() && !slices.Contains(c.Labels, t.Key) {
			c.Labels = append(c.Labels, t.Key)
		}
	}
	for _, key := range c.Labels {
		if key == corev1.LabelHostname {
			continue // every new node has it
		}
		there := requirements.NewSet(requirements.Exists(v.NormalizeKey(key)))
		narrowed := make([]requirements.Alternative, len(c.Alternatives))
		for i, alt := range c.Alternatives {
			narrowed[i] = requirements.Alternative{Set: alt.Set.Intersect(there), NodeNames: alt.NodeNames}
		}
		c.Alternatives = narrowed
	}
}

// SchedulerName is that of the scheduler of a pod.
func SchedulerName(pod *corev1.Pod) string {
	return cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// Gates lists the scheduling gates of a pod.
func Gates(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		names = append(names, cmp.Or(g.Name, "one without a name"))
	}
	return strings.Join(names, ", ")
}

// OneLine joins the lines of an error.
func OneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }

// PodSpec is what pods ask for that are alike but for their constraints towards
// others, worked out once for all.
type PodSpec struct {
	Of       *corev1.Pod // one of them
	Requests resources.List
	Asked    requirements.Pod
	Holds    []constraint.Hold

	// What is wrong with the requests, and with what is asked of nodes.
	NoRequests, NotAsked error
}
