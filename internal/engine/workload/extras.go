package workload

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// sharedVolumes are the volumes that several pods use. A node attaches each once, however many of
// its pods use it.
type sharedVolumes struct {
	Ids        map[string]int32 // by driver and name: the number of the volume
	drivers    []string         // by volume
	Dimensions []int            // by volume: index of the resource that counts it
}

// number returns the number of a volume, assigning one if necessary.
func (v *sharedVolumes) number(driver, name string) int32 {
	key := driver + "\x00" + name
	id, ok := v.Ids[key]
	if !ok {
		if v.Ids == nil {
			v.Ids = map[string]int32{}
		}
		id = int32(len(v.drivers))
		v.Ids[key] = id
		v.drivers = append(v.drivers, driver)
	}
	return id
}

// findShares records which volumes of a class other pods may have attached too.
func (x *Extras) findShares(c *Class) {
	for _, a := range c.Volumes.Attach {
		for _, name := range a.Shared {
			if x.Claims.Shared[name] {
				c.Shares = append(c.Shares, x.Attached.number(a.Driver, name))
			}
		}
	}
}

// SetDimensions sets the resource that counts each volume, as an index in names.
func (v *sharedVolumes) SetDimensions(names []corev1.ResourceName) {
	for _, driver := range v.drivers {
		at, _ := slices.BinarySearch(names, VolumesOf(driver))
		v.Dimensions = append(v.Dimensions, at)
	}
}

// AttachedTo lists the volumes that pods on a node use, among those that several pods use.
func (x *Extras) AttachedTo(pods []*corev1.Pod) []int32 {
	if len(x.Attached.Ids) == 0 || !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod != nil && HasVolumes(pod) }) {
		return nil
	}
	var out []int32
	for _, a := range x.Volumes.Attached(pods...) {
		for _, name := range a.Shared {
			if id, ok := x.Attached.Ids[a.Driver+"\x00"+name]; ok {
				out = append(out, id)
			}
		}
	}
	return out
}

// Extras are the needs of pods in addition to the requested resources: volumes, and devices of
// their resource claims. Both are counted as resources under names of their own.
type Extras struct {
	*Indexes
	Counts *device.Counts

	Drivers []string // CSI drivers of which some pod has volumes

	volumeNeeds map[string]*VolumeNeed // by key
	NeedsOf     []*VolumeNeed          // by pod; nil until needed
	DeviceNeeds []device.Need          // by pod; nil if no pod has claims
	DaemonNeeds []device.Need          // by daemon; nil if none has claims
	Claims      claims
	Attached    sharedVolumes
}

// VolumeNeed has the requirements of a pod's volumes. Key is equal for pods that the same nodes
// suit, such as the replicas of a StatefulSet: claims that no other pod uses are not part of it.
type VolumeNeed struct {
	volume.Needs
	Key string
	Err error
}

// NewExtras indexes the storage and device objects and reports their faults. It reuses what is
// unchanged from the known indexes, which may be nil.
func NewExtras(in *model.Input, v *requirements.Vocabulary, kubernetes minors.Range, known *Indexes, f *model.Faults) *Extras {
	return &Extras{Indexes: newIndexes(in, v, kubernetes, known, f), volumeNeeds: map[string]*VolumeNeed{}}
}

// HasDevices says whether a pod has resource claims.
func HasDevices(pod *corev1.Pod) bool { return len(pod.Spec.ResourceClaims) > 0 }

// HasVolumes says whether any volume of a pod may matter to where it runs.
func HasVolumes(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil ||
			v.AzureDisk != nil || v.ISCSI != nil || v.RBD != nil || v.Cinder != nil || v.PortworxVolume != nil || v.VsphereVolume != nil || v.CSI != nil
	})
}

// Key returns a key of a pod's volumes and devices: pods with equal keys are equal in them. podID
// is the ID of the pod.
func (x *Extras) Key(pod *corev1.Pod, podID int) string {
	out := ""
	if HasVolumes(pod) {
		need := x.NeedOf(pod, podID)
		out = need.text(pod)
	}
	if x.DeviceNeeds != nil {
		out += x.DeviceNeeds[podID].Key()
	}
	return out
}

