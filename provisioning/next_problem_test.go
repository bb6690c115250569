package provisioning_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// TestLawNextIsPrepare: whatever has changed in whatever order, the problem of the next
// moment is that of its input alone, byte for byte, in its plan and in its error. Unless all
// seeds were asked for, every other problem is solved quickly: what is asked about is what
// was compiled, which is the same for both.
func TestLawNextIsPrepare(t *testing.T) {
	t.Parallel()
	met, refused := map[string]int{}, 0
	seeds := lawSeeds(600, 120)
	if testlong.UnderRace {
		seeds /= 4 // one problem after the other
	}
	for seed := range seeds {
		in, opts := richProblem(seed, everything)
		in.Pods = slices.DeleteFunc(in.Pods, func(p *corev1.Pod) bool { return p == nil })
		opts.Quick = opts.Quick || seed%2 == 1 && !testlong.All()
		problem := problemOf(t, in, opts, "seed %d", seed)
		d := drift{Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed}
		for step := range 8 {
			next, what := d.next(in)
			after, err := problem.WithInput(next)
			fresh, freshErr := provisioning.Prepare(next, opts)
			require.Equal(t, fmt.Sprint(freshErr), fmt.Sprint(err), "seed %d, step %d: %v", seed, step, what)
			if err != nil {
				refused++
				continue
			}
			want, err := fresh.Solve(context.Background())
			require.NoError(t, err)
			got, err := after.Solve(context.Background())
			require.NoError(t, err)
			require.Equal(t, want, got, "seed %d, step %d: %v", seed, step, what)
			usage, usageErr := fresh.Usage()
			again, againErr := after.Usage()
			require.Equal(t, fmt.Sprint(usageErr), fmt.Sprint(againErr))
			require.Equal(t, usage, again, "seed %d, step %d: %v", seed, step, what)
			in, problem = next, after
			for _, name := range what {
				met[name]++
			}
		}
	}
	for name := range changes {
		require.Greater(t, met[name], enough(0), name)
	}
	require.Greater(t, refused, enough(0), "an input is refused by both")
}

// drift changes inputs.
type drift struct {
	*rand.Rand
	seed uint64
	came int // objects, which have names of their own
}

// changes are what may happen from one moment to the next. Each writes only into in, and
// into what it has copied.
var changes = map[string]func(d *drift, in *provisioning.Input){
	"node comes":      (*drift).nodeComes,
	"node goes":       func(d *drift, in *provisioning.Input) { in.Nodes = lessOne(d, in.Nodes) },
	"node leaves":     func(d *drift, in *provisioning.Input) { d.node(in, func(n *provisioning.Node) { *n = n.Leaving() }) },
	"node gets a pod": (*drift).nodeGetsPod,
	"node loses a pod": func(d *drift, in *provisioning.Input) {
		d.node(in, func(n *provisioning.Node) { n.Pods = lessOne(d, n.Pods) })
	},
	"pod ends":           (*drift).podEnds,
	"label":              (*drift).labelChanges,
	"taint":              (*drift).taintComes,
	"node starts":        (*drift).nodeStarts,
	"pods are regrouped": (*drift).regrouped,
	"nodes in another order": func(d *drift, in *provisioning.Input) {
		d.Shuffle(len(in.Nodes), func(i, j int) { in.Nodes[i], in.Nodes[j] = in.Nodes[j], in.Nodes[i] })
	},
	"nodes by name": func(_ *drift, in *provisioning.Input) {
		slices.SortFunc(in.Nodes, func(a, b provisioning.Node) int {
			if a.Name() < b.Name() {
				return -1
			}
			return 1
		})
	},
	"pods come": (*drift).podsCome,
	"pods go":   func(d *drift, in *provisioning.Input) { in.Pods = lessOne(d, lessOne(d, in.Pods)) },
	"pool":      (*drift).poolChanges,
	"pools are counted anew": func(d *drift, in *provisioning.Input) {
		in.NodePools = slices.Clone(in.NodePools)
		for i, p := range in.NodePools {
			in.NodePools[i] = p.DeepCopy()
			in.NodePools[i].ResourceVersion = d.fresh("version")
			in.NodePools[i].Status.Resources = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(d.came), resource.DecimalSI)}
		}
	},
	"pool goes":    func(d *drift, in *provisioning.Input) { in.NodePools = lessOne(d, in.NodePools) },
	"catalog":      (*drift).catalogChanges,
	"overlay":      func(d *drift, in *provisioning.Input) { in.Overlays = lessOne(d, in.Overlays) },
	"daemon goes":  func(d *drift, in *provisioning.Input) { in.DaemonSetPods = lessOne(d, in.DaemonSetPods) },
	"daemon comes": (*drift).daemonComes,
	"volumes":      (*drift).volumesChange,
	"nothing":      func(*drift, *provisioning.Input) {},
	"listed twice": func(d *drift, in *provisioning.Input) {
		in.Nodes = append(in.Nodes, in.Nodes[:min(1, len(in.Nodes))]...)
	},
	"pod listed twice": func(d *drift, in *provisioning.Input) {
		var on []*corev1.Pod
		d.node(in, func(n *provisioning.Node) { on = n.Pods })
		if len(on) == 0 {
			return
		}
		pod := on[d.IntN(len(on))]
		if d.IntN(2) == 0 {
			in.Pods = append(in.Pods, pod)
		} else {
			d.node(in, func(n *provisioning.Node) { n.Pods = append(n.Pods, pod) })
		}
	},
	"machine": func(d *drift, in *provisioning.Input) {
		d.object(in, func(n *corev1.Node) { n.Spec.ProviderID = fmt.Sprint("cloud://", d.IntN(4)) })
	},
	"odd capacity": (*drift).capacityOdd,
	"claim apart":  (*drift).claimApart,
	"missing a pod": func(d *drift, in *provisioning.Input) {
		d.node(in, func(n *provisioning.Node) { n.Pods = append(n.Pods, nil) })
	},
}

