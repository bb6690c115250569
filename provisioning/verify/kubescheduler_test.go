package verify_test

import (
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

var (
	oracles = flag.String("kubescheduler", "", "programs of benchmarks/kubescheduler, as MINOR=PATH, separated by commas")
	pairs   = flag.Int("pairs", 5000, "how many pairs of a pod and a node the programs of -kubescheduler judge")
	first   = flag.Uint64("first", 0, "seed of the first random state for the programs of -kubescheduler")
)

// matcher reads the selectors of devices.
var matcher = devicecel.New()

// standing makes a state of a random problem: Nodes only, which nobody deletes, with the bound
// pods of the problem and some of its pending ones wherever chance puts them. The rest stays
// pending, and so do pods whose volumes are not bound: kube-scheduler binds these first. In one state
// of four the pending pods ask for volumes only.
func standing(seed uint64) provisioning.Input {
	dice := chance.New(0, seed^0x6b7363686564)
	below := func(n int) int { return int(dice.Next() % uint64(n)) }
	without := randproblem.Buffers | randproblem.Static | randproblem.Overlays
	for feature := randproblem.Crowds; feature <= randproblem.All; feature <<= 1 {
		if feature != randproblem.Crowds && below(2) == 0 {
			without |= feature
		}
	}
	with := randproblem.Fields | randproblem.DaemonLabels | randproblem.FreeVolumes
	if below(3) == 0 {
		with |= randproblem.Devices
	}
	in := randproblem.Draw(seed, randproblem.Config{Without: without, With: with})
	in.Devices.Matcher = matcher
	in.Volumes.Volumes = oneForEach(in.Volumes.Volumes)
	in.InstanceTypes, in.NodePools, in.DaemonSetPods = nil, nil, nil
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n provisioning.Node) bool {
		return n.Node == nil || n.Node.DeletionTimestamp != nil
	})
	roomy, clean := below(3) > 0, below(3) > 0
	for i := range in.Nodes {
		in.Nodes[i].NodeClaim, in.Nodes[i].Node = nil, in.Nodes[i].Node.DeepCopy()
		if roomy {
			enlarge(in.Nodes[i].Node)
		}
		if clean {
			in.Nodes[i].Node.Spec.Taints, in.Nodes[i].Node.Spec.Unschedulable = nil, false
		}
		in.Nodes[i].Pods = slices.DeleteFunc(slices.Clone(in.Nodes[i].Pods), func(p *corev1.Pod) bool {
			return podlife.Finished(p) || waitsForVolume(in, p)
		})
	}
	var pending []*corev1.Pod
	share := below(4)
	for _, pod := range in.Pods {
		if len(in.Nodes) == 0 || below(4) >= share || waitsForVolume(in, pod) || len(pod.Spec.ResourceClaims) > 0 {
			pending = append(pending, pod)
			continue
		}
		i := below(len(in.Nodes))
		bound := pod.DeepCopy()
		bound.Spec.NodeName = in.Nodes[i].Node.Name
		in.Nodes[i].Pods = append(in.Nodes[i].Pods, bound)
	}
	in.Pods = pending
	if below(4) == 0 {
		for i, pod := range in.Pods {
			in.Pods[i] = volumesOnly(pod)
		}
	}
	return in
}

// volumesOnly returns a pod that asks for nothing but its volumes, so that nothing else keeps it from a
// node first.
func volumesOnly(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main"}}, Volumes: pod.Spec.Volumes, SchedulerName: pod.Spec.SchedulerName,
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
	}
	return pod
}

// oneForEach leaves out volumes that are reserved for a claim which another volume is reserved for.
// kube-scheduler takes whichever of them it meets first, in no order.
func oneForEach(volumes []*corev1.PersistentVolume) []*corev1.PersistentVolume {
	reserved := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(volumes), func(v *corev1.PersistentVolume) bool {
		if v.Spec.ClaimRef == nil {
			return false
		}
		claim := v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name
		again := reserved[claim]
		reserved[claim] = true
		return again
	})
}

// enlarge gives a node ten times the CPU and memory.
func enlarge(node *corev1.Node) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if amount, has := node.Status.Allocatable[name]; has {
			amount.Mul(10)
			node.Status.Allocatable[name] = amount
		}
	}
}

// waitsForVolume says whether a volume of a pod is not bound yet.
func waitsForVolume(in provisioning.Input, pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) ||
		slices.ContainsFunc(kubescheduler.ClaimsOf(in, pod), func(c *corev1.PersistentVolumeClaim) bool {
			return c.Annotations["pv.kubernetes.io/bind-completed"] == ""
		})
}

