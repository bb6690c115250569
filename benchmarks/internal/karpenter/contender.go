package karpenter

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/node/termination"
	"sigs.k8s.io/karpenter/pkg/controllers/node/termination/terminator"
	claimdisruption "sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/expiration"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/garbagecollection"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/lifecycle"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeclaim/podevents"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	gracePeriod  = 30 * time.Second // grace period of pods
	retryPending = 10 * time.Second // interval at which a pod that stays pending triggers the provisioner
	collectEvery = 2 * time.Minute
	mostBackoff  = time.Minute
)

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// Contender is Karpenter in a simulated cluster.
type Contender struct {
	site    life.Site
	options *options.Options
	kube    *kube
	cloud   *cloud
	clock   *turnClock
	state   *state.Cluster

	provisioner *provisioning.Provisioner
	queue       *disruption.Queue
	disruption  *disruption.Controller
	lifecycle   *lifecycle.Controller
	conditions  *claimdisruption.Controller
	expiration  *expiration.Controller
	podEvents   *podevents.Controller
	collection  *garbagecollection.Controller
	termination *termination.Controller
	evictions   *terminator.Queue

	nodes       map[string]*corev1.Node // nodes that the cluster state was last told of
	pods        map[string]*corev1.Pod
	conditioned map[string]turn // when the conditions of claims are reconciled next
	launches    map[string]turn // when launches are reconciled next
	provisioned time.Time
	collect     time.Time
	disrupt     time.Time // time at which disruption looks again
	done        chan reconcile.Result
	waiting     *waiter // the instant that disruption waits for; nil if it does not wait
	fault       error
}

// turn says when an object is reconciled next.
type turn struct {
	claim    *karpenterv1.NodeClaim // the claim at the last reconciliation
	at       time.Time              // zero if only a change triggers it
	failures int
}

// New returns a function that starts Karpenter in one play. After a restart it finds the NodeClaims
// that it created, and otherwise only what is in the cluster.
//
// policy replaces the consolidationPolicy of pools that consolidate underutilized nodes; empty
// keeps theirs.
func New(policy karpenterv1.ConsolidationPolicy) life.Start {
	claims := map[string]*karpenterv1.NodeClaim{}
	return func(site life.Site) (life.Contender, error) { return start(site, claims, policy) }
}

func start(site life.Site, claims map[string]*karpenterv1.NodeClaim, policy karpenterv1.ConsolidationPolicy) (*Contender, error) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	flags := &options.Options{}
	set := &options.FlagSet{FlagSet: flag.NewFlagSet("controller", flag.ContinueOnError)}
	flags.AddFlags(set)
	if err := flags.Parse(set); err != nil {
		return nil, err
	}
	provider, err := newCloud(site.Provider, site.Pools, site.Cluster.Now)
	if err != nil {
		return nil, err
	}
	c := &Contender{site: site, options: flags, cloud: provider, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{},
		conditioned: map[string]turn{}, launches: map[string]turn{}, done: make(chan reconcile.Result)}
	c.clock = &turnClock{now: site.Cluster.Now, blocked: make(chan waiter)}
	c.kube = &kube{cluster: site.Cluster, claims: claims, pools: map[string]*karpenterv1.NodePool{}, leaves: map[string]*corev1.Node{}}
	c.kube.changed = c.inform
	for _, p := range site.Pools {
		pool := &karpenterv1.NodePool{}
		if err := Translate(p, pool); err != nil {
			return nil, err
		}
		if underutilized := karpenterv1.ConsolidationPolicyWhenEmptyOrUnderutilized; policy != "" && pool.Spec.Disruption.ConsolidationPolicy == underutilized {
			pool.Spec.Disruption.ConsolidationPolicy = policy
		}
		Ready(pool, metav1.NewTime(site.Cluster.Now()))
		pool.UID, pool.ResourceVersion = types.UID(pool.Name), version
		c.kube.pools[pool.Name] = pool
		if _, err := provider.GetInstanceTypes(context.Background(), pool); err != nil { // registers the labels of the instance types
			return nil, err
		}
	}
	ctx := options.ToContext(context.Background(), flags)
	c.build(ctx, events.NewRecorder(&record.FakeRecorder{}))
	for _, node := range site.Cluster.Nodes.All() {
		if node.DeletionTimestamp != nil {
			c.kube.leaves[node.Name] = node
		}
	}
	for _, claim := range sorted(claims) {
		c.inform(ctx, claim, false)
	}
	return c, c.state.UpdateDaemonSet(ctx, site.Cluster.Daemon.DeepCopy())
}

// build constructs the controllers.
func (c *Contender) build(ctx context.Context, recorder events.Recorder) {
	c.state = state.NewCluster(c.clock, c.kube, c.cloud)
	c.provisioner = provisioning.NewProvisioner(c.kube, recorder, c.cloud, c.state, c.clock, nil, nil)
	c.queue = disruption.NewQueue(c.kube, recorder, c.state, c.clock, c.provisioner)
	c.buildChanged(ctx, recorder)
	c.conditions = claimdisruption.NewController(c.clock, c.kube, c.cloud)
	c.expiration = expiration.NewController(c.clock, c.kube, c.cloud)
	c.podEvents = podevents.NewController(c.clock, c.kube, c.cloud)
	c.collection = garbagecollection.NewController(c.clock, c.kube, c.cloud)
	c.termination = termination.NewController(c.clock, c.kube, c.cloud, terminator.NewTerminator(c.clock, c.kube, c.evictions, recorder), recorder)
}

