package e2e

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// deployments changes how many pods there are, and says how many that are.
func (s *scene) deployments(replicas func(have int) int) (pods int) {
	s.Helper()
	var all appsv1.DeploymentList
	s.must(s.api.List(s.ctx, &all, client.InNamespace("default")))
	for i := range all.Items {
		d := &all.Items[i]
		before := d.DeepCopy()
		n := int32(replicas(int(*d.Spec.Replicas)))
		d.Spec.Replicas = &n
		pods += int(n)
		s.must(s.api.Patch(s.ctx, d, client.MergeFrom(before)))
	}
	return pods
}

// pool changes the NodePool.
func (s *scene) pool(change func(*v1.NodePool)) {
	s.Helper()
	var pool v1.NodePool
	err := s.api.Get(s.ctx, client.ObjectKey{Name: "general"}, &pool)
	before := pool.DeepCopy()
	change(&pool)
	s.must(errors.Join(err, s.api.Patch(s.ctx, &pool, client.MergeFrom(before))))
}

// small brings the pods of testdata/small.yaml up.
func (s *scene) small() look {
	s.Helper()
	s.apply("testdata/small.yaml")
	l, _ := s.watch(3*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })
	return l
}

// Seven of ten pods go: their nodes go after them, until nothing is worth its evictions.
func TestScaleDown(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-batch-idle=2s", "-batch-max=20s")
	before := s.burst()
	pods := s.deployments(func(have int) int { return int(math.Ceil(0.3 * float64(have))) })
	s.watch(time.Minute, "the other pods are gone", func(l look) error {
		if len(l.pods) != pods {
			return fmt.Errorf("%d pods", len(l.pods))
		}
		return nil
	})
	s.dump("scaled")
	tally := newTally()
	const rest = 60 * time.Second
	l, took := s.watch(12*time.Minute, "at rest", atRest(tally, rest, pods))
	s.dump("rest")
	fresh := s.fresh(l)
	s.report("%d pods at %.4f USD/h scaled to %d; at rest on %d nodes at %.4f USD/h after %.0f s, %d evictions, %d budgets breached, a pod pending for %.0f s at most; a plan from empty for these pods costs %.4f, and none less than %.4f",
		len(before.pods), before.cost, pods, len(l.nodes), l.cost, (took - rest).Seconds(), len(s.entries("evicted")), len(tally.breaches), tally.longest.Seconds(), fresh.Cost, fresh.LowerBound)
	assert.Empty(t, tally.breaches, "budgets breached")
	assert.LessOrEqual(t, tally.longest, 30*time.Second, "the longest that a pod was pending")
}

// fresh returns a plan for the pods of a look in an empty cluster.
func (s *scene) fresh(l look) *provisioning.Plan {
	s.Helper()
	types, err := catalog.New(&catalog.Options{Where: requirements.MustParse(machines)})
	var pool v1.NodePool
	var sets appsv1.DaemonSetList
	var claims corev1.PersistentVolumeClaimList
	var volumes corev1.PersistentVolumeList
	var classes storagev1.StorageClassList
	s.must(errors.Join(err, s.api.Get(s.ctx, client.ObjectKey{Name: "general"}, &pool), s.api.List(s.ctx, &sets), s.api.List(s.ctx, &claims), s.api.List(s.ctx, &volumes), s.api.List(s.ctx, &classes)))
	pool.Default()
	var o fleet.Objects
	for i := range sets.Items {
		o.DaemonSets = append(o.DaemonSets, &sets.Items[i])
	}
	for i := range l.pods {
		p := l.pods[i].DeepCopy()
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
		o.Pods = append(o.Pods, p)
	}
	f, err := fleet.Read(time.Now(), o, fleet.Memory{})
	s.must(err)
	in := f.Input.Input
	for i := range claims.Items {
		in.Volumes.Claims = append(in.Volumes.Claims, &claims.Items[i])
	}
	for i := range volumes.Items {
		in.Volumes.Volumes = append(in.Volumes.Volumes, &volumes.Items[i])
	}
	for i := range classes.Items {
		in.Volumes.Classes = append(in.Volumes.Classes, &classes.Items[i])
	}
	in.NodePools, in.InstanceTypes, in.Vocabulary = []*v1.NodePool{&pool}, map[string][]*cloudprovider.InstanceType{pool.Name: types}, catalog.Vocabulary()
	plan, err := provisioning.Solve(s.ctx, in, nil)
	require.NoError(s, err)
	require.Empty(s, plan.Unplaced)
	return plan
}

