package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/cloudprovider/retry"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/examples/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// How often the loop looks at what nobody tells it, and how long it waits.
const (
	confirmAfter = 15 * time.Second // between a decision and the deed
	lookEvery    = 10 * time.Minute // at the fleet: what it could do without, what has drifted, what is garbage
)

// autoscaler is a node autoscaler: it makes nodes for pods that have no room, and
// does away with nodes that are not worth their price. All decisions are those of
// the library. What is here is what the library leaves to its caller: to read the
// cluster, to ask, and to do as it was told.
//
// The objects in the cluster are its memory, as for any controller. What is in the
// fields below may be lost at any moment: see recover.
type autoscaler struct {
	cluster *simcluster.Cluster
	cloud   cloudprovider.CloudProvider
	stock   *availability.Cache // what the cloud was out of
	pools   []*v1.NodePool
	journal *journal

	window     batcher.Window       // of pods that wait for a plan
	bindings   []nomination.Binding // promises of nodes that are ready
	reviewed   reviewed
	considered map[types.UID]time.Time // pods that nothing is planned for before then
	attempts   retry.Attempts          // launches that failed, by the UID of the NodeClaim
	decided    []decision              // voluntary actions, to be confirmed
	commands   []*running              // begun, and not finished
	notices    []cloudprovider.Interruption
	drift      map[string]cloudprovider.Drift // by NodeClaim
	instances  []*cloudprovider.Instance      // what the cloud listed in this step, nil if it was not asked
	shortages  []disruption.UnavailableOffering

	nextLook    time.Time
	nextPropose time.Time // if anything has changed by then
	nextChange  time.Time // when there can be another answer by time alone; zero is never
	proposedAt  int       // cluster.changes() at the last Propose
	watchedAt   int       // and when the rules were asked last for what is due
}

// decision is a voluntary action and when it was taken.
type decision struct {
	action disruption.Action
	at     time.Time
}

// recover is what an autoscaler does first: it finds the commands that another one
// has begun, and clears what no command explains.
func (a *autoscaler) recover() {
	recovery := command.Recover(a.view())
	for _, c := range recovery.Commands {
		a.commands = append(a.commands, &running{Prepared: command.Prepared{Command: c}})
	}
	a.carryOut(recovery.Steps)
}

// step is one turn of the loop, in the order of a node's life. A part that fails
// is noted, and keeps no other from its work: the next step tries again.
func (a *autoscaler) step(ctx context.Context) {
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"look", a.look},
		{"provision", a.provision},
		{"launch", a.launch},
		{"join", a.join},
		{"propose", a.propose},
		{"confirm", a.confirm},
		{"advance", a.advance},
		{"drain", a.drain},
	} {
		if err := part.do(ctx); err != nil {
			a.journal.add(trouble, "%s: %v", part.name, err)
		}
	}
}

// look asks the cloud for its notices, and now and then for its machines and
// for what has drifted.
func (a *autoscaler) look(ctx context.Context) (err error) {
	now := a.cluster.Now()
	a.instances = nil
	if a.notices, err = cloudprovider.Interruptions(ctx, a.cloud); err != nil && !errors.Is(err, cloudprovider.ErrUnsupported) {
		return err
	}
	if now.Before(a.nextLook) {
		return nil
	}
	if a.instances, err = a.cloud.List(ctx); err != nil {
		return err
	}
	a.drift, a.nextLook = map[string]cloudprovider.Drift{}, now.Add(lookEvery)
	var errs []error
	for _, claim := range a.cluster.Claims.All() {
		if claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil {
			continue
		}
		d, err := cloudprovider.IsDrifted(ctx, a.cloud, claim)
		if err != nil && !errors.Is(err, cloudprovider.ErrNotFound) && !errors.Is(err, cloudprovider.ErrUnsupported) {
			errs = append(errs, err)
		}
		a.drift[claim.Name] = d
	}
	return errors.Join(errs...)
}

