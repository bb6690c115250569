package main

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// keepPromises prepares pods for the nodes reserved for them, and opens nodes whose pods have
// arrived.
func (a *autoscaler) keepPromises(ctx context.Context, s *snapshot) error {
	nodes := s.Promises.Nodes
	places := slices.DeleteFunc(slices.Clone(s.Promises.Pods), func(p nomination.Place) bool { return p.Toleration == nil })
	refused := make([]error, len(places))
	tolerated := a.some(len(places), func(i int) error {
		after := places[i].Pod.DeepCopy() // a toleration more is the only change to its spec that the API allows here
		after.Spec.Tolerations = append(after.Spec.Tolerations, *places[i].Toleration)
		err := a.Patch(ctx, after, client.MergeFromWithOptions(places[i].Pod, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			refused[i] = err
			return nil
		}
		return stale(err)
	})
	for i, err := range refused {
		if p := places[i].Pod; err != nil && s.Refuse(p) {
			a.tell(p, corev1.EventTypeWarning, "NotReserved", "Nominate", "The pod may go to any node: %v", err)
		}
	}
	hinted := a.some(len(s.Hints), func(i int) error { return a.hint(ctx, s.Hints[i]) })
	return errors.Join(tolerated, hinted, each(len(nodes), func(i int) error {
		n := nodes[i]
		if n.Opened == nil {
			return nil
		}
		a.log.Info("opened", "node", n.Node, "pending", n.Pending, "missing", n.Missing)
		return store(ctx, a, s.Node(n.Node), n.Opened)
	}))
}

// hint sets the node that kube-scheduler tries first for a pod.
func (a *autoscaler) hint(ctx context.Context, place nomination.Place) error {
	after := place.Pod.DeepCopy()
	after.Status.NominatedNodeName = place.Node
	err := a.Status().Patch(ctx, after, client.MergeFrom(place.Pod))
	if apierrors.IsInvalid(err) { // it is bound meanwhile
		return errStale
	}
	return stale(err)
}

// provision creates NodeClaims for pods without a place, once no new pods have arrived for a while.
func (a *autoscaler) provision(ctx context.Context, s *snapshot) error {
	err := a.repay(ctx, s)
	waiting := s.Waiting()
	var due bool
	if a.window, due = a.window.Gather(s.Now, len(waiting)); !due {
		return errors.Join(err, a.replicas(ctx, s))
	}
	started := time.Now()
	problem, err := a.prepare(s)
	if err == nil {
		problem, err = problem.With(disruption.Displaced(s.Now, s.Input)...) // their pods need a place as well
	}
	if err != nil {
		return err
	}
	plan, err := problem.Solve(ctx)
	a.figures.take("plan", metrics.Scheduled(len(waiting), plan, time.Since(started)))
	if err != nil {
		return err
	}
	plan, unneeded, err := s.Enlarge(ctx, problem, plan, a.options())
	if err != nil {
		return err
	}
	if len(unneeded) > 0 {
		a.log.Info("enlarged", "cost", plan.Cost, "unneeded", unneeded)
	}
	a.log.Info("planned", "pods", len(waiting), "create", len(plan.Create), "bind", len(plan.Bind), "unplaced", len(plan.Unplaced),
		"cost", plan.Cost, "bound", plan.LowerBound, "took", time.Since(started).String())
	s.PutOff(s.Now.Add(retryIn), waiting...) // until a place is promised to them
	for _, u := range plan.Unplaced {
		a.tell(u.Pod, corev1.EventTypeWarning, "FailedScheduling", "Provision", "%s", u.Explanation)
	}
	for i := range plan.Create {
		n := &plan.Create[i]
		a.owed = append(a.owed, owed{name(n.NodeClaim()), n.Pods, n.Options[0].String(), s.Now})
	}
	claims, failed := s.Bind(plan.Bind)
	return errors.Join(err, failed, a.repay(ctx, s), a.storeClaims(ctx, s, claims))
}

// owed is a NodeClaim of a plan that is not stored yet.
type owed struct {
	claim    *v1.NodeClaim
	pods     []*corev1.Pod
	cheapest string
	since    time.Time
}

// repay stores planned NodeClaims that could not be stored before. Until they are stored, no plan
// is made for their pods, because two plans for the same pods cost more than one.
func (a *autoscaler) repay(ctx context.Context, s *snapshot) error {
	left, refused := make([]bool, len(a.owed)), make([]error, len(a.owed))
	err := each(len(a.owed), func(i int) error {
		o := a.owed[i]
		pods := s.Stored(o.pods)
		if len(pods) < len(o.pods) {
			return nil // it was planned for what is not so any more
		}
		_, err := a.create(ctx, s, o.claim, pods, metrics.Provisioned)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			if left[i] = !apierrors.IsInvalid(err) && s.Now.Sub(o.since) < retryIn; !left[i] {
				refused[i] = err
			}
		}
		if err != nil {
			return err
		}
		a.log.Info("created", "claim", o.claim.Name, "pool", o.claim.Labels[v1.NodePoolLabelKey], "pods", len(pods), "cheapest", o.cheapest)
		for _, p := range pods {
			a.tell(p, corev1.EventTypeNormal, "Nominated", "Provision", "Pod should schedule on: nodeclaim/%s", o.claim.Name)
		}
		return nil
	})
	var rest []owed
	for i, o := range a.owed {
		switch {
		case left[i]:
			rest = append(rest, o)
			s.PutOff(s.Now.Add(retryIn), o.pods...)
		case refused[i] == nil:
			s.PutOff(s.Now, o.pods...)
		}
		for _, p := range o.pods {
			if refused[i] != nil { // by a webhook, say, or a policy
				a.tell(p, corev1.EventTypeWarning, "FailedScheduling", "Provision", "The NodeClaim for it, of NodePool %s, was refused: %v", o.claim.Labels[v1.NodePoolLabelKey], refused[i])
			}
		}
	}
	a.owed = rest
	return err
}

