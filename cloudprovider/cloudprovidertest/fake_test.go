package cloudprovidertest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/fake"
	fakecatalog "github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// TestFake runs the suite over the fake cloud as it is, a provider and its cloud in one, where everything
// takes time.
func TestFake(t *testing.T) {
	opts := fake.Options{
		Timing: fake.Timing{
			Launch: fake.Exactly(4 * time.Second), Reboot: fake.Exactly(3 * time.Second), Shutdown: fake.Exactly(20 * time.Second),
		},
		ListLag:    3 * time.Second,
		Redelivery: 5 * time.Second,
	}
	cloudprovidertest.Run(t, func(t testing.TB) *cloudprovidertest.Harness { return over(t, opts, nil) })
}

// TestFakeSkipsNothingElse checks that the fake passes where nothing takes time, and offers all but a
// cloud that does not answer.
func TestFakeSkipsNothingElse(t *testing.T) {
	for _, r := range cloudprovidertest.Examine(t, func(t testing.TB) *cloudprovidertest.Harness { return over(t, fake.Options{}, nil) }) {
		if r.Check.Name == "call/hanging" || r.Check.Name == "call/behind" {
			require.Equal(t, "set Harness.Hang", r.Skipped, "%s", r)
			continue
		}
		require.True(t, r.Passed(), "%s", r)
	}
}

// catalog is a small part of that of the fake.
var catalog = sync.OnceValues(func() ([]*cloudprovider.InstanceType, error) {
	return fakecatalog.New(&fakecatalog.Options{
		Zones:    []fakecatalog.Zone{{Name: "zone-a"}, {Name: "zone-b"}},
		Families: []string{"m5", "t3", "m7g"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 5"),
	})
})

// newCloud returns a fake cloud that has the node class "default".
func newCloud(t testing.TB, opts fake.Options) *fake.Cloud {
	t.Helper()
	types, err := catalog()
	require.NoError(t, err)
	opts.InstanceTypes = types
	opts.NodeClasses = []fake.NodeClass{{Name: "default", Hash: "1"}}
	opts.NodeClassKinds = []schema.GroupKind{{Group: "example.com", Kind: "FakeNodeClass"}}
	cloud, err := fake.New(&opts)
	require.NoError(t, err)
	return cloud
}

// over returns a harness over a new fake cloud, with every hook but Hang. A wrap that
// is not nil makes the provider out of the cloud, anew after each restart.
func over(t testing.TB, opts fake.Options, wrap func(cloud, neighbor *fake.Cloud) cloudprovider.CloudProvider) *cloudprovidertest.Harness {
	t.Helper()
	cloud, neighbor := newCloud(t, opts), newCloud(t, opts)
	if wrap == nil {
		wrap = func(cloud, _ *fake.Cloud) cloudprovider.CloudProvider { return cloud }
	}
	pool := &v1.NodePool{}
	pool.Name = "general"
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "FakeNodeClass", Name: "default"}
	do := func(actions ...fake.Action) { require.NoError(t, cloud.Do(actions...)) }
	events := func(kind fake.EventKind, id string) (n int) {
		for _, e := range cloud.Events() {
			if e.Kind == kind && (id == "" || e.InstanceID == id) {
				n++
			}
		}
		return n
	}
	return &cloudprovidertest.Harness{
		Provider:        wrap(cloud, neighbor),
		Pool:            pool,
		WellKnownLabels: fakecatalog.WellKnownLabels(),
		Advance:         func(d time.Duration) { cloud.Advance(d); neighbor.Advance(d) },
		Machines:        func() int { return events(fake.EventLaunched, "") - events(fake.EventDeleting, "") },
		Restart:         func() cloudprovider.CloudProvider { return wrap(cloud, neighbor) },
		Neighbor:        func() cloudprovider.CloudProvider { return neighbor },
		RunDry: func(keys ...cloudprovider.OfferingKey) {
			for _, key := range keys {
				do(fake.Action{Stock: &fake.Stock{Scope: key.Scope(), Count: 0}})
			}
		},
		Restock: func(keys ...cloudprovider.OfferingKey) {
			for _, key := range keys {
				do(fake.Action{Stock: &fake.Stock{Scope: key.Scope(), Count: fake.Unlimited}})
			}
		},
		Fail: func(method string, kind cloudprovider.Kind) {
			err := error(&cloudprovider.Error{Kind: kind})
			require.NoError(t, cloud.Script(fake.Fault{Op: method, Nth: 1, Err: err}))
		},
		Lose: func() {
			require.NoError(t, cloud.Script(fake.Fault{Op: fake.OpCreate, Times: 1, Err: fake.ErrLost}))
		},
		Unready: func() { do(fake.Action{NodeClass: fake.NodeClass{Name: "default", NotReady: "no subnets"}}) },
		Drift:   func(string) { do(fake.Action{NodeClass: fake.NodeClass{Name: "default", Hash: "2"}}) },
		Terminate: func(id string) {
			do(fake.Action{Target: fake.Target{Instances: []string{id}}, Notice: cloudprovider.InterruptionStopping})
		},
		Interrupt: func(id string) cloudprovider.InterruptionKind {
			notice := fake.Action{Target: fake.Target{Instances: []string{id}}, Notice: cloudprovider.InterruptionMaintenance, Warning: time.Hour}
			if _, err := neighbor.Get(context.Background(), id); err == nil {
				require.NoError(t, neighbor.Do(notice))
				return cloudprovider.InterruptionMaintenance
			}
			do(notice)
			return cloudprovider.InterruptionMaintenance
		},
		Reboots: func(id string) int { return events(fake.EventRebooting, id) },
	}
}

// wire is what lies between a provider and its cloud: a call may hang there.
type wire struct {
	mu     sync.Mutex
	method string
	cut    *cut

	processes int
}

// cut is where a call hangs.
type cut struct{ reached, release chan struct{} }

// hang has the next call of a method wait until release is called.
func (w *wire) hang(method string) (reached <-chan struct{}, release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &cut{make(chan struct{}), make(chan struct{})}
	w.method, w.cut = method, c
	return c.reached, func() { close(c.release) }
}

// pass lets a call through, or returns why not.
func (w *wire) pass(ctx context.Context, method string) error {
	w.mu.Lock()
	c := w.cut
	if c == nil || w.method != method {
		w.mu.Unlock()
		return nil
	}
	w.cut = nil
	w.mu.Unlock()
	close(c.reached)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.release:
		return nil
	}
}
