package autoscaler

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/availability"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// How often the loop checks what no event reports, and how long it waits.
const (
	confirmAfter  = 15 * time.Second // from when an action is foreseen to its execution
	lookEvery     = 10 * time.Minute // for reading the machines of the cloud, drift, and garbage
	proposeEvery  = time.Minute      // once the cluster has changed, and for steering; Config.Every is another
	retryUnplaced = time.Minute
)

// Config is the configuration of an Autoscaler.
type Config struct {
	Cluster *simcluster.Cluster
	// Cloud is the provider that machines are launched from, usually that of Cluster.
	Cloud   cloudprovider.CloudProvider
	Pools   []*v1.NodePool
	Journal Journal
	// Options are the options of package disruption. Nil means the defaults.
	Options *disruption.Options
	// Every is how often a changed cluster is looked at for savings. Zero means each minute.
	Every time.Duration
}

// Journal learns what an autoscaler does.
type Journal interface {
	// Trouble takes a line about something that went wrong.
	Trouble(format string, args ...any)
	// Detail takes a line about something that was decided.
	Detail(format string, args ...any)
	// Planned takes a plan for pending pods.
	Planned(plan *provisioning.Plan)
	// Launched takes a machine that the cloud has launched.
	Launched(claim *v1.NodeClaim, instance *cloudprovider.Instance)
	// Refused takes a launch that failed.
	Refused(claim *v1.NodeClaim, err error)
	// EndLaunches says that all launches of this turn were made.
	EndLaunches()
	// Disrupted takes an action that begins.
	Disrupted(action disruption.Action)
}

// Autoscaler is a node autoscaler: it launches nodes for pods that have no room, and removes nodes
// that are not worth their price. The library makes all decisions. This package does the work that
// the library leaves to its caller: it reads the cluster, asks for decisions, and carries them out.
//
// All state that must survive is in the objects of the cluster, as for any controller. The fields
// below are only caches.
type Autoscaler struct {
	// Cloud is Config.Cloud. A caller may replace it between two steps.
	Cloud cloudprovider.CloudProvider

	cluster *simcluster.Cluster
	stock   *availability.Cache // what the cloud was out of
	pools   []*v1.NodePool
	journal Journal
	asked   *disruption.Options
	every   time.Duration

	last      *fleet.Fleet // as it was read last
	readAt    int          // cluster.Changes() then
	window    batcher.Window
	decided   []decision // voluntary actions, to be confirmed
	commands  command.Book
	notices   []cloudprovider.Interruption
	drift     map[string]cloudprovider.Drift // by NodeClaim
	instances []*cloudprovider.Instance      // what the cloud listed in this step, nil if it was not asked
	catalogs  *disruption.CatalogCache       // what the last proposal has read of pools and catalogs

	nextLook    time.Time
	nextPropose time.Time // if anything has changed by then
	nextSteer   time.Time
	nextChange  time.Time // when time alone can change the proposal; zero is never
	proposedAt  int       // cluster.Changes() at the last Propose
	steeredAt   int       // and at the last steer
	unneeded    []string  // nodes that the last proposal would not need, for steer
	watchedAt   int       // and when the rules were last evaluated for due actions
}

// decision is a voluntary action, and since when it was foreseen.
type decision struct {
	action disruption.Action
	since  time.Time
}

// New returns an autoscaler that has no state except the objects in the cluster.
func New(c Config) (*Autoscaler, error) {
	stock, err := availability.New(c.Cluster.Now, &availability.Options{TTL: 3 * time.Minute, MaxTTL: 30 * time.Minute})
	if err != nil {
		return nil, err
	}
	window, err := batcher.NewWindow(10*time.Second, time.Minute)
	if err != nil {
		return nil, err
	}
	return &Autoscaler{Cloud: c.Cloud, cluster: c.Cluster, stock: stock, pools: c.Pools, journal: c.Journal, asked: options(c.Options), every: cmp.Or(c.Every, proposeEvery),
		window: window, last: &fleet.Fleet{}, drift: map[string]cloudprovider.Drift{}}, nil
}

// options returns the given options with defaults. What-ifs about a few nodes need no long search
// for the best packing, so the default is a short one.
func options(asked *disruption.Options) *disruption.Options {
	var out disruption.Options
	if asked != nil {
		out = *asked
	}
	if out.Provisioning == nil {
		out.Provisioning = &provisioning.Options{MaxSteps: 100}
	}
	out.IgnorePodDeletionCost = true // steer writes it
	return &out
}