// Known returns the requirements of a pod's volumes, computed once for all pods with equal volumes.
// podID is the ID of the pod.
func (x *Extras) Known(pod *corev1.Pod, podID int) *VolumeNeed {
	if x.NeedsOf[podID] == nil {
		key := x.Volumes.Key(pod)
		need, ok := x.volumeNeeds[key]
		if !ok {
			need = &VolumeNeed{}
			need.Needs, need.Err = x.Volumes.Of(pod)
			x.volumeNeeds[key] = need
		}
		x.NeedsOf[podID] = need
	}
	return x.NeedsOf[podID]
}

// NeedOf is Known, given which other pods use the volumes. It adds an error if another pod has a
// claim that only one pod may use.
func (x *Extras) NeedOf(pod *corev1.Pod, podID int) VolumeNeed {
	known := x.Known(pod, podID)
	if known.Key == "" {
		alone := known.Private(func(name string) bool { return x.Claims.Shared[name] })
		known.Key = alone.Key()
	}
	need := *known
	if len(need.Exclusive) > 0 && need.Err == nil {
		need.Err = x.mayUse(pod, need.Exclusive)
	}
	return need
}

// text returns a key of the requirements.
func (n *VolumeNeed) text(pod *corev1.Pod) string {
	var b strings.Builder
	b.WriteString(n.Key)
	if n.Err != nil {
		b.WriteString(pod.Namespace + n.Err.Error())
	}
	return b.String()
}

// Narrow combines alternatives with those of volumes and devices, and with the node that was
// selected for a volume. The result is empty if they contradict each other.
func (x *Extras) Narrow(alternatives []requirements.Alternative, n *VolumeNeed, d *device.Need) []requirements.Alternative {
	if n != nil && n.NodeName != "" {
		name, tied := requirements.In(nodeNameField, n.NodeName), make([]requirements.Alternative, len(alternatives))
		for i, alt := range alternatives {
			tied[i] = alt.Intersect(requirements.Alternative{NodeNames: &name})
		}
		alternatives = tied
	}
	if n != nil && n.Alternatives != nil {
		var out []requirements.Alternative
		for _, alt := range alternatives {
			for _, set := range n.Alternatives {
				both := alt.Set.Intersect(set)
				if !both.Impossible() {
					out = append(out, requirements.Alternative{Set: both, NodeNames: alt.NodeNames})
				}
			}
		}
		alternatives = out
	}
	if d != nil {
		alternatives = d.Narrow(alternatives)
	}
	return alternatives
}

// VolumesOf returns the resource name under which the volumes of a driver are counted.
func VolumesOf(driver string) corev1.ResourceName {
	return corev1.ResourceName(model.VolumesPrefix + driver)
}

// Attachments returns the volumes of each driver as resources.
func Attachments(list []volume.Attachment) resources.List {
	out := resources.List{}
	for _, a := range list {
		out = out.With(VolumesOf(a.Driver), a.Count())
	}
	return out
}

// unlimited is more than any node has of any resource.
const unlimited = math.MaxInt64 / 4

// OfType returns the extra resources of a new node of an instance type.
func (x *Extras) OfType(t *cloudprovider.InstanceType) resources.List {
	out := resources.List{}
	if x.Counts != nil {
		out = x.Counts.OfType(t)
	}
	for _, driver := range x.Drivers {
		limit, ok := t.VolumeAttachmentLimits[driver]
		if !ok {
			limit = unlimited
		}
		out = out.With(VolumesOf(driver), limit)
	}
	return out
}

