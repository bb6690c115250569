package planreplay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// podKey identifies a pod.
type podKey struct{ namespace, name string }

func keyOf(pod *corev1.Pod) podKey { return podKey{pod.Namespace, pod.Name} }

func comparePods(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// run is a plan while it is carried out.
type run struct {
	opts *Options
	in   provisioning.Input // in.Nodes are the nodes that are up, in.Pods the pending pods
	dice chance.Stream

	launched int
	home     map[podKey]string // the node of each pod in the first plan
	kept     map[string]int    // number of pending pods for which a node is reserved, by node name
	promised map[podKey]string // the reserved node of a pod
	result   Run
}

// carryOut carries a plan out once. The number of the run selects the order of arrival.
func carryOut(ctx context.Context, in provisioning.Input, plan *provisioning.Plan, opts *Options, number int) (Run, error) {
	r := &run{
		opts: opts, in: in, dice: chance.New(0, uint64(number)),
		home: map[podKey]string{}, kept: map[string]int{}, promised: map[podKey]string{},
	}
	r.in.Nodes = slices.Clone(in.Nodes)
	r.in.Pods = queue(in.Pods)
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			r.home[keyOf(pod)] = b.Node
		}
	}
	if _, err := opts.Scheduler.Ask(&kubescheduler.Question{State: kubescheduler.StateOf(r.in)}); err != nil {
		return Run{}, err
	}
	for round := 0; ; round++ {
		coming, err := r.launch(plan)
		if err != nil {
			return Run{}, err
		}
		if round == 0 {
			for i := range coming {
				for _, pod := range plan.Create[i].Pods {
					r.home[keyOf(pod)] = coming[i].Name()
				}
			}
		}
		if err := r.arrive(arrivals(coming, number, &r.dice)); err != nil {
			return Run{}, err
		}
		if len(r.in.Pods) == 0 || round == opts.Rounds {
			break
		}
		if plan, err = provisioning.Solve(ctx, r.in, opts.Engine); err != nil {
			return Run{}, err
		}
		if len(plan.Create) == 0 {
			break // kube-scheduler has tried all nodes
		}
		r.result.Rounds++
	}
	r.sumUp()
	return r.result, nil
}

// queue sorts pods in the order of kube-scheduler's queue.
func queue(pods []*corev1.Pod) []*corev1.Pod {
	sorted := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return pod == nil })
	slices.SortStableFunc(sorted, kubescheduler.QueueOrder)
	return sorted
}

// launch makes the nodes of a plan, in its order. They come up later.
func (r *run) launch(plan *provisioning.Plan) ([]provisioning.Node, error) {
	var coming []provisioning.Node
	for i := range plan.Create {
		n := &plan.Create[i]
		r.launched++
		node, err := newNode(n, fmt.Sprintf("replayed-%05d", r.launched), r.in.Vocabulary)
		if err != nil {
			return nil, err
		}
		coming = append(coming, node)
		r.result.Nodes++
		r.result.Cost += n.Price()
		if !r.opts.Reserved {
			continue
		}
		r.kept[node.Name()] = len(n.Pods)
		for _, pod := range n.Pods {
			r.promised[keyOf(pod)] = node.Name()
		}
	}
	return coming, nil
}

// newNode returns the node that the cheapest option of a planned node becomes, initialized and
// without startup taints.
func newNode(n *provisioning.NewNode, name string, vocabulary *requirements.Vocabulary) (provisioning.Node, error) {
	node, err := kubescheduler.NewNode(n, n.Options[0], name, vocabulary)
	if err != nil {
		return provisioning.Node{}, err
	}
	node.Spec.ProviderID = "replay:///" + name
	claim := n.NodeClaim()
	claim.GenerateName, claim.Name = "", name
	claim.Labels = maps.Clone(node.Labels)
	claim.Status.NodeName, claim.Status.ProviderID = name, node.Spec.ProviderID
	claim.Status.Capacity, claim.Status.Allocatable = node.Status.Capacity, node.Status.Allocatable
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
	}
	return provisioning.Node{NodeClaim: claim, Node: node}, nil
}