// next returns an input a moment later, and what has changed.
func (d *drift) next(in provisioning.Input) (provisioning.Input, []string) {
	in.Nodes, in.Pods, in.Nominated = slices.Clone(in.Nodes), slices.Clone(in.Pods), nil
	names := slices.Sorted(maps.Keys(changes))
	var what []string
	for range 1 + d.IntN(3) {
		name := names[d.IntN(len(names))]
		changes[name](d, &in)
		what = append(what, name)
	}
	return in, what
}

// lessOne leaves one of a list out.
func lessOne[T any](d *drift, list []T) []T {
	if len(list) == 0 {
		return list
	}
	i := d.IntN(len(list))
	return slices.Concat(list[:i], list[i+1:])
}

// node has a node changed, whose pods are copied.
func (d *drift) node(in *provisioning.Input, change func(*provisioning.Node)) {
	if len(in.Nodes) == 0 {
		return
	}
	n := &in.Nodes[d.IntN(len(in.Nodes))]
	n.Pods = slices.Clone(n.Pods)
	change(n)
}

// object has the Node of a node changed, if it has one.
func (d *drift) object(in *provisioning.Input, change func(*corev1.Node)) {
	d.node(in, func(n *provisioning.Node) {
		if n.Node != nil {
			n.Node = n.Node.DeepCopy()
			change(n.Node)
		}
	})
}

// other returns a problem to take objects from.
func (d *drift) other() provisioning.Input {
	d.came++
	in, _ := richProblem(d.seed*31+uint64(d.came)+7_000, everything)
	return in
}

func (d *drift) fresh(name string) string { return fmt.Sprintf("%s-%d", name, d.came) }

func (d *drift) nodeComes(in *provisioning.Input) {
	other := d.other()
	if len(other.Nodes) == 0 {
		return
	}
	n := other.Nodes[d.IntN(len(other.Nodes))]
	old := n.Name()
	if n.Node != nil {
		n.Node.Name = d.fresh(n.Node.Name)
		n.Node.Labels[corev1.LabelHostname] = n.Node.Name
	}
	if n.NodeClaim != nil {
		n.NodeClaim.Name = d.fresh(n.NodeClaim.Name)
		if n.NodeClaim.Status.NodeName == old {
			n.NodeClaim.Status.NodeName = n.Name()
		}
	}
	for _, p := range n.Pods {
		if p != nil {
			p.Name, p.Spec.NodeName = d.fresh(p.Name), n.Name()
		}
	}
	in.Nodes = append(in.Nodes, n)
}

func (d *drift) nodeGetsPod(in *provisioning.Input) {
	if len(in.Pods) == 0 || len(in.Nodes) == 0 {
		return
	}
	i := d.IntN(len(in.Pods))
	pod := in.Pods[i].DeepCopy()
	in.Pods = slices.Concat(in.Pods[:i], in.Pods[i+1:])
	d.node(in, func(n *provisioning.Node) {
		pod.Spec.NodeName = n.Name()
		n.Pods = append(n.Pods, pod)
	})
}

func (d *drift) podEnds(in *provisioning.Input) {
	d.node(in, func(n *provisioning.Node) {
		if len(n.Pods) > 0 {
			if p := &n.Pods[d.IntN(len(n.Pods))]; *p != nil { // a pod may be missing; see changes
				*p = (*p).DeepCopy()
				(*p).Status.Phase = corev1.PodSucceeded
			}
		}
	})
}

func (d *drift) labelChanges(in *provisioning.Input) {
	keys := []string{corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, v1.NodePoolLabelKey, v1.CapacityTypeLabelKey, "team", corev1.LabelHostname}
	key := keys[d.IntN(len(keys))]
	d.object(in, func(n *corev1.Node) {
		if d.IntN(3) == 0 {
			delete(n.Labels, key)
			return
		}
		other := in.Nodes[d.IntN(len(in.Nodes))]
		if other.Node != nil && n.Labels != nil {
			n.Labels[key] = other.Node.Labels[key]
		}
	})
}