// OfNode returns the extra resources that are left on an existing node. t is its instance type, nil
// if it is not known.
func (x *Extras) OfNode(n *model.Existing, t *cloudprovider.InstanceType) resources.List {
	out := resources.List{}
	if x.Counts != nil {
		out = x.Counts.OfNode(n.HostName(), !n.Initialized(), t)
	}
	if len(x.Drivers) == 0 {
		return out
	}
	taken, lingering := Attachments(x.Volumes.Attached(n.Pods...)), x.Volumes.Lingering(n.HostName(), n.Pods...)
	for _, driver := range x.Drivers {
		limit, state := x.Volumes.Limit(n.HostName(), driver)
		if state != volume.LimitCounted {
			limit = unlimited
		}
		if state == volume.LimitUnpublished && t != nil {
			if declared, ok := t.VolumeAttachmentLimits[driver]; ok {
				limit = declared
			}
		}
		name := VolumesOf(driver)
		out = out.With(name, max(limit-taken.Get(name)-lingering[driver], 0))
	}
	return out
}

// Refuse records why no pod of a class can be placed, if its devices are refused.
func (c *Class) Refuse(r *device.Refusal) {
	c.Refusal = &model.Reason{Cause: model.CauseDevices, Detail: r.Text}
	if r.Unsupported {
		c.Refusal = &model.Reason{Cause: model.CauseUnsupported, Detail: r.Text}
	}
}

// Read reads the volumes and devices of pods and daemons.
func (x *Extras) Read(of *Users) {
	if slices.ContainsFunc(of.Pods, HasVolumes) {
		x.NeedsOf = make([]*VolumeNeed, len(of.Pods))
		x.readClaims(of)
	}
	if slices.ContainsFunc(of.Pods, HasDevices) {
		x.DeviceNeeds = x.Devices.Needs(of.Pods)
	}
	for i := range of.Daemons {
		if pod := of.Daemons[i].Pod; HasDevices(pod) {
			if x.DaemonNeeds == nil {
				x.DaemonNeeds = make([]device.Need, len(of.Daemons))
			}
			x.DaemonNeeds[i] = x.Devices.DaemonNeed(pod)
		}
	}
}

// Count counts devices on instance types, and adds volumes and devices to the requests of classes
// and daemons. list returns the instance types, and is called only if there are devices.
func (x *Extras) Count(classes []Class, daemons []Daemon, list func() []*cloudprovider.InstanceType) {
	drivers := map[string]bool{}
	for c := range classes {
		for _, a := range classes[c].Volumes.Attach {
			drivers[a.Driver] = true
		}
	}
	x.Drivers = slices.Sorted(maps.Keys(drivers))
	for c := range classes {
		classes[c].Extra = Attachments(classes[c].Volumes.Attach)
		x.findShares(&classes[c])
	}
	if x.DeviceNeeds == nil && x.DaemonNeeds == nil {
		return
	}
	types := list()
	x.Counts = x.Devices.Count(slices.Concat(x.DeviceNeeds, x.DaemonNeeds), types)
	for c := range classes {
		class := &classes[c]
		if class.Devices == nil || class.Refusal != nil {
			continue
		}
		lists, refused := x.Counts.Requests(class.Devices)
		if refused != nil {
			class.Refuse(refused)
			continue
		}
		if len(lists) > 0 {
			i := x.firstThatFits(types, lists)
			class.Extra, class.Demand = class.Extra.Merge(lists[i]), class.Devices.Demands[i]
		}
	}
	for i := range x.DaemonNeeds {
		if lists, refused := x.Counts.Requests(&x.DaemonNeeds[i]); refused == nil && len(lists) > 0 {
			daemons[i].Extra, daemons[i].Demand = lists[0], x.DaemonNeeds[i].Demands[0]
		}
	}
}

// firstThatFits returns the first of several ways to satisfy a claim for which any instance type has
// enough devices, the first if none has.
func (x *Extras) firstThatFits(types []*cloudprovider.InstanceType, lists []resources.List) int {
	fits := func(list resources.List) bool {
		return slices.ContainsFunc(types, func(t *cloudprovider.InstanceType) bool { return list.Fits(x.Counts.OfType(t)) })
	}
	return max(0, slices.IndexFunc(lists, fits))
}
