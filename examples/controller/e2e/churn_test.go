package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// How long churn waits for a cluster that has just started, what it lasts, how often its plans
// from empty are made, and how long it waits for rest.
const (
	warmUp      = 2 * time.Minute
	churnLength = 20 * time.Minute
	churnSample = 20 * time.Second
	restWithin  = 10 * time.Minute
)

// An event is what happens to the cluster at a time from the beginning of a scenario.
type event struct {
	at   time.Duration
	what string
	do   func() error
}

// TestChurn plays churn for this controller alone.
func TestChurn(t *testing.T) {
	s := newScene(t, contenderFlags...)
	r := churn(s, contenders[0])[0].(lived)
	s.report("20 minutes of deploys, scaling, drift, a sold-out family, a lost node and 5 kills: %.4f USD, %+.1f%% over plans from empty; %d evictions, %d pods preempted, %d launches, pods waited %.0f s in the median and %.0f s at the 99th percentile; at rest %.4f USD/h, %+.1f%% over a plan from empty, after %.0f s with %d evictions more; left behind: %s",
		r.bill, 100*(r.bill/r.fromEmpty-1), r.evicted, r.preempted, r.launches, r.median.Seconds(), r.slowest.Seconds(), r.rest, 100*(r.rest/r.restFromEmpty-1), r.took.Seconds(), r.restEvicted, cmp.Or(r.left, "nothing"))
	assert.True(t, r.rested, "not at rest after %s", r.took)
	assert.Empty(t, r.left, "left behind")
}

// lived is what a contender came to in churn.
type lived struct {
	contender           string
	bill, fromEmpty     float64 // USD
	evicted, preempted  int
	launches            int
	median, slowest     time.Duration // until a pod is bound; slowest is the 99th percentile
	rest, restFromEmpty float64       // USD/h
	rested              bool
	took                time.Duration // until rest, or as long as churn waited
	restEvicted         int
	left                string // what is not as it should be at rest
}

func (r lived) name() string { return fmt.Sprintf("| churn | %s |", r.contender) }

func (r lived) text() string {
	more := ""
	if !r.rested {
		more = "> "
	}
	return r.name() + fmt.Sprintf(" %.4f | %+.1f%% | %d | %d | %d | %.0f | %.0f | %.4f | %+.1f%% | %s%.0f | %d | %s |", r.bill, 100*(r.bill/r.fromEmpty-1), r.evicted, r.preempted, r.launches,
		r.median.Seconds(), r.slowest.Seconds(), r.rest, 100*(r.rest/r.restFromEmpty-1), more, r.took.Seconds(), r.restEvicted, cmp.Or(r.left, "-"))
}