func (d *drift) taintComes(in *provisioning.Input) {
	d.object(in, func(n *corev1.Node) {
		if d.IntN(3) == 0 {
			n.Spec.Unschedulable = !n.Spec.Unschedulable
			return
		}
		effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule}
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "team", Value: "red", Effect: effects[d.IntN(2)]})
	})
}

func (d *drift) nodeStarts(in *provisioning.Input) {
	d.object(in, func(n *corev1.Node) {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[v1.NodeRegisteredLabelKey], n.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	})
}

// regrouped has the same pods on each node in another slice.
func (d *drift) regrouped(in *provisioning.Input) {
	for i := range in.Nodes {
		in.Nodes[i].Pods = slices.Clone(in.Nodes[i].Pods)
	}
}

func (d *drift) podsCome(in *provisioning.Input) {
	for _, p := range d.other().Pods {
		if p != nil && d.IntN(3) == 0 {
			p.Name = d.fresh(p.Name)
			in.Pods = append(in.Pods, p)
		}
	}
}

func (d *drift) poolChanges(in *provisioning.Input) {
	if len(in.NodePools) == 0 {
		return
	}
	in.NodePools = slices.Clone(in.NodePools)
	i := d.IntN(len(in.NodePools))
	pool := in.NodePools[i].DeepCopy()
	in.NodePools[i] = pool
	switch d.IntN(4) {
	case 0:
		pool.Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(d.IntN(64)), resource.DecimalSI), v1.ResourceNodes: *resource.NewQuantity(int64(d.IntN(9)), resource.DecimalSI)}
	case 1: // it asks for less, or for another thing
		asked := &pool.Spec.Template.Spec.Requirements
		if *asked = lessOne(d, *asked); d.IntN(2) == 0 {
			zone := v1.NodeSelectorRequirementWithMinValues{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"zone-a"}}
			*asked = append(*asked, zone)
		}
	case 2: // it is ready no more, or again
		was := pool.Status.Conditions
		if pool.Status.Conditions = nil; len(was) == 0 {
			pool.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionFalse}}
		}
	default:
		weight := int32(1 + d.IntN(9))
		pool.Spec.Weight = &weight
	}
}

func (d *drift) catalogChanges(in *provisioning.Input) {
	if len(in.NodePools) == 0 {
		return
	}
	name := in.NodePools[d.IntN(len(in.NodePools))].Name
	in.InstanceTypes = maps.Clone(in.InstanceTypes)
	if types := in.InstanceTypes[name]; len(types) > 0 {
		in.InstanceTypes[name] = lessOne(d, types)
	}
}

func (d *drift) daemonComes(in *provisioning.Input) {
	for _, p := range d.other().DaemonSetPods {
		if p != nil {
			p.Name = d.fresh(p.Name)
			in.DaemonSetPods = append(slices.Clone(in.DaemonSetPods), p)
			return
		}
	}
}

func (d *drift) volumesChange(in *provisioning.Input) {
	switch v := &in.Volumes; d.IntN(4) {
	case 0:
		v.Claims = lessOne(d, v.Claims)
	case 1:
		v.Volumes = lessOne(d, v.Volumes)
	case 2:
		v.CSINodes = lessOne(d, v.CSINodes)
		v.CSIDrivers = lessOne(d, v.CSIDrivers)
		v.CSIStorageCapacities = lessOne(d, v.CSIStorageCapacities)
		v.VolumeAttachments = lessOne(d, v.VolumeAttachments)
	default:
		for _, c := range d.other().Volumes.Claims {
			c.Name = d.fresh(c.Name)
			v.Claims = append(slices.Clone(v.Claims), c)
		}
	}
}

// capacityOdd gives a node a capacity that no limit can count.
func (d *drift) capacityOdd(in *provisioning.Input) {
	odd := []resource.Quantity{resource.MustParse("-3"), resource.MustParse("9Ei"), resource.MustParse("99E")}
	d.object(in, func(n *corev1.Node) {
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: odd[d.IntN(len(odd))]}
	})
}

// claimApart lists the NodeClaim of a node beside it, or one that says to be its own.
func (d *drift) claimApart(in *provisioning.Input) {
	if len(in.Nodes) == 0 {
		return
	}
	n := in.Nodes[d.IntN(len(in.Nodes))]
	switch {
	case n.Node == nil:
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.NodeClaim.Status.NodeName}}
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node})
	case n.NodeClaim != nil:
		in.Nodes = append(in.Nodes, provisioning.Node{NodeClaim: n.NodeClaim})
	default:
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: d.fresh("claim")}}
		claim.Status.NodeName = n.Node.Name
		in.Nodes = append(in.Nodes, provisioning.Node{NodeClaim: claim})
		d.came++
	}
}