// arrive lets nodes come up group by group, and binds pods after each group.
func (r *run) arrive(groups [][]provisioning.Node) error {
	if len(groups) == 0 {
		return r.bind()
	}
	for _, group := range groups {
		q := &kubescheduler.Question{}
		for _, n := range group {
			q.Join = append(q.Join, kubescheduler.Node{Node: n.Node, Pods: kubescheduler.DaemonPods(r.in, n.Node)})
		}
		if _, err := r.opts.Scheduler.Ask(q); err != nil {
			return err
		}
		r.in.Nodes = append(r.in.Nodes, group...)
		if err := r.bind(); err != nil {
			return err
		}
	}
	if len(r.kept) == 0 {
		return nil
	}
	clear(r.kept) // their pods were not bound
	clear(r.promised)
	return r.bind()
}

// bind tries all pending pods in the order of the queue until none can be bound.
func (r *run) bind() error {
	for progress := true; progress && len(r.in.Pods) > 0; {
		var pending []*corev1.Pod
		for _, pod := range r.in.Pods {
			node, err := r.schedule(pod)
			if err != nil {
				return err
			}
			if node < 0 {
				pending = append(pending, pod)
				continue
			}
			n := &r.in.Nodes[node]
			n.Pods = append(slices.Clip(n.Pods), pod)
			r.bound(pod, n.Name())
		}
		progress = len(pending) < len(r.in.Pods)
		r.in.Pods = pending
	}
	return nil
}

// schedule returns the index of the node to which kube-scheduler binds a pod, or -1 if the pod fits
// on no node. Nodes that are reserved for other pods are excluded.
func (r *run) schedule(pod *corev1.Pod) (int, error) {
	choice := kubescheduler.Choice{Draw: r.dice.Next()}
	for i := range r.in.Nodes {
		if len(r.kept) > 0 && !r.opens(r.in.Nodes[i].Name(), pod) {
			choice.Closed = append(choice.Closed, i)
		}
	}
	answer, err := r.opts.Scheduler.Ask(&kubescheduler.Question{
		Pods: kubescheduler.Pods([]*corev1.Pod{pod}), Schedule: []kubescheduler.Choice{choice},
	})
	if err != nil {
		return -1, err
	}
	return answer.Schedule[0], nil
}

// bound records that a pod was bound. The last pod of a reserved node ends the reservation.
func (r *run) bound(pod *corev1.Pod, node string) {
	key := keyOf(pod)
	if home, planned := r.home[key]; planned && home != node {
		r.result.Elsewhere++
	}
	kept, promised := r.promised[key]
	if !promised {
		return
	}
	delete(r.promised, key)
	if r.kept[kept]--; r.kept[kept] == 0 {
		delete(r.kept, kept)
	}
}

// opens reports whether the pod may use the node: it is not reserved, or reserved for this pod.
func (r *run) opens(node string, pod *corev1.Pod) bool {
	_, kept := r.kept[node]
	return !kept || r.promised[keyOf(pod)] == node
}

// sumUp lists the planned pods that are left.
func (r *run) sumUp() {
	for _, pod := range r.in.Pods {
		if _, planned := r.home[keyOf(pod)]; planned {
			r.result.Left = append(r.result.Left, pod)
		}
	}
	slices.SortFunc(r.result.Left, comparePods)
}

// maxArrivals bounds the number of arrivals in a round, because each arrival tries all pending
// pods.
const maxArrivals = 16

// arrivals returns groups of nodes in the order in which they come up in a run.
func arrivals(coming []provisioning.Node, number int, dice *chance.Stream) [][]provisioning.Node {
	if len(coming) == 0 {
		return nil
	}
	if number == 0 {
		return [][]provisioning.Node{coming}
	}
	order := slices.Clone(coming)
	switch number {
	case 1:
	case 2:
		slices.Reverse(order)
	default:
		for i := len(order) - 1; i > 0; i-- {
			j := draw(dice, i+1)
			order[i], order[j] = order[j], order[i]
		}
	}
	size := (len(order) + maxArrivals - 1) / maxArrivals
	return slices.Collect(slices.Chunk(order, size))
}

// draw returns a random number from 0 to n-1.
func draw(dice *chance.Stream, n int) int { return int(dice.Next() % uint64(n)) }
