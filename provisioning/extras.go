package provisioning

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/device"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// extras are what pods need beside the resources they request: volumes, and the
// devices of their resource claims. Both are counted as if they were resources
// with names of their own.
type extras struct {
	volumes *volume.Index
	devices *device.Index
	counts  *device.Counts

	drivers []string // that some pod has volumes of

	volumeNeeds map[string]*volumeNeed // by key
	needsOf     []*volumeNeed          // the same by pod, once asked for
	deviceNeeds []device.Need          // by pod, nil if none has claims
	daemonNeeds []device.Need          // by daemon, likewise
	claims      claims
	attached    sharedVolumes
}

// volumeNeed is what the volumes of a pod ask for. key is equal for pods that
// the same nodes suit, such as the replicas of a StatefulSet: claims that no
// other pod has are not in it.
type volumeNeed struct {
	volume.Needs
	key string
	err error
}

// newExtras indexes the storage and device objects and reports their faults.
func newExtras(in *Input, v *requirements.Vocabulary, f *faults) *extras {
	x := &extras{volumeNeeds: map[string]*volumeNeed{}}
	var err error
	x.volumes, err = volume.New(volume.Objects{
		Claims: in.Volumes.Claims, Volumes: in.Volumes.Volumes, Classes: in.Volumes.Classes, CSINodes: in.Volumes.CSINodes,
	}, v)
	for _, e := range joined(err) {
		var fault *volume.Fault
		if errors.As(e, &fault) {
			f.add("Volumes."+fault.Object, fault.Field, "%s", fault.Detail)
		}
	}
	x.devices, err = device.New(device.Objects{
		Claims: in.Devices.Claims, Templates: in.Devices.Templates, Classes: in.Devices.Classes,
		Slices: in.Devices.Slices, Matcher: in.Devices.Matcher, Vocabulary: v,
	})
	for _, e := range joined(err) {
		var fault *device.Fault
		if errors.As(e, &fault) {
			f.add(fault.Object, fault.Field, "%s", fault.Detail)
		}
	}
	// What is at fault has been said; the rest goes on without it.
	if x.volumes == nil {
		x.volumes, _ = volume.New(volume.Objects{}, v)
	}
	if x.devices == nil {
		x.devices, _ = device.New(device.Objects{})
	}
	return x
}

// read works out what pods and daemons need.
func (x *extras) read(p *Problem) {
	if slices.ContainsFunc(p.pods, hasVolumes) {
		x.needsOf = make([]*volumeNeed, len(p.pods))
		x.readClaims(p)
	}
	if slices.ContainsFunc(p.pods, hasDevices) {
		x.deviceNeeds = x.devices.Needs(p.pods)
	}
	for i := range p.daemons {
		if hasDevices(p.daemons[i].pod) && x.daemonNeeds == nil {
			x.daemonNeeds = make([]device.Need, len(p.daemons))
		}
		if hasDevices(p.daemons[i].pod) {
			x.daemonNeeds[i] = x.devices.DaemonNeed(p.daemons[i].pod)
		}
	}
}

func hasDevices(pod *corev1.Pod) bool { return len(pod.Spec.ResourceClaims) > 0 }

// hasVolumes says whether some volume of a pod may matter to where it runs.
func hasVolumes(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil ||
			v.AzureDisk != nil || v.ISCSI != nil || v.RBD != nil || v.Cinder != nil || v.PortworxVolume != nil || v.VsphereVolume != nil || v.CSI != nil
	})
}

// key tells pods apart by their volumes and devices; podID is the pod's.
func (x *extras) key(pod *corev1.Pod, podID int) string {
	out := ""
	if hasVolumes(pod) {
		need := x.needOf(pod, podID)
		out = need.text(pod)
	}
	if x.deviceNeeds != nil {
		out += x.deviceNeeds[podID].Key()
	}
	return out
}

// known works out the volumes of a pod, given its pod ID: once for all pods alike.
func (x *extras) known(pod *corev1.Pod, podID int) *volumeNeed {
	if x.needsOf[podID] == nil {
		key := x.volumes.Key(pod)
		need, ok := x.volumeNeeds[key]
		if !ok {
			need = &volumeNeed{}
			need.Needs, need.err = x.volumes.Of(pod)
			x.volumeNeeds[key] = need
		}
		x.needsOf[podID] = need
	}
	return x.needsOf[podID]
}

// needOf returns the volumes of a pod, once it is known who else uses them. Claims
// that only one pod may use are for each pod to get.
func (x *extras) needOf(pod *corev1.Pod, podID int) volumeNeed {
	known := x.known(pod, podID)
	if known.key == "" {
		alone := known.Private(func(name string) bool { return x.claims.shared[name] })
		known.key = alone.Key()
	}
	need := *known
	if len(need.Exclusive) > 0 && need.err == nil {
		need.err = x.mayUse(pod, need.Exclusive)
	}
	return need
}

