package family

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// host is a node while it is being filled.
type host struct {
	scenario.Node
	pool, zone  string
	created     time.Time
	allocatable resources.List
	free        resources.List
	target      float64 // share of CPU or memory to use, whichever is larger
	misses      int
	has         map[*workload]bool
}

// usedOf returns how full the node is, from 0 to 1, when free is left.
func (h *host) usedOf(free resources.List) float64 {
	used := 0.0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		used = max(used, 1-float64(free.Get(name))/float64(h.allocatable.Get(name)))
	}
	return used
}

// full reports whether the node has reached its target within 0.02. GPU nodes are never full.
func (h *host) full() bool { return h.pool != poolGPU && h.usedOf(h.free) > h.target-0.02 }

// familiesOf returns the instance families that the nodes of a pool have.
func familiesOf(pool string) []string {
	return map[string][]string{
		poolGeneral: {"c5", "c6a", "c6i", "m5", "m6a", "m6i", "m7i", "r5", "r6i"},
		poolArm:     {"c6g", "c7g", "m6g", "m7g", "r6g"},
		poolSpot:    {"c5", "c5a", "c6i", "m5", "m5a", "m6i", "r5", "r5a"},
		poolGPU:     {"g4dn", "g5", "g6"},
	}[pool]
}

// host makes the i-th node, hours after its launch, with its daemons. Successive nodes cycle
// through the zones.
func (m *maker) host(i int, target float64) *host {
	poolName := weighted(m.dice, []odds[string]{{13, poolGeneral}, {3, poolArm}, {3, poolSpot}, {1, poolGPU}})
	pool := m.out.NodePools[slices.IndexFunc(m.out.NodePools, func(p *v1.NodePool) bool { return p.Name == poolName })]
	zone := m.zones[i%len(m.zones)]
	return m.hostOf(i, pool, m.offer(pool, zone), target)
}

// hostOf makes the i-th node from an offer.
func (m *maker) hostOf(i int, pool *v1.NodePool, offer offer, target float64) *host {
	zone := offer.zone
	h := &host{
		pool: pool.Name, zone: zone, target: target, has: map[*workload]bool{},
		created: epoch.Add(-time.Duration(5+m.IntN(200)) * time.Hour),
	}
	allocatable := offer.of.Capacity.DeepCopy()
	for name, kept := range offer.of.Overhead {
		q := allocatable[name]
		q.Sub(kept)
		allocatable[name] = q
	}
	// The catalog is the library's own, so its amounts can be parsed.
	h.allocatable, _ = resources.FromResourceList(allocatable)
	h.free = h.allocatable
	name := fmt.Sprintf("node-%05d", i)
	id := fmt.Sprintf("aws:///%s/i-%016x", zone, m.Uint64())
	labels := nodeLabels(pool, offer)
	h.NodeClaim = m.nodeClaim(pool, offer, h, labels, name, id, allocatable)
	labels = maps.Clone(labels)
	labels[corev1.LabelHostname] = name
	labels[v1.NodeRegisteredLabelKey] = "true"
	labels[v1.NodeInitializedLabelKey] = "true"
	h.Node.Node = &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: m.uid(), Labels: labels, CreationTimestamp: metav1.NewTime(h.created.Add(time.Minute)),
			Finalizers: []string{v1.TerminationFinalizer},
		},
		Spec: corev1.NodeSpec{ProviderID: id, Taints: pool.Spec.Template.Spec.Taints},
		Status: corev1.NodeStatus{
			Capacity: offer.of.Capacity, Allocatable: allocatable,
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(h.created.Add(2 * time.Minute)),
			}},
		},
	}
	m.startDaemons(h)
	return h
}

// offer is an instance type with a zone and a capacity type.
type offer struct {
	of                 *scenario.InstanceType
	zone, capacityType string
}

// offer returns a random offer that the pool could have bought in the zone.
func (m *maker) offer(pool *v1.NodePool, zone string) offer {
	capacityType := v1.CapacityTypeOnDemand
	if pool.Name == poolSpot {
		capacityType = v1.CapacityTypeSpot
	}
	for {
		name := oneOf(m.dice, familiesOf(pool.Name)...) + "." + oneOf(m.dice, "xlarge", "xlarge", "2xlarge", "2xlarge", "4xlarge")
		i := slices.IndexFunc(m.types, func(t scenario.InstanceType) bool { return t.Name == name })
		if i < 0 {
			continue
		}
		t := &m.types[i]
		for _, o := range t.Offerings {
			if o.Zone == zone && o.CapacityType == capacityType && o.Available {
				return offer{of: t, zone: zone, capacityType: capacityType}
			}
		}
	}
}

// nodeLabels returns the labels that the pool, the type and the offering give a node.
func nodeLabels(pool *v1.NodePool, o offer) map[string]string {
	labels := maps.Clone(pool.Spec.Template.Labels)
	for _, r := range o.of.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	class := pool.Spec.Template.Spec.NodeClassRef
	labels[v1.NodeClassLabelKey(class.GroupKind())] = class.Name
	labels[v1.NodePoolLabelKey] = pool.Name
	labels[corev1.LabelTopologyZone] = o.zone
	labels[v1.CapacityTypeLabelKey] = o.capacityType
	return labels
}

func (m *maker) nodeClaim(pool *v1.NodePool, o offer, h *host, labels map[string]string, node, id string, allocatable corev1.ResourceList) *v1.NodeClaim {
	template := pool.Spec.Template.DeepCopy().Spec
	return &v1.NodeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.NodeClaimKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: pool.Name + "-" + m.tail(8), UID: m.uid(), Generation: 1, Labels: maps.Clone(labels),
			CreationTimestamp: metav1.NewTime(h.created), Finalizers: []string{v1.TerminationFinalizer},
		},
		Spec: v1.NodeClaimSpec{
			Taints: template.Taints, Requirements: template.Requirements,
			NodeClassRef: template.NodeClassRef, ExpireAfter: template.ExpireAfter,
		},
		Status: v1.NodeClaimStatus{
			NodeName: node, ProviderID: id, Capacity: o.of.Capacity, Allocatable: allocatable,
			LastPodEventTime: metav1.NewTime(epoch.Add(-time.Hour)),
			Conditions: met(h.created.Add(3*time.Minute), v1.ConditionTypeLaunched, v1.ConditionTypeRegistered,
				v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable, v1.ConditionTypeReady),
		},
	}
}

// startDaemons runs a pod of each daemon that belongs on the node.
func (m *maker) startDaemons(h *host) {
	for _, d := range m.out.DaemonSetPods {
		if d.Spec.NodeSelector != nil && h.pool != poolGPU {
			continue
		}
		meta := metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name + "-" + m.tail(8), Labels: d.Labels, OwnerReferences: d.OwnerReferences}
		target := h.target
		h.target = 1 // daemons start first, and ignore the target
		h.run(m, meta, d.Spec)
		h.target = target
	}
}
