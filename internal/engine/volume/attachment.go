package volume

import (
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Attachment counts the volumes of one CSI driver that a node must attach for a pod.
type Attachment struct {
	Driver string

	// Own is the number of volumes that no other pod can use.
	Own int64

	// Shared names the volumes that other pods may use too, sorted. On one node each counts once
	// for all pods.
	Shared []string
}

// Count returns the number of volumes.
func (a Attachment) Count() int64 { return a.Own + int64(len(a.Shared)) }

// attachments collects the volumes to attach, by driver.
type attachments map[string]*Attachment

func (as attachments) of(driver string) *Attachment {
	if as[driver] == nil {
		as[driver] = &Attachment{Driver: driver}
	}
	return as[driver]
}

func (as attachments) addOwn(a attached) { as.of(a.driver).Own++ }

func (as attachments) addShared(a attached) {
	of := as.of(a.driver)
	of.Shared = append(of.Shared, a.name())
}

func (as attachments) list() []Attachment {
	var out []Attachment
	for _, driver := range slices.Sorted(maps.Keys(as)) {
		a := *as[driver]
		slices.Sort(a.Shared)
		a.Shared = slices.Compact(a.Shared)
		out = append(out, a)
	}
	return out
}

// Attached returns the volumes that a node has attached for pods bound to it, sorted by driver.
// Pods that are nil or have finished have none. As in kube-scheduler, volumes whose claim is
// missing are left out.
func (x *Index) Attached(pods ...*corev1.Pod) []Attachment {
	as := attachments{}
	for a, kind := range x.attachedBy(pods) {
		if kind == ephemeral {
			as.addOwn(a)
		} else {
			as.addShared(a)
		}
	}
	return as.list()
}

// attachedBy yields the volumes of bound pods, as their drivers identify them, that count against a limit.
func (x *Index) attachedBy(pods []*corev1.Pod) iter.Seq2[attached, kind] {
	return func(yield func(attached, kind) bool) {
		for _, pod := range pods {
			if pod == nil || podlife.Finished(pod) {
				continue
			}
			for i := range pod.Spec.Volumes {
				if a, kind, ok := x.attachmentOf(pod, &pod.Spec.Volumes[i]); ok && !yield(a, kind) {
					return
				}
			}
		}
	}
}

// attachmentOf returns how the driver identifies a volume of a bound pod. It returns false if the
// volume does not count against any limit.
func (x *Index) attachmentOf(pod *corev1.Pod, v *corev1.Volume) (a attached, k kind, ok bool) {
	name, k := claimName(pod, v)
	if k == inline {
		s, ok := inlineSource(&v.VolumeSource)
		return inlineAttachment(s), k, ok && s.err == nil
	}
	if c := x.claims[key(pod.Namespace, name)]; c != nil {
		a, ok = x.attachment(c)
	}
	return a, k, ok
}

// inlineAttachment returns how the driver identifies a volume that a pod defines inline.
func inlineAttachment(s source) attached {
	if s.plugin == gcePD {
		s.handle = "/" + s.handle // its zone is not known
	}
	return attached{plugins[s.plugin].driver, s.handle}
}

// Claims lists the claims of a pod's volumes of type persistentVolumeClaim, as namespace/name,
// sorted and without duplicates. The claims of a bound pod are not available to other pods for
// which they are Exclusive. A nil pod has none.
func Claims(pod *corev1.Pod) []string {
	if pod == nil {
		return nil
	}
	var out []string
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			out = append(out, key(pod.Namespace, c.ClaimName))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// LimitState says what a node publishes about the volume limit of a driver.
type LimitState int

const (
	// LimitUnpublished: nothing, because the driver is missing or has not started. The limit of the
	// instance type may be used instead.
	LimitUnpublished LimitState = iota
	// LimitUnbounded: the driver is there and publishes no limit.
	LimitUnbounded
	// LimitCounted: the driver is there and publishes a limit.
	LimitCounted
)

// csiNode has the parts of a CSINode that the engine reads.
type csiNode struct {
	limits   map[string]limit // by driver
	migrated []string         // in-tree plugins that are served by their CSI drivers
}

type limit struct {
	state LimitState
	count int64
}

// newCSINode reads a CSINode. If a driver has several entries, the last one with a count decides.
func newCSINode(n *storagev1.CSINode) csiNode {
	out := csiNode{limits: make(map[string]limit, len(n.Spec.Drivers))}
	for i := range n.Spec.Drivers {
		d := &n.Spec.Drivers[i]
		switch {
		case d.Allocatable != nil && d.Allocatable.Count != nil:
			out.limits[d.Name] = limit{LimitCounted, max(0, int64(*d.Allocatable.Count))}
		case out.limits[d.Name].state == LimitUnpublished:
			out.limits[d.Name] = limit{state: LimitUnbounded}
		}
	}
	if names := n.Annotations[corev1.MigratedPluginsAnnotationKey]; names != "" {
		out.migrated = strings.Split(names, ",")
	}
	return out
}

// Limit returns how many volumes of a CSI driver the node can have attached in all, including those
// attached now. The number is zero unless the state is LimitCounted.
func (x *Index) Limit(node, driver string) (int64, LimitState) {
	l := x.nodes[node].limits[driver]
	return l.count, l.state
}
