package randproblem

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const gib = int64(1) << 30

// drawCatalog draws the instance types that pools share.
func (p *problem) drawCatalog() {
	for i := range p.between(2, p.size.types) {
		p.catalog = append(p.catalog, p.drawType(i))
	}
}

// family is a line of instance types.
type family struct {
	name    string
	perCPU  int64 // memory, bytes
	gpus    bool
	centsPC int // price of a CPU, tenths of a cent an hour
}

func families() []family {
	return []family{
		{"compute", 2 * gib, false, 42},
		{"general", 4 * gib, false, 48},
		{"memory", 8 * gib, false, 63},
		{"gpu", 8 * gib, true, 120},
	}
}

func (p *problem) drawType(i int) *cloudprovider.InstanceType {
	f := pick(p.source, families())
	cpus := pick(p.source, []int{1, 2, 2, 4, 4, 8, 16, 32})
	t := &cloudprovider.InstanceType{Name: fmt.Sprintf("%s-%d.%d", f.name, cpus, i)}
	capacity := map[corev1.ResourceName]int64{
		corev1.ResourceCPU:    int64(cpus) * 1000,
		corev1.ResourceMemory: int64(cpus) * f.perCPU,
		corev1.ResourcePods:   pick(p.source, []int64{4, 8, 29, 58, 110}),
	}
	if p.chance(70) {
		capacity[corev1.ResourceEphemeralStorage] = 20 * gib
	}
	if p.chance(6) {
		capacity[hugePages] = gib / 2
	}
	gpus := 0
	if f.gpus {
		gpus = pick(p.source, []int{1, 1, 2, 4})
		capacity[gpuResource] = int64(gpus)
	}
	t.Capacity = resources.New(capacity)
	t.Overhead = p.drawOverhead()
	offered := some(p.source, 1, zones())
	t.Requirements = p.typeLabels(t.Name, f, cpus, gpus, offered)
	price := float64(f.centsPC*cpus+gpus*400) / 1000
	if p.chance(30) {
		price *= float64(p.between(70, 160)) / 100
	}
	t.Offerings = p.drawOfferings(i, price, offered)
	return t
}

func (p *problem) drawOverhead() cloudprovider.Overhead {
	o := cloudprovider.Overhead{}
	if p.chance(85) {
		o.KubeReserved = resources.MustParse(pick(p.source, []string{
			"cpu=80m, memory=300Mi", "cpu=60m, ephemeral-storage=1Gi, memory=255Mi", "memory=1Gi",
		}))
	}
	if p.chance(20) {
		o.SystemReserved = resources.MustParse("cpu=100m, memory=100Mi")
	}
	if p.chance(60) {
		o.EvictionThreshold = resources.MustParse("memory=100Mi")
	}
	if p.chance(3) {
		// More than the smallest types have: nothing fits on those.
		o.SystemReserved = resources.MustParse("cpu=1100m, memory=3Gi")
	}
	return o
}

func (p *problem) typeLabels(name string, f family, cpus, gpus int, offered []string) requirements.Set {
	arch := []string{v1.ArchitectureAmd64}
	if p.chance(25) {
		arch = []string{v1.ArchitectureArm64}
	} else if p.chance(5) {
		arch = []string{v1.ArchitectureAmd64, v1.ArchitectureArm64}
	}
	systems := []string{"linux"}
	if p.chance(20) {
		systems = append(systems, "windows")
	}
	reqs := []requirements.Requirement{
		requirements.In(corev1.LabelInstanceTypeStable, name),
		requirements.In(corev1.LabelArchStable, arch...),
		requirements.In(corev1.LabelOSStable, systems...),
		requirements.In(corev1.LabelTopologyZone, offered...),
		requirements.In(corev1.LabelTopologyRegion, "region-1"),
		requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypes()...),
		requirements.In(FamilyLabel, f.name),
		requirements.In(CPULabel, strconv.Itoa(cpus)),
		requirements.DoesNotExist(corev1.LabelWindowsBuild),
	}
	if gpus > 0 {
		reqs = append(reqs, requirements.In(GPULabel, pick(p.source, []string{"l4", "h100"})))
	} else {
		reqs = append(reqs, requirements.DoesNotExist(GPULabel))
	}
	switch n := p.below(100); {
	case n < 25:
		reqs = append(reqs, requirements.In(FlavorLabel, some(p.source, 1, []string{"blue", "red"})...))
	case n < 90:
		reqs = append(reqs, requirements.DoesNotExist(FlavorLabel))
	default: // not named, hence open
	}
	return requirements.NewSet(reqs...)
}

func (p *problem) drawOfferings(i int, price float64, offered []string) []cloudprovider.Offering {
	var offerings []cloudprovider.Offering
	for _, zone := range offered {
		onDemand := cloudprovider.Offering{
			Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: p.chance(88),
		}
		p.override(&onDemand)
		offerings = append(offerings, onDemand)
		if p.chance(60) {
			offerings = append(offerings, cloudprovider.Offering{
				Zone: zone, CapacityType: v1.CapacityTypeSpot, Available: p.chance(80),
				Price: price * float64(p.between(25, 90)) / 100,
			})
		}
		if p.chance(4) {
			offerings = append(offerings, cloudprovider.Offering{
				Zone: zone, CapacityType: v1.CapacityTypeReserved, Available: p.chance(90),
				Price:         0.00001, // paid for already
				ReservationID: fmt.Sprintf("cr-%d-%s", i, zone), ReservationCapacity: p.below(3),
			})
		}
	}
	for i := range offerings {
		offerings[i].ID = strconv.Itoa(i)
		labelled := requirements.DoesNotExist(ZoneIDLabel)
		if p.chance(15) {
			labelled = requirements.In(ZoneIDLabel, "id-"+offerings[i].Zone)
		}
		offerings[i].Requirements = requirements.NewSet(labelled)
	}
	// The order of offerings should mean nothing either.
	if p.chance(30) {
		slices.Reverse(offerings)
	}
	return offerings
}

// override gives an offering a size of its own now and then.
func (p *problem) override(o *cloudprovider.Offering) {
	if p.chance(4) {
		capacity := resources.MustParse(pick(p.source, []string{"memory=3Gi", "pods=5", "cpu=1500m", "example.com/gpu=1"}))
		o.Capacity = &capacity
	}
	if p.chance(4) {
		overhead := resources.MustParse(pick(p.source, []string{"memory=0", "cpu=250m", "memory=700Mi"}))
		o.Overhead = &overhead
	}
}

// viewOf returns a pool's own copy of the catalog: with fewer types, and other offerings sold out.
func (p *problem) viewOf(catalog []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	var view []*cloudprovider.InstanceType
	for _, t := range some(p.source, 1, catalog) {
		own := *t
		own.Offerings = slices.Clone(t.Offerings)
		for i := range own.Offerings {
			if p.chance(10) {
				own.Offerings[i].Available = !own.Offerings[i].Available
			}
		}
		view = append(view, &own)
	}
	return view
}