// The template changes, and one node may go at a time: each has its replacement first.
func TestDrift(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pool(func(p *v1.NodePool) { p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}} })
	before := s.small()
	s.pool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "b"} })
	tally := newTally()
	preempted := s.preempted()
	l, took := s.watch(10*time.Minute, "none has drifted", func(l look) error {
		tally.count(l)
		return errors.Join(settled(l, 60), labelled(l))
	})
	s.report("%d nodes replaced one by one in %.0f s: %d nodes at most, %d in the end; from %.4f to %.4f USD/h, %d evictions, %d pods preempted, %d budgets breached, a pod pending for %.0f s at most",
		len(before.nodes), took.Seconds(), tally.most, len(l.nodes), before.cost, l.cost, len(s.entries("evicted")), s.preempted()-preempted, len(tally.breaches), tally.longest.Seconds())
	assert.LessOrEqual(t, tally.most, len(before.nodes)+1)
	assert.Empty(t, tally.breaches, "budgets breached")
}

// preempted is how many pods kube-scheduler has preempted.
func (s *scene) preempted() int {
	s.Helper()
	var list corev1.EventList
	s.must(s.api.List(s.ctx, &list, client.MatchingFields{"reason": "Preempted"}))
	pods := map[types.UID]bool{}
	for _, e := range list.Items {
		pods[e.InvolvedObject.UID] = true
	}
	return len(pods)
}

// rollout changes the template of all Deployments, and waits until all pods are of the new one.
func (s *scene) rollout(pods int, t *tally) (l look, took time.Duration) {
	s.Helper()
	var all appsv1.DeploymentList
	s.must(s.api.List(s.ctx, &all, client.InNamespace("default")))
	for i := range all.Items {
		d := &all.Items[i]
		before := d.DeepCopy()
		d.Spec.Template.Labels["release"] = "b"
		s.must(s.api.Patch(s.ctx, d, client.MergeFrom(before)))
	}
	return s.watch(10*time.Minute, "all pods are of the new template", func(l look) error {
		t.count(l)
		for _, p := range l.pods {
			if p.Labels["release"] != "b" {
				return fmt.Errorf("pod %s is of the old template: %s", p.Name, l)
			}
		}
		return settled(l, pods)
	})
}

// All Deployments get a new template at once: pods that come while those before them still run
// need nodes for a short time, and those of a high priority preempt others as rarely as may be.
func TestRollingUpdate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	before := s.small()
	tally, preempted := newTally(), s.preempted()
	l, took := s.rollout(60, tally)
	s.report("60 pods of a new template after %.0f s: %d nodes, %d at most, %d in the end; from %.4f to %.4f USD/h, %d evictions, %d pods preempted, a pod pending for %.0f s at most",
		took.Seconds(), len(before.nodes), tally.most, len(l.nodes), before.cost, l.cost, len(s.entries("evicted")), s.preempted()-preempted, tally.longest.Seconds())
}

// labelled says which nodes are of the template of before.
func labelled(l look) error {
	for _, n := range l.nodes {
		if n.Labels["team"] != "b" {
			return fmt.Errorf("node %s is of the old template", n.Name)
		}
	}
	return nil
}

// The controller is killed again and again, at any moment of a launch, of a replacement
// and of a drain. Nothing is lost, doubled or left.
func TestKill(t *testing.T) {
	t.Parallel()
	s := newScene(t, "-confirm-after=500ms")
	dice := rand.New(rand.NewPCG(1, 2))
	kills := 0
	again := func(times int) {
		for range times {
			time.Sleep(time.Duration(300+dice.IntN(3500)) * time.Millisecond)
			s.stop(syscall.SIGKILL)
			s.start()
			kills++
		}
	}
	s.apply("testdata/small.yaml")
	again(10)
	launched, _ := s.watch(4*time.Minute, "60 pods run", func(l look) error { return settled(l, 60) })

	s.pool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "b"} })
	again(10)
	replaced, _ := s.watch(10*time.Minute, "none has drifted", func(l look) error { return errors.Join(settled(l, 60), labelled(l)) })

	for i := range replaced.claims {
		if i%2 == 0 {
			require.NoError(t, s.api.Delete(s.ctx, &replaced.claims[i]))
		}
	}
	again(10)
	drained, _ := s.watch(6*time.Minute, "drained", func(l look) error {
		for _, c := range l.claims {
			for i := range replaced.claims {
				if i%2 == 0 && c.UID == replaced.claims[i].UID {
					return fmt.Errorf("NodeClaim %s is still there", c.Name)
				}
			}
		}
		return settled(l, 60)
	})
	names := map[string]bool{}
	for _, c := range drained.claims {
		names[c.Status.NodeName] = true
	}
	assert.Len(t, names, len(drained.nodes), "every node has its NodeClaim")
	s.report("killed %d times: %d nodes launched, %d after their replacement, %d after half of these were drained; %.4f, %.4f and %.4f USD/h",
		kills, len(launched.nodes), len(replaced.nodes), len(drained.nodes), launched.cost, replaced.cost, drained.cost)
}
