package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const (
	versionLabel = "version"
	rackLabel    = "example.org/rack"
	// onlyNodes is a zone without offerings.
	onlyNodes = "zone-d"
)

func racks() []string { return []string{"rack-1", "rack-2"} }

// drawCrowds adds workloads of several small pods, so that constraints between pods have an effect,
// and runs some of these pods on nodes.
func (p *problem) drawCrowds() {
	for i := range p.between(1, 3) {
		shape := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: pick(p.source, namespaces()), Name: fmt.Sprintf("crowd-%d", i), Labels: p.drawLabels(),
		}}
		shape.Status.Phase = corev1.PodPending
		shape.Spec.Containers = []corev1.Container{{Name: "main", Resources: p.drawSmallRequests()}}
		if p.chance(50) {
			shape.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
		if p.chance(15) {
			key, values := p.drawLabel()
			shape.Spec.NodeSelector = map[string]string{key: pick(p.source, values)}
		}
		for copy := range p.between(2, 6) {
			pod := shape.DeepCopy()
			pod.Name = fmt.Sprintf("%s-%d", shape.Name, copy)
			pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
			p.in.Pods = append(p.in.Pods, pod)
		}
	}
	for _, i := range p.machines() {
		for j := range p.below(3) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: pick(p.source, namespaces()), Name: fmt.Sprintf("settled-%02d-%d", i, j), Labels: p.drawLabels(),
			}}
			pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("10m")},
			}}}
			p.run(&p.in.Nodes[i], pod)
			switch n := p.below(100); {
			case n < 6:
				pod.Status.Phase = corev1.PodFailed
			case n < 12:
				pod.DeletionTimestamp = deletedAt()
			}
		}
	}
}

func (p *problem) drawLabels() map[string]string {
	labels := map[string]string{"app": pick(p.source, apps())}
	if p.chance(60) {
		labels[versionLabel] = pick(p.source, []string{"v1", "v2"})
	}
	return labels
}

func (p *problem) drawSmallRequests() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    quantity(pick(p.source, []string{"100m", "250m", "500m", "900m"})),
		corev1.ResourceMemory: quantity(pick(p.source, []string{"128Mi", "512Mi", "1Gi"})),
	}}
}

// drawPlaces makes the map uneven: zones that are only on nodes, zones in which
// nothing is for sale, racks.
func (p *problem) drawPlaces() {
	machines := p.machines()
	if len(machines) > 0 && p.chance(40) {
		label(&p.in.Nodes[pick(p.source, machines)], corev1.LabelTopologyZone, onlyNodes)
	}
	if p.chance(30) {
		zone := pick(p.source, zones())
		for _, t := range p.types() {
			for i := range t.Offerings {
				if t.Offerings[i].Zone == zone {
					t.Offerings[i].Available = false
				}
			}
		}
	}
	for _, i := range machines {
		if p.chance(35) {
			label(&p.in.Nodes[i], rackLabel, pick(p.source, append(racks(), "rack-9")))
		}
	}
	for _, pool := range p.in.NodePools {
		switch n := p.below(100); {
		case n < 15:
			if pool.Spec.Template.Labels == nil {
				pool.Spec.Template.Labels = map[string]string{}
			}
			pool.Spec.Template.Labels[rackLabel] = pick(p.source, racks())
		case n < 40:
			pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: rackLabel, Operator: corev1.NodeSelectorOpIn, Values: racks(),
			})
		}
	}
}

// drawBuffers adds spare room.
func (p *problem) drawBuffers() {
	if !p.chance(35) {
		return
	}
	for i := range p.between(1, 2) {
		b := provisioning.Buffer{Namespace: pick(p.source, namespaces()), Name: fmt.Sprintf("buffer-%d", i), Replicas: p.below(4)}
		b.Template.Labels = p.drawLabels()
		b.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: p.drawSmallRequests()}}
		b.Template.Spec.NodeSelector = p.drawSelector()
		if p.chance(30) {
			b.Template.Spec.TopologySpreadConstraints = p.drawConstraints(b.Template.Labels)
		}
		p.in.Buffers = append(p.in.Buffers, b)
	}
}

// drawStatic fixes the number of nodes of a pool, of which some exist.
func (p *problem) drawStatic() {
	if !p.chance(20) {
		return
	}
	pool := pick(p.source, p.in.NodePools)
	replicas := int64(p.below(4))
	pool.Spec.Replicas, pool.Spec.Weight, pool.Spec.Limits = &replicas, nil, nil
	if p.chance(40) {
		pool.Spec.Limits = v1.Limits{v1.ResourceNodes: quantity(pick(p.source, []string{"0", "1", "3"}))}
	}
}

// drawPriorities makes some workloads matter more than others.
func (p *problem) drawPriorities() {
	for _, pods := range p.someWorkloads(50) {
		priority := pick(p.source, []int32{-10, 0, 100, 2_000_001_000})
		var preemption *corev1.PreemptionPolicy
		if p.chance(25) {
			never := corev1.PreemptNever
			preemption = &never
		}
		for _, pod := range pods {
			pod.Spec.Priority, pod.Spec.PreemptionPolicy = &priority, preemption
		}
	}
	for _, pod := range p.bound() {
		if p.chance(20) {
			priority := pick(p.source, []int32{-10, 100})
			pod.Spec.Priority = &priority
		}
	}
}

// drawOutsiders makes some pods ones that a plan must leave alone.
func (p *problem) drawOutsiders() {
	for _, pods := range p.someWorkloads(10) {
		kind := p.below(3)
		for _, pod := range pods {
			switch kind {
			case 0:
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
			case 1:
				pod.Spec.SchedulerName = "other"
			case 2:
				if p.chance(50) {
					pod.DeletionTimestamp = deletedAt()
				}
			}
		}
	}
}

// drawDefaults adds the objects from which the selector of a default constraint is derived.
func (p *problem) drawDefaults() {
	for i, app := range some(p.source, 0, apps()) {
		p.in.Services = append(p.in.Services, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: pick(p.source, namespaces()), Name: fmt.Sprintf("service-%d", i)},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": app}},
		})
	}
	controller := true
	for i, pods := range p.someWorkloads(40) {
		uid := types.UID(fmt.Sprintf("set-%d", i))
		p.in.Controllers = append(p.in.Controllers, provisioning.Controller{
			UID: uid, Selector: &metav1.LabelSelector{MatchLabels: pods[0].Labels},
		})
		for _, pod := range pods {
			pod.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: string(uid), UID: uid, Controller: &controller,
			}}
		}
	}
}
