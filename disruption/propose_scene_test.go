package disruption_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Scenes of consolidation have machines with a size: so many CPUs and four times
// as many GiB, and nothing kept back.

// sizedType returns a type of the given number of CPUs, at a price on demand in zone a; or with
// other offerings.
func sizedType(name string, cpu int64, price float64, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	if len(offerings) == 0 {
		offerings = []cloudprovider.Offering{onDemand("a", price)}
	}
	zones, kinds := map[string]bool{}, map[string]bool{}
	for _, o := range offerings {
		zones[o.Zone], kinds[o.CapacityType] = true, true
	}
	return &cloudprovider.InstanceType{
		Name: name,
		Requirements: requirements.MustParse(fmt.Sprintf("node.kubernetes.io/instance-type = %s, topology.kubernetes.io/zone in (%s), "+
			"karpenter.sh/capacity-type in (%s), kubernetes.io/arch = amd64, kubernetes.io/os = linux", name, keys(zones), keys(kinds))),
		Capacity:  resources.MustParse(fmt.Sprintf("cpu=%d, memory=%dGi, pods=110", cpu, 4*cpu)),
		Offerings: offerings,
	}
}

func keys(set map[string]bool) string {
	var out []string
	for _, k := range []string{"a", "b", "c", v1.CapacityTypeOnDemand, v1.CapacityTypeReserved, v1.CapacityTypeSpot} {
		if set[k] {
			out = append(out, k)
		}
	}
	return strings.Join(out, ", ")
}

func onDemand(zone string, price float64) cloudprovider.Offering {
	return cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true}
}

func spot(zone string, price float64) cloudprovider.Offering {
	return cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeSpot, Price: price, Available: true}
}

// machine returns an initialized node of a type, in zone a and on demand, with pods.
func machine(name, pool string, t *cloudprovider.InstanceType, pods ...*corev1.Pod) provisioning.Node {
	n := newNode(name, pool, withLabel(corev1.LabelInstanceTypeStable, t.Name), withLabel(corev1.LabelHostname, name),
		withLabel(corev1.LabelArchStable, "amd64"), withLabel(corev1.LabelOSStable, "linux"))
	n.Node.Status.Capacity = t.Capacity.ResourceList()
	n.Node.Status.Allocatable = t.Capacity.ResourceList()
	n.NodeClaim.Status.Capacity, n.NodeClaim.Status.Allocatable = n.Node.Status.Capacity, n.Node.Status.Allocatable
	for _, p := range pods {
		p.Spec.NodeName = name
		n.Pods = append(n.Pods, p)
	}
	return n
}

func with(n provisioning.Node, edits ...func(*provisioning.Node)) provisioning.Node {
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

// load returns a pod that asks for the given number of milli-CPUs and MiB four times as many.
func load(name string, milli int64, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := newPod(name, edits...)
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(milli*4<<20, resource.BinarySI),
	}}}}
	return p
}

// fleetOf returns an input of one pool, named default, that may launch some types.
func fleetOf(types []*cloudprovider.InstanceType, nodes ...provisioning.Node) disruption.Input {
	in := disruption.Input{}
	in.NodePools = []*v1.NodePool{newPool("default")}
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{"default": types}
	in.Nodes = nodes
	return in
}

// anySaving moves pods for any saving.
func anySaving() *disruption.Options {
	return &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}}
}

func propose(t testing.TB, in disruption.Input, opts *disruption.Options) *disruption.Proposal {
	t.Helper()
	return proposeAt(t, noon, in, opts)
}

func proposeAt(t testing.TB, now time.Time, in disruption.Input, opts *disruption.Options) *disruption.Proposal {
	t.Helper()
	p, faults, err := disruption.Propose(context.Background(), now, in, opts)
	require.NoError(t, err)
	require.Empty(t, faults)
	return p
}

// deeds writes actions down: what goes, what comes, and what that saves.
func deeds(actions []disruption.Action) []string {
	out := []string{}
	for _, a := range actions {
		var gone, come []string
		for _, t := range a.Targets {
			gone = append(gone, t.Node)
		}
		for _, n := range a.Replacements {
			come = append(come, n.Options[0].InstanceType.Name)
		}
		out = append(out, fmt.Sprintf("%s %s -> %s saves %.3f", a.Reason, strings.Join(gone, "+"), strings.Join(come, "+"), a.Savings))
	}
	return out
}

// why lists the rules that keep consolidation from each node.
func why(p *disruption.Proposal) []string {
	out := []string{}
	for _, b := range p.Blocked {
		if b.Method == disruption.MethodConsolidation {
			out = append(out, b.Node+" "+disruption.RuleOf(b))
		}
	}
	return out
}