// Step runs one pass of the loop, in the order of a node's life. If a part fails, the error is
// recorded and the other parts still run: the next step tries again.
func (a *Autoscaler) Step(ctx context.Context) {
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"look", a.look},
		{"provision", a.provision},
		{"launch", a.launch},
		{"join", a.join},
		{"keep promises", a.keepPromises},
		{"propose", a.propose},
		{"steer", a.steer},
		{"confirm", a.confirm},
		{"advance", a.advance},
		{"terminate", a.terminate},
	} {
		if err := part.do(ctx); err != nil {
			a.journal.Trouble("%s: %v", part.name, err)
		}
	}
}

// look reads the notices of the cloud, and from time to time its machines and which of them have
// drifted.
func (a *Autoscaler) look(ctx context.Context) (err error) {
	now := a.cluster.Now()
	a.instances = nil
	if a.notices, err = cloudprovider.Interruptions(ctx, a.Cloud); err != nil && !errors.Is(err, cloudprovider.ErrUnsupported) {
		return err
	}
	if now.Before(a.nextLook) {
		return nil
	}
	if a.instances, err = a.Cloud.List(ctx); err != nil {
		return err
	}
	a.drift, a.nextLook = map[string]cloudprovider.Drift{}, now.Add(lookEvery)
	var errs []error
	for _, claim := range a.cluster.Claims.All() {
		if claim.Status.ProviderID == "" || claim.DeletionTimestamp != nil {
			continue
		}
		d, err := cloudprovider.IsDrifted(ctx, a.Cloud, claim)
		if err != nil && !errors.Is(err, cloudprovider.ErrNotFound) && !errors.Is(err, cloudprovider.ErrUnsupported) {
			errs = append(errs, err)
		}
		a.drift[claim.Name] = d
	}
	return errors.Join(errs...)
}

// provision makes NodeClaims for pods that have no place and were promised none, once no new pods
// have arrived for a while.
func (a *Autoscaler) provision(ctx context.Context) error {
	f, err := a.Read()
	if err != nil {
		return err
	}
	// Ten pods that are planned together share nodes better than one at a time.
	var due bool
	if a.window, due = a.window.Gather(f.Now, len(f.Waiting())); !due {
		return nil
	}
	if f, err = a.snapshot(ctx); err != nil {
		return err
	}
	problem, faults, err := f.Prepare(nil)
	if err != nil {
		return err
	}
	for _, fault := range faults {
		a.journal.Trouble("%v", fault.Err)
	}
	// The pods of nodes that are going down need a place as well.
	if problem, err = problem.With(disruption.Displaced(f.Now, f.Input)...); err != nil {
		return err
	}
	plan, err := problem.Solve(ctx)
	if err != nil {
		return err
	}
	plan, unneeded, err := f.Enlarge(ctx, problem, plan, a.asked)
	if err != nil {
		return err
	}
	if len(unneeded) > 0 {
		a.journal.Detail("larger new nodes, so that these may go: %s", strings.Join(unneeded, ", "))
	}
	claims, err := f.Bind(plan.Bind)
	a.store(claims)
	errs := []error{err}
	for i := range plan.Create {
		errs = append(errs, a.create(f, plan.Create[i].NodeClaim(), plan.Create[i].Pods))
	}
	for _, u := range plan.Unplaced {
		f.PutOff(f.Now.Add(retryUnplaced), u.Pod)
		a.journal.Trouble("pod %s stays pending: %s", simcluster.Key(u.Pod), u.Explanation)
	}
	a.journal.Planned(plan)
	return errors.Join(errs...)
}

// launch launches the machines of NodeClaims that have none. Requests are made from the objects
// alone.
func (a *Autoscaler) launch(ctx context.Context) error {
	f, err := a.Read()
	if err != nil {
		return err
	}
	for _, claim := range f.NodeClaims {
		if claim.Status.ProviderID != "" || claim.DeletionTimestamp != nil || f.Now.Before(nodeclaim.NextLaunch(claim)) {
			continue
		}
		instance, err := a.order(ctx, claim)
		outcome := nodeclaim.Launched(err)
		a.cluster.Claims.Put(claim.Name, nodeclaim.EditRetry(f.Now, outcome.EditClaim(f.Now, claim, instance), err))
		a.stock.MarkFromError(err)
		f.SoldOut(err)
		if err != nil {
			a.journal.Refused(claim, err)
		} else {
			a.stock.Launched(instance.OfferingKey())
			a.journal.Launched(claim, instance)
		}
		if outcome.Delete != "" { // its pods are planned for anew, without the offerings that were refused
			a.cluster.Claims.Remove(claim.Name)
		}
	}
	a.journal.EndLaunches()
	return nil
}