// judged says what the referee finds wrong with one pod on one node in a minor version of
// Kubernetes, "" if nothing. NodePools are left out: kube-scheduler does not know what could be
// launched.
func judged(in provisioning.Input, pod *corev1.Pod, node, kubernetes string) string {
	in.Pods, in.NodePools = []*corev1.Pod{pod}, nil
	plan := &provisioning.Plan{
		Bind:  []provisioning.Binding{{Node: node, Pods: in.Pods}},
		Order: in.Pods,
	}
	var all []string
	for _, v := range verify.Plan(in, plan, &provisioning.Options{Kubernetes: kubernetes}) {
		if v.Rule != verify.RuleAccounts {
			all = append(all, v.String())
		}
	}
	return strings.Join(all, "; ")
}

// trusted says whether kube-scheduler refuses a claim of devices, which the referee takes on trust:
// it counts devices and does not allocate them.
func trusted(pod *corev1.Pod, verdict kubescheduler.Verdict) bool {
	return verdict.Plugin == "DynamicResources" && len(pod.Spec.ResourceClaims) > 0
}

// stricter says whether the referee refuses what kube-scheduler lets pass and cannot carry out:
// docs/design.md has the list.
func stricter(violations string) bool {
	return strings.HasSuffix(violations, "gets its volume where an earlier pod is, which may be in another zone")
}

// The referee and kube-scheduler's own plugins judge each pod on each node alike.
func TestKubeSchedulerJudgesPairsAlike(t *testing.T) {
	all := kubescheduler.ForTest(t, *oracles)
	asked, refused := 0, map[string]int{}
	differ := map[string]int{}
	seed := *first
	for ; asked < *pairs; seed++ {
		in := standing(seed)
		q := &kubescheduler.Question{State: kubescheduler.StateOf(in), Pods: kubescheduler.Pods(in.Pods)}
		for i := range in.Pods {
			for j := range in.Nodes {
				q.Ask = append(q.Ask, [2]int{i, j})
			}
		}
		if len(q.Ask) == 0 {
			continue
		}
		for _, o := range all {
			answer, err := o.Ask(q)
			require.NoError(t, err)
			for i, verdict := range answer.Ask {
				pod, node := in.Pods[q.Ask[i][0]], in.Nodes[q.Ask[i][1]].Node.Name
				ours := judged(in, pod, node, o.Minor)
				asked++
				refused[verdict.Plugin]++
				if (ours == "") == (verdict.Plugin == "") || stricter(ours) || trusted(pod, verdict) {
					continue
				}
				rule, _, _ := strings.Cut(ours, ":")
				kind := fmt.Sprintf("%s: kube-scheduler %q, referee %q", o.Minor, verdict.Plugin, rule)
				if differ[kind]++; differ[kind] == 1 {
					t.Logf("%s\n  seed %d, pod %s on node %s\n  kube-scheduler: %s\n  referee: %s", kind, seed, pod.Name, node, verdict.Reason, ours)
				}
			}
		}
	}
	t.Logf("seeds %d to %d: %d pairs, by plugin that refuses: %v", *first, seed-1, asked, refused)
	for _, kind := range slices.Sorted(maps.Keys(differ)) {
		t.Errorf("%6d %s", differ[kind], kind)
	}
}

// In the random states of TestKubeSchedulerJudgesPairsAlike each list of storage objects decides
// about some pairs: what a list says would not be compared otherwise.
func TestStorageObjectsDecidePairs(t *testing.T) {
	testlong.Alone(t)
	without := map[string]func(*provisioning.Volumes){
		"Claims":               func(v *provisioning.Volumes) { v.Claims = nil },
		"Volumes":              func(v *provisioning.Volumes) { v.Volumes = nil },
		"Classes":              func(v *provisioning.Volumes) { v.Classes = nil },
		"CSINodes":             func(v *provisioning.Volumes) { v.CSINodes = nil },
		"CSIDrivers":           func(v *provisioning.Volumes) { v.CSIDrivers = nil },
		"CSIStorageCapacities": func(v *provisioning.Volumes) { v.CSIStorageCapacities = nil },
		"VolumeAttachments":    func(v *provisioning.Volumes) { v.VolumeAttachments = nil },
	}
	decided := map[string]int{}
	for seed := range uint64(120) {
		in := standing(seed)
		for _, pod := range in.Pods {
			if len(pod.Spec.Volumes) == 0 {
				continue
			}
			for _, n := range in.Nodes {
				says := judged(in, pod, n.Node.Name, "1.38") == ""
				for list, empty := range without {
					less := in
					empty(&less.Volumes)
					if (judged(less, pod, n.Node.Name, "1.38") == "") != says {
						decided[list]++
					}
				}
			}
		}
	}
	t.Log(decided)
	require.Len(t, decided, len(without))
	require.Len(t, decided, reflect.TypeFor[provisioning.Volumes]().NumField(), "each list of the input")
}
