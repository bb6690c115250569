package life

import (
	"cmp"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
)

// Trace describes what happens to a cluster. One play uses its parts up.
type Trace struct {
	Name string
	// Length is how long the cluster is measured, after Warmup.
	Warmup, Length time.Duration
	// Tick is the length of a turn; zero is the package's Tick. Warmup, Sample and Length are
	// multiples of it.
	Tick time.Duration
	// Sample is the interval between plans from empty.
	Sample time.Duration
	// Every is how often contenders look for savings if they leave that to their users. Zero is
	// their default.
	Every time.Duration

	Cloud *fake.Cloud
	// Provider is Cloud behind the interface that contenders call.
	Provider  cloudprovider.CloudProvider
	Pools     []*v1.NodePool
	Daemon    *appsv1.DaemonSet
	Workloads []*simcluster.Workload
	// Events have their times from the start of the warm-up.
	Events []simcluster.Event
}

func (t *Trace) tick() time.Duration { return cmp.Or(t.Tick, Tick) }