// provision makes NodeClaims for pods that have no place and were promised none,
// once they have stopped coming.
func (a *autoscaler) provision(ctx context.Context) error {
	now := a.cluster.Now()
	waiting, err := a.waiting()
	if err != nil {
		return err
	}
	// Ten pods that are planned together share nodes better than one at a time.
	var due bool
	if a.window, due = a.window.Gather(now, waiting); !due {
		return nil
	}
	in, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	problem, err := provisioning.Prepare(in.Input, nil)
	if err != nil {
		return err
	}
	// The pods of nodes that are going down need a place as well.
	if problem, err = problem.Without(disruption.Leaving(in.Nodes)...); err != nil {
		return err
	}
	plan, err := problem.Solve(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range plan.Create {
		errs = append(errs, a.reserve(&plan.Create[i]))
	}
	for _, b := range plan.Bind {
		errs = append(errs, a.bind(b))
	}
	for _, u := range plan.Unplaced {
		a.consider(now.Add(retryUnplaced), u.Pod)
		a.journal.add(trouble, "pod %s stays pending: %s", simcluster.Key(u.Pod), u.Reason)
	}
	a.journal.planned(plan)
	return errors.Join(errs...)
}

// launch asks the cloud for the machines of NodeClaims that have none. What to ask
// for is in the objects.
func (a *autoscaler) launch(ctx context.Context) error {
	now := a.cluster.Now()
	for _, claim := range a.cluster.Claims.All() {
		if claim.Status.ProviderID != "" || claim.DeletionTimestamp != nil || a.attempts.Waits(string(claim.UID), now) {
			continue
		}
		instance, err := a.order(ctx, claim)
		outcome := nodeclaim.Launched(err)
		a.cluster.Claims.Put(claim.Name, outcome.EditClaim(claim, instance, now))
		if err != nil {
			a.refused(claim, err)
		} else {
			a.launched(claim, instance)
		}
		if outcome.Delete != "" {
			// Its pods are planned for anew, without the offerings that were
			// refused.
			a.cluster.Claims.Remove(claim.Name)
			a.attempts.Forget(string(claim.UID))
		}
	}
	a.journal.endLaunches()
	return nil
}

// join sees new machines through their start.
func (a *autoscaler) join(context.Context) error {
	now := a.cluster.Now()
	for _, claim := range a.cluster.Claims.All() {
		if claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil || has(claim, v1.ConditionTypeInitialized) {
			continue
		}
		if !has(claim, v1.ConditionTypeRegistered) {
			r := nodeclaim.Register(claim, a.cluster.Nodes.All())
			claim = r.EditClaim(claim, now)
			if r.Node != nil {
				a.cluster.Nodes.Put(r.Node.Name, r.Node)
			}
		}
		if has(claim, v1.ConditionTypeRegistered) {
			node, _ := a.cluster.Nodes.Get(claim.Status.NodeName)
			i := nodeclaim.Initialize(claim, node, nil)
			claim = i.EditClaim(claim, now)
			if has(claim, v1.ConditionTypeInitialized) {
				a.cluster.Nodes.Put(node.Name, i.EditNode(node))
			}
		}
		a.cluster.Claims.Put(claim.Name, claim)
	}
	_, err := a.review() // kube-scheduler looks at new nodes at once
	return err
}

// propose asks what to do with the nodes there are. What must happen anyhow
// begins at once; what is a choice has to be confirmed first.
func (a *autoscaler) propose(ctx context.Context) error {
	now := a.cluster.Now()
	if due, err := a.proposalDue(ctx, now); err != nil || !due {
		return err
	}
	in, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	proposal, err := disruption.Propose(ctx, now, in, a.options())
	if err != nil {
		return err
	}
	a.nextPropose, a.nextChange, a.proposedAt = now.Add(lookEvery), proposal.Next, a.cluster.Changes()
	var errs []error
	for _, action := range proposal.Actions {
		if disruption.Voluntary(action.Reason) {
			a.decided = append(a.decided, decision{action, now})
		} else {
			errs = append(errs, a.begin(ctx, in, action))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the notices come again
	}
	return errors.Join(proposal.Faults, a.acknowledge(ctx))
}

// confirm looks again at what was decided a short time ago, and begins what
// nothing speaks against by now.
func (a *autoscaler) confirm(ctx context.Context) error {
	now := a.cluster.Now()
	if len(a.decided) == 0 || now.Sub(a.decided[0].at) < confirmAfter {
		return nil
	}
	decided := a.decided
	a.decided = nil
	var errs []error
	for _, d := range decided {
		in, err := a.snapshot(ctx) // each sees what those before it began
		if err != nil {
			return err
		}
		objections, err := disruption.Confirm(ctx, now, in, d.action, a.options())
		switch {
		case err != nil:
			errs = append(errs, err)
		case len(objections) > 0:
			a.journal.add(detail, "not after all: %s, as %s", d.action, objections[0])
		default:
			errs = append(errs, a.begin(ctx, in, d.action))
		}
	}
	return errors.Join(errs...)
}

// begin carries an action out. What is a choice is done by a command: the nodes are
// marked, replacements are launched and waited for, and only then is anything
// deleted. What is not does not wait, not even for a command that has the node.
func (a *autoscaler) begin(ctx context.Context, in disruption.Input, action disruption.Action) error {
	if !disruption.Voluntary(action.Reason) {
		return a.force(ctx, action)
	}
	fleet, err := disruption.Observe(a.cluster.Now(), in, a.options())
	if err != nil {
		return err
	}
	prepared, err := fleet.Command(action)
	if err != nil {
		return err
	}
	steps, err := command.Start(prepared.Command, a.view())
	if err != nil {
		return err
	}
	a.journal.disrupted(action)
	a.commands = append(a.commands, &running{Prepared: prepared})
	a.carryOut(steps)
	return nil
}

// advance carries every command on as far as it goes without waiting.
func (a *autoscaler) advance(context.Context) error {
	var left []*running
	for _, c := range a.commands {
		if a.advanceOne(c) {
			a.nextPropose = a.cluster.Now() // there may be room for the next
		} else {
			left = append(left, c)
		}
	}
	a.commands = left
	return nil
}

// advanceOne carries a command on, and says whether it is finished.
func (a *autoscaler) advanceOne(c *running) bool {
	for range 10 { // steps on the way; more wait for the next turn
		view := a.view()
		view.Created = c.created
		progress := command.Advance(c.Command, view, a.cluster.Now())
		if len(progress.Steps) == 0 {
			return progress.State == command.Finished
		}
		if progress.Failure != "" {
			a.journal.add(trouble, "undoing the command %s (%s): %s", c.Command.ID, c.Command.Reason, progress.Failure)
		}
		a.carryOut(progress.Steps)
	}
	return false
}

// drain empties the nodes of NodeClaims that are being deleted, and has the cloud
// end their machines.
func (a *autoscaler) drain(ctx context.Context) error {
	now := a.cluster.Now()
	claims := a.deleting()
	if len(claims) == 0 {
		return nil
	}
	input, errs := a.drainInput(claims)
	plan, err := drain.Plan(now, input, nil)
	if err != nil {
		return err
	}
	errs = append(errs, plan.Faults)
	empty := map[string]bool{}
	for _, n := range plan.Nodes {
		for _, s := range n.Evict {
			errs = append(errs, a.cluster.Evict(s.Eviction()))
		}
		for _, s := range n.Delete {
			a.cluster.DeletePod(s.Namespace, s.Name, s.Grace)
		}
		empty[n.Node] = n.State == drain.Done
	}
	for _, claim := range claims {
		if node := claim.Status.NodeName; node != "" && a.cluster.HasNode(node) && !empty[node] {
			continue
		}
		// Deletion is complete when the cloud says that there is no such machine.
		err := cloudprovider.ErrNotFound
		if claim.Status.ProviderID != "" {
			err = a.cloud.Delete(ctx, claim.Status.ProviderID)
		}
		switch {
		case errors.Is(err, cloudprovider.ErrNotFound):
			a.cluster.FinalizeClaim(claim)
		default:
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
