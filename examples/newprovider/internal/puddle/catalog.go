package puddle

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/examples/internal/puddlecloud"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// catalog returns the instance types of the cloud, sorted by name, at most a minute old. No lock is
// held during the call, so each caller waits only for its own call.
func (p *provider) catalog(ctx context.Context) ([]*cloudprovider.InstanceType, error) {
	p.mu.Lock()
	types, fresh := p.types, p.now().Before(p.until)
	p.mu.Unlock()
	if fresh && ctx.Err() == nil { // else the call says so
		return types, nil
	}
	var shapes []puddlecloud.Shape
	if err := p.client.call(ctx, "InstanceTypes", "", "GET", "/v1/shapes", nil, &shapes); err != nil {
		return nil, err
	}
	types = make([]*cloudprovider.InstanceType, len(shapes))
	for i, s := range shapes {
		var err error
		if types[i], err = instanceType(s); err != nil {
			return nil, &cloudprovider.Error{Op: "InstanceTypes", Err: err} // not a short list
		}
	}
	slices.SortFunc(types, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.types, p.until = types, p.now().Add(time.Minute)
	return types, nil
}

// instanceType converts a shape. Facts that the cloud does not report are constants here: the
// number of pods, the disk, and the kubelet's reservations.
func instanceType(s puddlecloud.Shape) (*cloudprovider.InstanceType, error) {
	capacity := resources.New(map[corev1.ResourceName]int64{
		corev1.ResourceCPU:              s.CPUs * 1000,
		corev1.ResourceMemory:           kubelet.VisibleMemory(s.MemoryMiB<<20, 500), // of 10,000
		corev1.ResourceEphemeralStorage: 50 << 30,
		corev1.ResourcePods:             kubelet.SupportedPods(kubelet.RangePods(24, 32), s.CPUs*1000),
	})
	own := map[string]string{labelFamily: s.Name[:strings.IndexByte(s.Name+"-", '-')]}
	if s.GPUs > 0 {
		capacity = capacity.With("nvidia.com/gpu", s.GPUs)
		own[labelGPU] = s.GPU
	}
	m := machine.Machine{
		Name: s.Name, Arch: s.Arch, Region: puddlecloud.Region, Labels: own,
		Capacity: capacity, Overhead: kubelet.GKE().Overhead(capacity, nil),
	}
	for _, price := range s.Prices {
		m.Offerings = append(m.Offerings, cloudprovider.Offering{
			Zone: price.Zone, CapacityType: price.Market, Price: price.USDPerHour, Available: price.USDPerHour > 0,
		})
	}
	return m.InstanceType(labels()...)
}

// instance converts a server. Its labels, capacity and allocatable are those of the offering that
// it was launched from.
func instance(types []*cloudprovider.InstanceType, s puddlecloud.Server) *cloudprovider.Instance {
	i := &cloudprovider.Instance{
		ID: providerID(s), Name: s.Name, NodePool: s.Pool, Type: s.Shape, Zone: s.Zone, CapacityType: s.Market,
		ImageID: s.Image, Price: s.USDPerHour, CreatedAt: s.Created, Deleting: s.Stopping,
	}
	for _, t := range types {
		if o, found := t.Offering(i.OfferingKey()); found { // else the cloud has stopped selling it
			i.Labels = cloudprovider.LaunchOption{InstanceType: t, Offering: o}.NodeLabels()
			i.Capacity = t.Capacity
			i.Allocatable, _ = t.AllocatableFor(o) // Machine.InstanceType has judged it
		}
	}
	return i
}