// text tells needs apart.
func (n *volumeNeed) text(pod *corev1.Pod) string {
	var b strings.Builder
	b.WriteString(n.key)
	if n.err != nil {
		b.WriteString(pod.Namespace + n.err.Error())
	}
	return b.String()
}

// narrow multiplies alternatives by those of volumes and devices. Nothing is
// left where they contradict each other.
func (x *extras) narrow(alternatives []requirements.Alternative, n *volumeNeed, d *device.Need) []requirements.Alternative {
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

// volumesOf is the name under which the volumes of a driver are counted.
func volumesOf(driver string) corev1.ResourceName {
	return corev1.ResourceName(volumesPrefix + driver)
}

const volumesPrefix = "volumes of driver "

// attachments are what a pod takes of the limits of drivers.
func attachments(list []volume.Attachment) resources.List {
	out := resources.List{}
	for _, a := range list {
		out = out.With(volumesOf(a.Driver), a.Count())
	}
	return out
}

// unlimited is more than any node has of anything.
const unlimited = math.MaxInt64 / 4

// ofType is what a new node of a type has.
func (x *extras) ofType(t *cloudprovider.InstanceType) resources.List {
	out := resources.List{}
	if x.counts != nil {
		out = x.counts.OfType(t)
	}
	for _, driver := range x.drivers {
		limit, ok := t.VolumeAttachmentLimits[driver]
		if !ok {
			limit = unlimited
		}
		out = out.With(volumesOf(driver), limit)
	}
	return out
}

// ofNode is what a node that exists has left, given its type if that is known.
func (x *extras) ofNode(n *existing, t *cloudprovider.InstanceType) resources.List {
	out := resources.List{}
	if x.counts != nil {
		out = x.counts.OfNode(n.hostName(), !n.initialized(), t)
	}
	if len(x.drivers) == 0 {
		return out
	}
	taken := attachments(x.volumes.Attached(n.Pods...))
	for _, driver := range x.drivers {
		limit, state := x.volumes.Limit(n.hostName(), driver)
		if state != volume.LimitCounted {
			limit = unlimited
		}
		if state == volume.LimitUnpublished && t != nil {
			if declared, ok := t.VolumeAttachmentLimits[driver]; ok {
				limit = declared
			}
		}
		name := volumesOf(driver)
		out = out.With(name, max(limit-taken.Get(name), 0))
	}
	return out
}

// settle counts devices, once the types are known, and adds what classes and
// daemons need to what they request.
func (x *extras) settle(p *Problem) {
	drivers := map[string]bool{}
	for c := range p.classes {
		for _, a := range p.classes[c].volumes.Attach {
			drivers[a.Driver] = true
		}
	}
	x.drivers = slices.Sorted(maps.Keys(drivers))
	for c := range p.classes {
		p.classes[c].extra = attachments(p.classes[c].volumes.Attach)
		x.findShares(&p.classes[c])
	}
	if x.deviceNeeds == nil && x.daemonNeeds == nil {
		return
	}
	var types []*cloudprovider.InstanceType
	for i := range p.pools {
		types = append(types, p.pools[i].types...)
	}
	x.counts = x.devices.Count(slices.Concat(x.deviceNeeds, x.daemonNeeds), types)
	for c := range p.classes {
		class := &p.classes[c]
		if class.devices == nil || class.refusal != nil {
			continue
		}
		lists, refused := x.counts.Requests(class.devices)
		if refused != nil {
			class.refuse(refused)
			continue
		}
		if len(lists) > 0 {
			class.extra = class.extra.Merge(x.firstThatFits(p, lists))
		}
	}
	for i := range x.daemonNeeds {
		if lists, refused := x.counts.Requests(&x.daemonNeeds[i]); refused == nil && len(lists) > 0 {
			p.daemons[i].extra = lists[0]
		}
	}
}

// firstThatFits returns the first of several ways to meet a claim that some
// type or node has the devices for, the first if none has.
func (x *extras) firstThatFits(p *Problem, lists []resources.List) resources.List {
	for _, list := range lists {
		for i := range p.pools {
			for _, t := range p.pools[i].types {
				if list.Fits(x.counts.OfType(t)) {
					return list
				}
			}
		}
	}
	return lists[0]
}

func (c *class) refuse(r *device.Refusal) {
	c.refusal = &Reason{Cause: CauseDevices, Detail: r.Text}
	if r.Unsupported {
		c.refusal = &Reason{Cause: CauseUnsupported, Detail: r.Text}
	}
}