// join updates the NodeClaims and nodes of new machines while these start.
func (a *Autoscaler) join(context.Context) error {
	f, err := a.Read()
	if err != nil {
		return err
	}
	for _, claim := range f.NodeClaims {
		node, after := nodeclaim.Join(f.Now, claim, f.Nodes, nil)
		if node != nil {
			a.cluster.Nodes.Put(node.Name, node)
		}
		a.cluster.Claims.Put(claim.Name, after)
	}
	return nil
}

// keepPromises gives pods the tolerations and nominated nodes that bring them to the nodes
// reserved for them, and opens nodes to other pods once those pods are there.
func (a *Autoscaler) keepPromises(context.Context) error {
	f, err := a.Read()
	if err != nil {
		return err
	}
	for _, place := range f.Promises.Pods {
		if place.Toleration != nil {
			pod := place.Pod.DeepCopy()
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, *place.Toleration)
			a.cluster.UpdatePod(pod)
		}
	}
	for _, place := range f.Hints { // kube-scheduler tries that node first
		pod := place.Pod.DeepCopy()
		pod.Status.NominatedNodeName = place.Node
		a.cluster.UpdatePod(pod)
	}
	for _, n := range f.Promises.Nodes {
		if n.Opened != nil {
			a.cluster.Nodes.Put(n.Node, n.Opened)
		}
	}
	return nil
}