// prepare compiles the snapshot. Invalid objects get an event and are left out.
func (a *autoscaler) prepare(s *snapshot) (*provisioning.Problem, error) {
	problem, faults, err := s.Prepare(a.planOptions())
	for _, f := range faults {
		a.tell(f.Object, corev1.EventTypeWarning, f.Reason, "Provision", "%v", f.Err)
	}
	return problem, err
}

// create stores a NodeClaim that is reserved for pods. The claim names its pods, so that the next
// pass, even of another process, gives them their tolerations.
func (a *autoscaler) create(ctx context.Context, s *snapshot, claim *v1.NodeClaim, pods []*corev1.Pod, why string) (*v1.NodeClaim, error) {
	claim, err := nomination.Reserve(s.Now, name(claim), s.Stored(pods), nil)
	if err != nil {
		return nil, err
	}
	if by, ok := cloudprovider.As[annotator](a.cloud); ok {
		annotations, err := by.ClaimAnnotations(ctx, claim.Spec.NodeClassRef.Name)
		if err != nil {
			return nil, err
		}
		for key, value := range annotations {
			metav1.SetMetaDataAnnotation(&claim.ObjectMeta, key, value)
		}
	}
	controllerutil.AddFinalizer(claim, v1.TerminationFinalizer)
	if err := a.Create(ctx, claim); err != nil {
		return nil, err
	}
	a.figures.take("created", metrics.Created(claim, why))
	return claim, nil
}

// name gives a NodeClaim a name before it is stored, so that storing it again creates no second
// one.
func name(claim *v1.NodeClaim) *v1.NodeClaim {
	if claim.Name == "" {
		claim.Name = claim.GenerateName + rand.String(5)
	}
	return claim
}

// replicas launches the missing nodes of NodePools with a fixed number of nodes.
func (a *autoscaler) replicas(ctx context.Context, s *snapshot) error {
	if !slices.ContainsFunc(s.Input.NodePools, func(p *v1.NodePool) bool { return p.Spec.Replicas != nil }) {
		return nil
	}
	pools, err := provisioning.StaticPools(s.Input.Input)
	for _, pool := range pools {
		for _, claim := range pool.NodeClaims() {
			_, failed := a.create(ctx, s, claim, nil, metrics.Provisioned)
			err = errors.Join(err, failed)
		}
	}
	return err
}
