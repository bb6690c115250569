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
	// Pods are pod IDs, ascending; the first pod represents the class.
	Pods []int32

	Spec         int32 // equal for pods with equal requirements, apart from constraints with other pods
	Requests     resources.List
	Alternatives []requirements.Alternative // requirements, of which a node must satisfy one
	Asked        []requirements.Alternative // Alternatives of the pods alone, without those of volumes and devices
	Labels       []string                   // keys that a node must have, with any value
	Preferences  []requirements.Preference
	Tolerations  []corev1.Toleration
	Priority     int32
	Holds        []constraint.Hold // what its pods occupy on their node: ports, and disks that other pods name too

	Terms    []Term     // constraints with other pods, required ones first
	Limits   []Limit    // on the number of pods on its node
	Selected bitset.Set // selections that select its pods

	// Refusal says why the whole class stays unplaced; nil if it may be placed.
	Refusal *model.Reason

	Volumes    volume.Needs
	Shares     []int32 // volumes that other pods may have attached too
	VolumeKey  string  // equal for volumes that the same nodes suit
	Devices    *device.Need
	Demand     device.Demand  // the demand of Devices that is counted
	Extra      resources.List // volumes and devices, counted as resources
	Headroom   bool           // headroom: the pods do not exist
	NoSpot     bool           // CapacityMix assigns its pods to other capacity than spot
	HasVolumes bool           // its volumes may matter to where it runs
}

// Kind identifies a class by numbers: of its pods' requirements, of their constraints with other
// pods, and of the set of selections that select them.
type Kind struct{ Spec, Terms, Members int32 }

// NeedLabels adds the labels of constraints with other pods to those that a node must have. A node
// without such a label takes no pod that is spread, or placed together with others, over the label.
// Pods that share a claim can be on a node that gets the label later.
func (c *Class) NeedLabels(v *requirements.Vocabulary) {
	for _, t := range c.Terms {
		if t.Weight == 0 && t.Kind != topology.Apart && !t.Storage && !slices.Contains(c.Labels, t.Key) {
			c.Labels = append(c.Labels, t.Key)
		}
	}
	for _, key := range c.Labels {
		if key == corev1.LabelHostname {
			continue // every new node has a hostname
		}
		there := requirements.NewSet(requirements.Exists(v.NormalizeKey(key)))
		narrowed := make([]requirements.Alternative, len(c.Alternatives))
		for i, alt := range c.Alternatives {
			narrowed[i] = requirements.Alternative{Set: alt.Set.Intersect(there), NodeNames: alt.NodeNames}
		}
		c.Alternatives = narrowed
	}
}

// SchedulerName returns the name of a pod's scheduler.
func SchedulerName(pod *corev1.Pod) string {
	return cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// Gates lists the scheduling gates of a pod for a message.
func Gates(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		names = append(names, cmp.Or(g.Name, "one without a name"))
	}
	return strings.Join(names, ", ")
}

// OneLine renders an error on one line.
func OneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }

// PodSpec has the requirements of pods that are equal apart from their constraints with other pods.
// It is computed once for all of them.
type PodSpec struct {
	Of       *corev1.Pod // one of the pods
	Requests resources.List
	Asked    requirements.Pod
	Holds    []constraint.Hold

	// Faults of the requests, and of the node requirements.
	NoRequests, NotAsked error
}