// propose proposes what to do with the present nodes. Forced actions begin at once; voluntary ones
// are confirmed first.
func (a *Autoscaler) propose(ctx context.Context) error {
	if due, err := a.proposalDue(ctx); err != nil || !due {
		return err
	}
	f, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	proposal, faults, err := disruption.Propose(ctx, f.Now, f.Input, a.asked)
	if err != nil {
		return err
	}
	a.nextPropose, a.nextChange, a.proposedAt = f.Now.Add(a.every), proposal.Next, a.cluster.Changes()
	a.catalogs = proposal.CatalogCache
	switch { // what matters is where evicted pods come again
	case len(proposal.Actions) > 0:
		cluster, _ := disruption.Observe(f.Now, f.Input, a.asked) // Propose reports the faults
		if a.unneeded, err = cluster.Unneeded(ctx); err != nil {
			return err
		}
	case len(f.Commands.Commands) == 0:
		a.unneeded = nil
	}
	var errs []error
	since := f.Foreseen(proposal, a.unneeded...)
	for i, action := range proposal.Actions {
		if disruption.Voluntary(action.Reason) {
			a.decided = append(a.decided, decision{action, since[i]})
		} else {
			errs = append(errs, a.force(ctx, action))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the notices come again
	}
	for _, fault := range faults {
		errs = append(errs, fault)
	}
	return errors.Join(append(errs, a.acknowledge(ctx))...)
}

// steer makes the nodes empty that would be removed next, without evictions: when a ReplicaSet is
// scaled down, its pods on these nodes are deleted first, and new pods go to other nodes if there
// is room. Its changes are no reason for a new proposal.
func (a *Autoscaler) steer(ctx context.Context) error {
	if a.cluster.Now().Before(a.nextSteer) || a.cluster.Changes() == a.steeredAt {
		return nil
	}
	f, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	cluster, err := disruption.Observe(f.Now, f.Input, a.asked)
	if err != nil {
		return err
	}
	unchanged := a.cluster.Changes() == a.proposedAt
	for _, c := range cluster.PodDeletionCosts() {
		if p, found := a.cluster.Pods.Get(simcluster.Key(c.Pod)); found {
			c.Pod = p.Pod // Read takes tolerations off
			a.cluster.UpdatePod(c.EditPod())
		}
	}
	for _, t := range cluster.SoftTaints(a.unneeded...) {
		a.cluster.Nodes.Put(t.Node.Name, t.EditNode())
	}
	a.nextSteer, a.steeredAt = f.Now.Add(a.every), a.cluster.Changes()
	if unchanged {
		a.proposedAt = a.steeredAt
	}
	return nil
}

// proposalDue reports whether to make a proposal for the present nodes now: because the cloud
// reported something, because time alone may have changed the proposal, because a forced action is
// due, or because the cluster has changed, but then at most once in Config.Every. While decisions
// wait for confirmation, only a report of the cloud makes a proposal due.
func (a *Autoscaler) proposalDue(ctx context.Context) (bool, error) {
	now, changed := a.cluster.Now(), a.cluster.Changes() != a.proposedAt
	switch {
	case len(a.notices) > 0 || a.instances != nil:
		return true, nil
	case len(a.decided) > 0:
		return false, nil
	case changed && !now.Before(a.nextPropose), !a.nextChange.IsZero() && !now.Before(a.nextChange):
		return true, nil
	case a.cluster.Changes() == a.watchedAt:
		return false, nil
	}
	// What has changed since can be due before that, such as a NodeClaim that is
	// new and never launched. Without the search the rules are cheap to ask.
	f, err := a.snapshot(ctx)
	if err != nil {
		return false, err
	}
	cluster, err := disruption.Observe(now, f.Input, a.asked)
	if err != nil {
		return false, err
	}
	forceful := cluster.Actions(disruption.LaunchTimeout, disruption.RegistrationTimeout, disruption.InitializationTimeout,
		disruption.GarbageCollected, disruption.Expired, disruption.ScaledDown)
	if next := forceful.Next; a.nextChange.IsZero() || !next.IsZero() && next.Before(a.nextChange) {
		a.nextChange = next
	}
	a.watchedAt = a.cluster.Changes()
	return len(forceful.Actions) > 0, nil
}

// confirm checks the decided actions again, and begins those without objections. An action whose
// reason may pass by itself is checked only after confirmAfter. Each action begins as a command:
// its nodes are marked, replacements are launched and waited for, and only then is anything
// deleted.
func (a *Autoscaler) confirm(ctx context.Context) error {
	var errs []error
	for len(a.decided) > 0 {
		d := a.decided[0]
		if disruption.Transient(d.action.Reason) && a.cluster.Now().Sub(d.since) < confirmAfter {
			break // what is listed after it holds after it
		}
		a.decided = a.decided[1:]
		f, err := a.snapshot(ctx) // each sees what those before it began
		if err != nil {
			return err
		}
		prepared, objections, err := f.Confirm(ctx, d.action, a.asked)
		if len(objections) > 0 {
			a.journal.Detail("not after all: %s, as %s", d.action, objections[0])
			continue
		}
		var writes []command.Write
		if err == nil {
			writes, err = a.commands.Begin(f.Now, prepared, f.CommandInput())
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		a.journal.Disrupted(d.action)
		errs = append(errs, a.carryOut(f, writes))
	}
	return errors.Join(errs...)
}

// advance carries out the next step of every command. Commands are read from the objects, so those
// of an earlier autoscaler are included.
func (a *Autoscaler) advance(context.Context) error {
	f, err := a.Read()
	if err != nil {
		return err
	}
	round := a.commands.Advance(f.Now, f.Commands.Commands, f.CommandInput())
	for _, u := range round.Undone {
		a.journal.Trouble("undoing the command %s (%s): %s", u.Command.ID, u.Command.Reason, u.Why)
	}
	if len(round.Finished) > 0 {
		a.nextPropose = f.Now // there may be room for the next
	}
	return errors.Join(f.Commands.Faults, a.carryOut(f, f.Commands.Writes), a.carryOut(f, round.Writes))
}

// terminate empties the nodes of NodeClaims that are being deleted, and has the cloud
// end their machines.
func (a *Autoscaler) terminate(ctx context.Context) error {
	f, err := a.Read()
	if err != nil {
		return err
	}
	for _, claim := range f.Doubtful() {
		if _, err := a.Cloud.Get(ctx, claim.Status.ProviderID); errors.Is(err, cloudprovider.ErrNotFound) {
			f.Lost(claim)
		}
	}
	d, err := f.Leave(nil)
	a.store(d.NodeClaims)
	for _, node := range d.Nodes {
		a.cluster.Nodes.Put(node.Name, node)
	}
	errs := []error{err}
	for _, n := range d.Drain {
		for _, s := range n.Evict {
			errs = append(errs, a.cluster.Evict(s.Eviction()))
		}
		for _, s := range n.Delete {
			a.cluster.DeletePod(s.Namespace, s.Name, s.Grace)
		}
	}
	for _, claim := range d.Empty {
		// Deletion is complete when the cloud says that there is no such machine.
		err := cloudprovider.ErrNotFound
		if claim.Status.ProviderID != "" {
			err = a.Cloud.Delete(ctx, claim.Status.ProviderID)
		}
		if errors.Is(err, cloudprovider.ErrNotFound) {
			a.cluster.FinalizeClaim(claim)
			err = nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