// inform reports a write to the cluster state, as an informer does.
func (c *Contender) inform(ctx context.Context, object client.Object, deleted bool) {
	switch o := object.(type) {
	case *karpenterv1.NodeClaim:
		if deleted {
			c.state.DeleteNodeClaim(o.Name)
			return
		}
		c.state.UpdateNodeClaim(o.DeepCopy())
	case *corev1.Node:
		if deleted {
			c.state.DeleteNode(o.Name)
			return
		}
		if err := c.state.UpdateNode(ctx, o.DeepCopy()); err != nil {
			c.note(fmt.Errorf("node %s: %w", o.Name, err))
		}
	}
}

// note keeps the first error that a controller should not return.
func (c *Contender) note(err error) {
	if err != nil && c.fault == nil {
		c.fault = err
	}
}

// Step runs all controllers once.
func (c *Contender) Step(ctx context.Context) error {
	ctx = injection.WithControllerName(options.ToContext(ctx, c.options), "karpenter")
	c.sync(ctx)
	c.interruptions(ctx)
	c.advance(ctx)
	c.provision(ctx)
	c.sync(ctx)
	c.look(ctx)
	c.sync(ctx)
	c.live(ctx)
	c.terminate(ctx)
	return errors.Join(c.fault, ctx.Err())
}

