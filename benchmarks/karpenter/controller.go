package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// controller holds the parts of Karpenter's provisioning controller, without an API server and a
// cloud.
type controller struct {
	ctx     context.Context // carries Karpenter's options
	objects *objects
	cloud   *cloud
	kube    client.Client
	clock   clock.Clock
	events  events.Recorder
}

// round is one loop of the provisioning controller.
type round struct {
	ctx       context.Context
	objects   *objects
	scheduler *scheduling.Scheduler
	pods      []*corev1.Pod
	results   scheduling.Results
}

// newController returns a controller for a scenario. The caches live until ctx is done.
func newController(ctx context.Context, s *scenario.Scenario, cpuRequests int) (*controller, error) {
	silence()
	flags, err := settingsOf(s, cpuRequests)
	if err != nil {
		return nil, err
	}
	ctx = injection.WithControllerName(options.ToContext(ctx, flags), "provisioner")
	all, err := objectsOf(s)
	if err != nil {
		return nil, err
	}
	kube, err := newClient(ctx, all.list())
	if err != nil {
		return nil, err
	}
	return &controller{
		ctx:     ctx,
		objects: all,
		cloud:   newCloud(s, all.pools),
		kube:    kube,
		clock:   movedClock{by: time.Until(s.Now)},
		events:  events.NewRecorder(&record.FakeRecorder{}),
	}, nil
}

// silence turns logging off, because the time to format unread lines should not be measured.
func silence() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
}

// settingsOf returns the flags of the controller: the defaults, except for what the scenario sets.
func settingsOf(s *scenario.Scenario, cpuRequests int) (*options.Options, error) {
	out := &options.Options{}
	set := &options.FlagSet{FlagSet: flag.NewFlagSet("controller", flag.ContinueOnError)}
	out.AddFlags(set)
	args := []string{"--cpu-requests", fmt.Sprint(cpuRequests)}
	if p := s.Options.PreferencePolicy; p != "" {
		args = append(args, "--preference-policy", p)
	}
	if p := s.Options.MinValuesPolicy; p != "" {
		args = append(args, "--min-values-policy", p)
	}
	if err := out.Parse(set, args...); err != nil {
		return nil, fmt.Errorf("flags: %w", err)
	}
	return out, nil
}

// prepare does everything that precedes a solve: it fills a new cluster state from the objects, as
// informers would, and then runs the steps of the controller's loop up to the solve.
func (c *controller) prepare() (round, error) {
	cluster := state.NewCluster(c.clock, c.kube, c.cloud)
	if err := c.fill(cluster); err != nil {
		return round{}, err
	}
	// The arguments for devices and for buffers of virtual pods are nil: their feature flags are
	// off.
	provisioner := provisioning.NewProvisioner(c.kube, c.events, c.cloud, cluster, c.clock, nil, nil)
	// Nodes are read before pods, as in the controller, so that nodes are older than pods.
	nodes := cluster.DeepCopyNodes()
	pods, err := provisioner.GetPendingPods(c.ctx)
	if err != nil {
		return round{}, err
	}
	scheduler, err := provisioner.NewScheduler(c.ctx, pods, nodes.Active(), sets.New[types.UID](), c.solverOptions()...)
	if err != nil {
		return round{}, err
	}
	return round{ctx: c.ctx, objects: c.objects, scheduler: scheduler, pods: pods}, nil
}

// solverOptions returns the options with which the controller solves for pending pods.
func (c *controller) solverOptions() []scheduling.Options {
	flags := options.FromContext(c.ctx)
	out := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback,
		scheduling.NumConcurrentReconciles(int(math.Ceil(float64(flags.CPURequests) / 1000))),
		scheduling.MinValuesPolicy(flags.MinValuesPolicy),
	}
	if flags.PreferencePolicy == options.PreferencePolicyIgnore {
		out = append(out, scheduling.IgnorePreferences)
	}
	return out
}

// fill adds every object to the cluster state. The state gets copies, because it keeps and changes
// its objects.
func (c *controller) fill(cluster *state.Cluster) error {
	for _, claim := range c.objects.claims {
		cluster.UpdateNodeClaim(claim.DeepCopy())
	}
	for _, node := range c.objects.nodes {
		if err := cluster.UpdateNode(c.ctx, node.DeepCopy()); err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	for _, pods := range [][]*corev1.Pod{c.objects.bound, c.objects.pending} {
		for _, pod := range pods {
			if err := cluster.UpdatePod(c.ctx, pod.DeepCopy()); err != nil {
				return fmt.Errorf("pod %s: %w", scenario.PodKey(pod), err)
			}
		}
	}
	var sets appsv1.DaemonSetList
	if err := c.kube.List(c.ctx, &sets); err != nil {
		return err
	}
	for i := range sets.Items {
		if err := cluster.UpdateDaemonSet(c.ctx, &sets.Items[i]); err != nil {
			return fmt.Errorf("daemon set %s: %w", sets.Items[i].Name, err)
		}
	}
	if !cluster.Synced(c.ctx) {
		return errors.New("the cluster state misses nodes: each needs a provider ID, and a claim that has been launched")
	}
	return nil
}

// movedClock is a clock that starts at the instant of the scenario and runs on from there.
type movedClock struct {
	clock.RealClock
	by time.Duration
}

func (c movedClock) Now() time.Time                  { return time.Now().Add(c.by) }
func (c movedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
