package randproblem

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// drawReservations adds reserved offerings that last for a node or two. All
// pools that have the type have the reservation, so that they compete for it. A
// type may have several reservations, in one zone or in different ones, and a
// reservation may be good for several types and zones.
func (p *problem) drawReservations() {
	if !p.chance(45) {
		return
	}
	var of *cloudprovider.InstanceType
	for i := range p.between(1, 4) {
		if of == nil || !p.chance(45) {
			of = pick(p.source, p.catalog)
		}
		o := cloudprovider.Offering{
			CapacityType: v1.CapacityTypeReserved, Available: p.chance(92), Price: pick(p.source, []float64{0.00001, 0.00001, 0.00002, 0.01}),
			ReservationID: fmt.Sprintf("shared-%d", i), ReservationCapacity: pick(p.source, []int{0, 1, 1, 1, 2, 2, 3}),
			Requirements: requirements.NewSet(requirements.DoesNotExist(ZoneIDLabel)),
		}
		o.ID, o.Zone = fmt.Sprintf("reserved-%d", i), pick(p.source, zones())
		p.reserve(of, o)
		if p.chance(25) {
			o.ID, o.Zone = fmt.Sprintf("reserved-%d-too", i), pick(p.source, zones())
			p.reserve(pick(p.source, p.catalog), o)
		}
	}
}

// reserve adds a reserved offering to an instance type in all pools that have
// it, if it is sold in that zone.
func (p *problem) reserve(of *cloudprovider.InstanceType, o cloudprovider.Offering) {
	other := p.chance(10)
	for _, t := range p.types() {
		sold, _ := t.Requirements.Get(corev1.LabelTopologyZone)
		same := func(have cloudprovider.Offering) bool {
			return have.ReservationID == o.ReservationID && have.Zone == o.Zone
		}
		if t.Name != of.Name || !sold.Has(o.Zone) || slices.ContainsFunc(t.Offerings, same) {
			continue
		}
		own := o
		if other {
			// Pools asked at different moments.
			own.ReservationCapacity++
			other = false
		}
		t.Offerings = append(t.Offerings, own)
	}
}

// drawOverlays corrects prices and capacities.
func (p *problem) drawOverlays() {
	if !p.chance(40) {
		return
	}
	for i := range p.between(1, 3) {
		o := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("overlay-%d", i)}}
		o.Spec.Requirements = p.drawOverlayRequirements()
		if p.chance(60) {
			weight := pick(p.source, []int32{1, 10, 10})
			o.Spec.Weight = &weight
		}
		switch n := p.below(100); {
		case n < 25:
			price := pick(p.source, []string{"0.05", "1", "0"})
			o.Spec.Price = &price
		case n < 75:
			adjustment := pick(p.source, []string{"-50%", "+20%", "+0.1", "-0.02", "-100%"})
			o.Spec.PriceAdjustment = &adjustment
		}
		if o.Spec.Price == nil && o.Spec.PriceAdjustment == nil || p.chance(20) {
			o.Spec.Capacity = corev1.ResourceList{pick(p.source, []corev1.ResourceName{gpuResource, fpgaOnly}): quantity("1")}
		}
		p.in.Overlays = append(p.in.Overlays, o)
	}
}

func (p *problem) drawOverlayRequirements() []v1.NodeSelectorRequirement {
	in := corev1.NodeSelectorOpIn
	switch p.below(7) {
	case 0:
		return []v1.NodeSelectorRequirement{}
	case 1:
		return []v1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: in, Values: some(p.source, 1, zones())}}
	case 2:
		return []v1.NodeSelectorRequirement{{Key: v1.CapacityTypeLabelKey, Operator: in, Values: some(p.source, 1, v1.CapacityTypes())}}
	case 3:
		return []v1.NodeSelectorRequirement{{Key: v1.NodePoolLabelKey, Operator: in, Values: []string{pick(p.source, p.in.NodePools).Name}}}
	case 4:
		return []v1.NodeSelectorRequirement{{Key: FamilyLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{pick(p.source, families()).name}}}
	case 5:
		return []v1.NodeSelectorRequirement{{Key: CPULabel, Operator: v1.NodeSelectorOpGte, Values: []string{"4"}}}
	}
	return []v1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: in, Values: []string{pick(p.source, p.catalog).Name}}}
}

// drawPorts gives pods, bound pods and DaemonSets host ports.
func (p *problem) drawPorts() {
	for _, pods := range p.someWorkloads(14) {
		ports, init := p.drawHostPorts(), p.chance(20)
		for _, pod := range pods {
			if init && len(pod.Spec.InitContainers) > 0 {
				pod.Spec.InitContainers[0].Ports = append([]corev1.ContainerPort(nil), ports...)
			} else {
				pod.Spec.Containers[0].Ports = append([]corev1.ContainerPort(nil), ports...)
			}
		}
	}
	for _, pod := range append(p.bound(), p.in.DaemonSetPods...) {
		if p.chance(12) {
			pod.Spec.Containers[0].Ports = p.drawHostPorts()
		}
	}
}

func (p *problem) drawHostPorts() []corev1.ContainerPort {
	var out []corev1.ContainerPort
	first := pick(p.source, []int32{8080, 9090})
	for i := range p.between(1, 2) {
		n := first + int32(i)*1010 // 8080 and 9090 meet
		out = append(out, corev1.ContainerPort{
			ContainerPort: n, HostPort: n,
			Protocol: pick(p.source, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP, ""}),
			HostIP:   pick(p.source, []string{"", "", "0.0.0.0", "10.0.0.1", "127.0.0.1"}),
		})
	}
	return out
}