// churn is 331 pods in 20 minutes of changes: a workload is scaled every 20 s, another is deployed
// anew every 90 s, all nodes drift twice, the node with the most pods is lost, a family of instance
// types is sold out, and the controller is killed five times. Then nothing changes any more, and
// the cluster comes to rest.
func churn(s *scene, c contender) []result {
	s.apply("testdata/burst.yaml")
	s.apply("testdata/churn.yaml")
	s.watch(8*time.Minute, "331 pods run", func(l look) error { return settled(l, 331) })
	time.Sleep(warmUp)
	pods, stop := s.follow()
	defer stop()

	events := s.churnEvents(c)
	var meter meter
	launches := map[string]bool{}
	started := time.Now()
	for now := time.Duration(0); now < churnLength; now = time.Since(started) {
		for len(events) > 0 && events[0].at <= now {
			s.Logf("%6.1f s  %s", now.Seconds(), events[0].what)
			assert.NoError(s, events[0].do(), events[0].what)
			events = events[1:]
		}
		if l, err := s.look(); err == nil {
			meter.count(now, l)
			for _, claim := range l.claims {
				launches[claim.Name] = true
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	assert.Empty(s, events, "they came too late")
	r := lived{contender: c.name, bill: meter.usd, launches: len(launches)}
	r.evicted, r.preempted, r.median, r.slowest = pods.figures()
	s.Logf("%s", pods.longest(started))

	want := s.replicas()
	const still = time.Minute
	l, took, err := s.watchUntil(restWithin, atRest(newTally(), still, want))
	if err == nil {
		r.rested, took = true, took-still
	}
	evicted, _, _, _ := pods.figures()
	r.rest, r.took, r.restEvicted, r.left = l.cost, took, evicted-r.evicted, leftBehind(l)
	r.restFromEmpty = s.fresh(l).Cost
	for _, sample := range meter.samples {
		r.fromEmpty += s.fresh(sample).Cost * churnSample.Hours()
	}
	r.fromEmpty *= churnLength.Seconds() / (float64(len(meter.samples)) * churnSample.Seconds())
	return []result{r}
}

// atRest returns a question for watch: whether all pods run and no node has come or gone for a
// time.
func atRest(t *tally, still time.Duration, pods int) func(look) error {
	return func(l look) error {
		t.count(l)
		if err := settled(l, pods); err != nil || t.still() < still {
			return fmt.Errorf("still for %s: %w", t.still(), err)
		}
		return nil
	}
}

// churnEvents returns the events of churn in the order of their times: the same for each contender.
func (s *scene) churnEvents(c contender) (events []event) {
	s.Helper()
	at := func(at time.Duration, what string, do func() error) { events = append(events, event{at, what, do}) }
	var all appsv1.DeploymentList
	s.must(s.api.List(s.ctx, &all, client.InNamespace("default")))
	slices.SortFunc(all.Items, func(a, b appsv1.Deployment) int { return cmp.Compare(a.Name, b.Name) })
	dice := rand.New(rand.NewPCG(1, 2))
	for t := 10 * time.Second; t < churnLength; t += 20 * time.Second {
		d := all.Items[dice.IntN(len(all.Items))]
		replicas := max(1, int32(float64(*d.Spec.Replicas)*(0.3+1.4*dice.Float64())))
		at(t, fmt.Sprintf("%s has %d replicas", d.Name, replicas), func() error {
			return s.change(d.Name, func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas })
		})
	}
	for t := 45 * time.Second; t < churnLength; t += 90 * time.Second {
		d := all.Items[dice.IntN(len(all.Items))]
		at(t, d.Name+" has a new template", func() error {
			return s.change(d.Name, func(d *appsv1.Deployment) { d.Spec.Template.Labels["release"] = t.String() })
		})
	}
	for _, t := range []time.Duration{4 * time.Minute, 14 * time.Minute} {
		at(t, "all nodes drift", func() error {
			s.pool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "after-" + t.String()} })
			return nil
		})
	}
	at(8*time.Minute, "the node with the most pods is lost", s.loseNode)
	for _, t := range []time.Duration{2 * time.Minute, 6 * time.Minute, 10 * time.Minute, 13 * time.Minute, 17 * time.Minute} {
		what := "the controller is killed"
		if t == 10*time.Minute {
			what += ", and the family c6a is sold out"
		}
		at(t, what, func() error {
			s.stop(syscall.SIGKILL)
			if t == 10*time.Minute {
				if err := c.soldOut(s, "c6a"); err != nil {
					return err
				}
			}
			s.start()
			return nil
		})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// change changes a Deployment.
func (s *scene) change(name string, edit func(*appsv1.Deployment)) error {
	var d appsv1.Deployment
	if err := s.api.Get(s.ctx, client.ObjectKey{Namespace: "default", Name: name}, &d); err != nil {
		return err
	}
	before := d.DeepCopy()
	edit(&d)
	return s.api.Patch(s.ctx, &d, client.MergeFrom(before))
}

// loseNode deletes the Node with the most pods at once, as a cloud's own controller does when it
// finds that the machine has failed.
func (s *scene) loseNode() error {
	l, err := s.look()
	if err != nil {
		return err
	}
	pods := map[string]int{}
	for _, p := range l.pods {
		pods[p.Spec.NodeName]++
	}
	slices.SortFunc(l.nodes, func(a, b corev1.Node) int {
		return cmp.Or(cmp.Compare(pods[b.Name], pods[a.Name]), cmp.Compare(a.Name, b.Name))
	})
	name := l.nodes[0].Name
	for range 20 {
		var n corev1.Node
		if err := s.api.Get(s.ctx, client.ObjectKey{Name: name}, &n); err != nil {
			return client.IgnoreNotFound(err)
		}
		before := n.DeepCopy()
		n.Finalizers = nil // a controller may add its own again
		if err := s.api.Patch(s.ctx, &n, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return err
		}
		if n.DeletionTimestamp == nil {
			if err := s.api.Delete(s.ctx, &n); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return fmt.Errorf("node %s is still there", name)
}

// replicas is how many pods there should be.
func (s *scene) replicas() (pods int) {
	s.Helper()
	var deployments appsv1.DeploymentList
	var sets appsv1.StatefulSetList
	s.must(errors.Join(s.api.List(s.ctx, &deployments, client.InNamespace("default")), s.api.List(s.ctx, &sets, client.InNamespace("default"))))
	for _, d := range deployments.Items {
		pods += int(*d.Spec.Replicas)
	}
	for _, d := range sets.Items {
		pods += int(*d.Spec.Replicas)
	}
	return pods
}

// leftBehind says what of a cluster at rest is tainted, orphaned or doubled.
func leftBehind(l look) (text string) {
	claims := map[string]int{}
	for _, c := range l.claims {
		claims[c.Status.NodeName]++
	}
	for _, n := range l.nodes {
		switch {
		case closed(n):
			text += fmt.Sprintf("node %s is closed. ", n.Name)
		case claims[n.Name] != 1:
			text += fmt.Sprintf("node %s has %d NodeClaims. ", n.Name, claims[n.Name])
		}
		delete(claims, n.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		text += fmt.Sprintf("node %q of %d NodeClaims does not exist. ", name, claims[name])
	}
	return text
}

// meter adds up what a cluster costs, and keeps the pods of a moment now and then.
type meter struct {
	usd     float64
	last    time.Duration
	cost    float64 // USD/h since last
	samples []look
}

// count takes in a look.
func (m *meter) count(now time.Duration, l look) {
	m.usd += m.cost * (now - m.last).Hours()
	m.last, m.cost = now, l.cost
	if now >= time.Duration(len(m.samples))*churnSample {
		l.pods = slices.DeleteFunc(slices.Clone(l.pods), func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
		m.samples = append(m.samples, look{pods: l.pods})
	}
}