// sync reports changes of Nodes and Pods to the cluster state, and runs the controllers that handle
// pod events.
func (c *Contender) sync(ctx context.Context) {
	for name, was := range c.kube.leaves {
		node, ok := c.site.Cluster.Nodes.Get(name)
		switch {
		case !ok:
			delete(c.kube.leaves, name)
		case node.DeletionTimestamp == nil: // the kubelet has written the node without these fields
			node = node.DeepCopy()
			node.DeletionTimestamp, node.Finalizers = was.DeletionTimestamp, was.Finalizers
			c.site.Cluster.Nodes.Put(name, node)
		}
	}
	there := map[string]bool{}
	for _, node := range c.site.Cluster.Nodes.All() {
		there[node.Name] = true
		if c.nodes[node.Name] != node {
			c.nodes[node.Name] = node
			c.inform(ctx, node, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		if !there[name] {
			delete(c.nodes, name)
			c.state.DeleteNode(name)
		}
	}
	c.syncPods(ctx)
}

func (c *Contender) syncPods(ctx context.Context) {
	c.kube.readPods()
	there := map[string]bool{}
	for _, pod := range c.kube.pods {
		key := pod.Namespace + "/" + pod.Name
		there[key] = true
		was := c.pods[key]
		if was == pod || was != nil && was.Spec.NodeName == "" && pod.Spec.NodeName == "" {
			continue
		}
		c.pods[key] = pod
		if err := c.state.UpdatePod(ctx, pod.DeepCopy()); err != nil {
			c.note(fmt.Errorf("pod %s: %w", key, err))
		}
		if pod.Spec.NodeName != "" && (was == nil || was.Spec.NodeName == "" || was.DeletionTimestamp == nil && pod.DeletionTimestamp != nil) {
			_, err := c.podEvents.Reconcile(ctx, pod.DeepCopy())
			c.note(err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.pods)) {
		if there[key] {
			continue
		}
		gone := c.pods[key]
		if gone.Spec.NodeName != "" && gone.DeletionTimestamp == nil {
			// The pod of a Job has finished: in a cluster it is there as Succeeded for a moment.
			finished := gone.DeepCopy()
			finished.Status.Phase = corev1.PodSucceeded
			_, err := c.podEvents.Reconcile(ctx, finished)
			c.note(err)
		}
		c.state.DeletePod(client.ObjectKeyFromObject(gone))
		delete(c.pods, key)
	}
}

// interruptions handles interruption notices as the AWS provider does.
func (c *Contender) interruptions(ctx context.Context) {
	notices, err := cloudprovider.Interruptions(ctx, c.site.Provider)
	if err != nil || len(notices) == 0 {
		return // the notices come again
	}
	for _, n := range notices {
		if i, err := c.site.Provider.Get(ctx, n.InstanceID); err == nil {
			c.cloud.stock.MarkFromInterruption(i, n)
		}
		if n.Kind == cloudprovider.InterruptionRebalance {
			continue
		}
		for _, claim := range sorted(c.kube.claims) {
			if claim.Status.ProviderID == n.InstanceID {
				c.note(client.IgnoreNotFound(c.kube.Delete(ctx, claim)))
			}
		}
	}
	c.note(cloudprovider.Acknowledge(ctx, c.site.Provider, notices...))
}

// advance continues the commands in the disruption queue.
func (c *Contender) advance(ctx context.Context) {
	commands := c.queue.GetCommands()
	slices.SortFunc(commands, func(a, b *disruption.Command) int {
		if d := a.CreationTimestamp.Compare(b.CreationTimestamp); d != 0 {
			return d
		}
		return cmp.Compare(a.Candidates[0].NodeClaim.Name, b.Candidates[0].NodeClaim.Name)
	})
	for _, command := range commands {
		_, err := c.queue.Reconcile(ctx, command.Candidates[0].NodeClaim)
		c.note(err)
	}
}

// provision plans for pending pods, and for the pods of nodes that are being deleted.
func (c *Contender) provision(ctx context.Context) {
	now := c.site.Cluster.Now()
	fresh, pending := false, false
	for _, pod := range c.kube.pods {
		if podutils.IsProvisionable(pod) {
			pending = true
			fresh = fresh || c.state.PodAckTime(client.ObjectKeyFromObject(pod)).IsZero()
			c.state.AckPods(pod)
		}
	}
	leaving := slices.ContainsFunc(sorted(c.kube.claims), func(claim *karpenterv1.NodeClaim) bool { return claim.DeletionTimestamp != nil })
	if !fresh && (!pending && !leaving || now.Sub(c.provisioned) < retryPending) || !c.state.Synced(ctx) {
		return
	}
	c.provisioned = now
	results, err := c.provisioner.Schedule(ctx)
	if err == nil && len(results.NewNodeClaims) > 0 {
		// A pool at its limit returns an error, which the controller logs and retries.
		_, _ = c.provisioner.CreateNodeClaims(ctx, results.NewNodeClaims, provisioning.WithReason("provisioned"), provisioning.RecordPodNomination)
	}
	c.note(err)
}

// live runs the life-cycle controllers of NodeClaims.
func (c *Contender) live(ctx context.Context) {
	now := c.site.Cluster.Now()
	for _, claim := range sorted(c.kube.claims) {
		if claim.DeletionTimestamp == nil {
			_, err := c.expiration.Reconcile(ctx, claim.DeepCopy())
			c.note(err)
		}
	}
	for _, claim := range sorted(c.kube.claims) {
		last := c.launches[claim.Name]
		if now.Before(last.at) || claim.DeletionTimestamp == nil && last.claim == claim && last.at.IsZero() && claim.StatusConditions().IsTrue(karpenterv1.ConditionTypeInitialized) {
			continue
		}
		_, err := c.lifecycle.Reconcile(ctx, claim.DeepCopy())
		next := turn{claim: c.kube.claims[claim.Name]}
		if err != nil {
			next.failures = last.failures + 1
			next.at = now.Add(min(mostBackoff, time.Second<<min(last.failures, 10)))
		}
		c.launches[claim.Name] = next
	}
	for _, claim := range sorted(c.kube.claims) {
		last := c.conditioned[claim.Name]
		if last.claim == claim && (last.at.IsZero() || now.Before(last.at)) {
			continue
		}
		result, err := c.conditions.Reconcile(ctx, claim.DeepCopy())
		next := turn{claim: c.kube.claims[claim.Name]}
		if result.RequeueAfter > 0 {
			next.at = now.Add(result.RequeueAfter)
		} else if err != nil {
			next.at = now.Add(time.Second)
		}
		c.conditioned[claim.Name] = next
	}
	for _, turns := range []map[string]turn{c.launches, c.conditioned} {
		maps.DeleteFunc(turns, func(name string, _ turn) bool { return c.kube.claims[name] == nil })
	}
	if !now.Before(c.collect) {
		c.collect = now.Add(collectEvery)
		_, err := c.collection.Reconcile(ctx)
		c.note(err)
	}
}

// terminate drains nodes that are being deleted.
func (c *Contender) terminate(ctx context.Context) {
	for _, name := range slices.Sorted(maps.Keys(c.kube.leaves)) {
		node, ok := c.site.Cluster.Nodes.Get(name)
		if !ok {
			continue
		}
		// An error of the cloud is retried in the next turn.
		_, _ = c.termination.Reconcile(ctx, node.DeepCopy())
	}
	c.kube.readPods()
	for _, pod := range slices.Clone(c.kube.pods) {
		if c.evictions.Has(pod) {
			_, err := c.evictions.Reconcile(ctx, pod.DeepCopy())
			c.note(err)
		}
	}
}

// look starts a disruption loop, or continues one that waits.
func (c *Contender) look(ctx context.Context) {
	now := c.site.Cluster.Now()
	switch {
	case c.waiting != nil:
		if now.Before(c.waiting.at) {
			return
		}
		c.waiting.wake <- now
		c.waiting = nil
	case now.Before(c.disrupt):
		return
	default:
		go func() {
			result, err := c.disruption.Reconcile(ctx)
			if err != nil {
				result.RequeueAfter = time.Second
			}
			c.done <- reconcile.Result{RequeueAfter: result.RequeueAfter}
		}()
	}
	select {
	case result := <-c.done:
		c.disrupt = now.Add(result.RequeueAfter)
	case w := <-c.clock.blocked:
		c.waiting = &w
	}
}
