package simcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/dovetail-sdk/dovetail/fake"
)

// TestTasks: pods come when it is time, end when they have run, and come again if they were evicted.
func TestTasks(t *testing.T) {
	cloud, err := fake.New(nil)
	require.NoError(t, err)
	start := cloud.Now()
	w := &Workload{Name: "batch", Tasks: []Task{
		{Name: "a", At: start.Add(10 * time.Second), Runs: time.Minute, Spec: PodSpec("cpu=1")},
		{Name: "b", At: start.Add(30 * time.Second), Runs: time.Hour, Spec: PodSpec("cpu=1")},
	}}
	c, err := New(cloud, &appsv1.DaemonSet{}, w)
	require.NoError(t, err)
	c.Scheduler = func(c *Cluster) {
		for _, p := range c.Pods.All() {
			if p.Pending() {
				c.Bind(p, "n")
			}
		}
	}
	names := func() (names []string) {
		for _, p := range c.Pods.All() {
			names = append(names, p.Name)
		}
		return names
	}
	c.Advance(5 * time.Second)
	require.Empty(t, names())
	c.Advance(5 * time.Second)
	require.Equal(t, []string{"a-0-0001"}, names())
	c.Advance(30 * time.Second)
	require.Equal(t, []string{"a-0-0001", "b-0-0002"}, names())
	c.DeletePod(Namespace, "b-0-0002", 30*time.Second)
	c.Advance(5 * time.Second)
	require.Equal(t, []string{"a-0-0001", "b-0-0002", "b-0-0003"}, names(), "the evicted one ends, and comes again")
	c.Advance(2 * time.Minute)
	require.Equal(t, []string{"b-0-0003"}, names())
}

// TestDue takes the events that are due, and leaves the others.
func TestDue(t *testing.T) {
	events := []Event{{After: time.Second}, {After: 2 * time.Second}, {After: 3 * time.Second}}
	due, later := Due(events, 2*time.Second)
	require.Len(t, due, 2)
	require.Equal(t, 3*time.Second, later[0].After)
	due, later = Due(later, 2*time.Second)
	require.Empty(t, due)
	require.Len(t, later, 1)
}
