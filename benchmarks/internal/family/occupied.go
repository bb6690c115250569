package family

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// mixedExisting makes a cluster about 60% full, and more pending replicas of the workloads that it
// runs.
func mixedExisting(m *maker) {
	workloads := m.cluster(m.spec.Pods)
	m.occupy(workloads, 50, 70)
	m.pendAll(workloads)
}

// consolidate makes a cluster that was scaled down: its nodes are 30% to 60% full.
func consolidate(m *maker) {
	const podsPerNode = 15
	workloads := m.cluster(podsPerNode * m.spec.Nodes)
	running := m.occupy(workloads, 30, 60)
	m.out.Pods = []*corev1.Pod{}
	m.protect(workloads, running)
}

// floor is the set of nodes of a cluster while they are being filled.
type floor struct {
	m         *maker
	workloads []*workload // each workload once per replica
	running   map[*workload]int
	perZone   map[*workload]map[string]int
}

// occupy makes the nodes and runs replicas of the workloads on them. A node is filled to a target
// drawn between low and high percent, or until no replica fits. It returns the number of running
// replicas of each workload.
func (m *maker) occupy(workloads []*workload, low, high int) map[*workload]int {
	const patience = 12 // rounds without a new pod after which a node is given up
	f := &floor{m: m, running: map[*workload]int{}, perZone: map[*workload]map[string]int{}}
	for _, w := range workloads {
		f.perZone[w] = map[string]int{}
		for range w.replicas {
			f.workloads = append(f.workloads, w)
		}
	}
	var open []*host
	for i := range m.spec.Nodes {
		open = append(open, m.host(i, float64(low+m.IntN(high-low+1))/100))
	}
	all := slices.Clone(open)
	// Each node gets one pod per round, so that zones fill evenly and required spreads can be met
	// everywhere.
	for len(open) > 0 {
		open = slices.DeleteFunc(open, func(h *host) bool {
			if f.fillOnce(h) {
				h.misses = 0
			} else {
				h.misses++
			}
			return h.misses > patience || h.full()
		})
	}
	for _, h := range all {
		m.out.Nodes = append(m.out.Nodes, h.Node)
	}
	return f.running
}

// fillOnce draws a few workloads and runs one replica of the first that the node admits. It reports
// whether it did.
func (f *floor) fillOnce(h *host) bool {
	const draws = 8
	for range draws {
		w := oneOf(f.m.dice, f.workloads...)
		if f.admits(h, w) && h.run(f.m, f.m.replica(w), w.spec) {
			f.running[w]++
			f.perZone[w][h.zone]++
			h.has[w] = true
			return true
		}
	}
	return false
}

// admits reports whether the constraints of the workload admit a replica on the node.
func (f *floor) admits(h *host, w *workload) bool {
	const mostAlone = 20
	if !slices.Contains(w.homes, h.pool) {
		return false
	}
	if w.alone && (h.has[w] || f.running[w] >= mostAlone) {
		return false
	}
	if !w.overZone {
		return true
	}
	for _, zone := range f.m.zones {
		if f.perZone[w][zone] < f.perZone[w][h.zone] {
			return false
		}
	}
	return true
}

// run puts a pod on the node if it fits below the node's target.
func (h *host) run(m *maker, meta metav1.ObjectMeta, spec corev1.PodSpec) bool {
	pod := m.pending(meta, *spec.DeepCopy(), 0)
	requests, err := resources.PodRequests(pod)
	if err != nil || !requests.Fits(h.free) {
		return false
	}
	free, err := h.free.Sub(requests)
	// A GPU node is limited by its GPUs alone.
	if err != nil || h.pool != poolGPU && h.usedOf(free) > h.target {
		return false
	}
	h.free = free
	started := metav1.NewTime(h.created.Add(4 * time.Minute))
	pod.CreationTimestamp = started
	pod.Spec.NodeName = h.Node.Node.Name
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started}
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: started})
	}
	h.Node.Pods = append(h.Node.Pods, pod)
	m.named[scenario.PodKey(pod)] = true
	return true
}

// protect gives disruption budgets to three in ten of the workloads that run two replicas or more.
// Some of the budgets never allow an eviction.
func (m *maker) protect(workloads []*workload, running map[*workload]int) {
	for _, w := range workloads {
		n := running[w]
		if n < 2 || !m.chance(30) {
			continue
		}
		most := weighted(m.dice, []odds[intstr.IntOrString]{
			{12, intstr.FromInt32(1)}, {7, intstr.FromString("25%")}, {1, intstr.FromInt32(0)},
		})
		allowed, err := intstr.GetScaledValueFromIntOrPercent(&most, n, true)
		if err != nil {
			panic(fmt.Sprintf("the budgets of package family are at fault: %v", err))
		}
		m.out.PodDisruptionBudgets = append(m.out.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, UID: m.uid(), Generation: 1},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: &most,
				Selector:       &metav1.LabelSelector{MatchLabels: w.selects()},
			},
			Status: policyv1.PodDisruptionBudgetStatus{
				ObservedGeneration: 1,
				ExpectedPods:       int32(n),
				CurrentHealthy:     int32(n),
				DesiredHealthy:     int32(n - allowed),
				DisruptionsAllowed: int32(allowed),
			},
		})
	}
}
