package kwok_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/fake/kwok"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// nodes is an API server that has Nodes only.
type nodes struct {
	lock sync.Mutex
	have map[string]*corev1.Node
	fail error // of the next call
}

var kind = schema.GroupResource{Resource: "nodes"}

func newNodes() *nodes { return &nodes{have: map[string]*corev1.Node{}} }

func (s *nodes) begin(ctx context.Context) error {
	s.lock.Lock()
	err := errors.Join(ctx.Err(), s.fail)
	s.fail = nil
	return err
}

func (s *nodes) Get(ctx context.Context, name string) (*corev1.Node, error) {
	err := s.begin(ctx)
	defer s.lock.Unlock()
	if err != nil {
		return nil, err
	}
	if n := s.have[name]; n != nil {
		return n, nil
	}
	return nil, apierrors.NewNotFound(kind, name)
}

func (s *nodes) List(ctx context.Context) (out []*corev1.Node, err error) {
	err = s.begin(ctx)
	defer s.lock.Unlock()
	for _, n := range s.have {
		out = append(out, n)
	}
	return out, err
}

func (s *nodes) Create(ctx context.Context, node *corev1.Node) error {
	err := s.begin(ctx)
	defer s.lock.Unlock()
	if err != nil {
		return err
	}
	if s.have[node.Name] != nil {
		return apierrors.NewAlreadyExists(kind, node.Name)
	}
	node.CreationTimestamp.Time = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.have[node.Name] = node
	return nil
}

func (s *nodes) Patch(ctx context.Context, before, after *corev1.Node) error {
	err := s.begin(ctx)
	defer s.lock.Unlock()
	if err != nil {
		return err
	}
	if s.have[before.Name] == nil {
		return apierrors.NewNotFound(kind, before.Name)
	}
	s.have[before.Name] = after
	return nil
}

func provider(t testing.TB, store kwok.Store, opts *kwok.Options) *kwok.Provider {
	t.Helper()
	p, err := kwok.New(time.Now, store, opts)
	require.NoError(t, err)
	return p
}

func small(t testing.TB) []*cloudprovider.InstanceType {
	t.Helper()
	types, err := catalog.New(&catalog.Options{Families: []string{"m5", "m7g"}, Where: requirements.MustParse("karpenter.k8s.aws/instance-cpu < 9")})
	require.NoError(t, err)
	return types
}

// TestContract holds the provider to what every provider promises.
func TestContract(t *testing.T) {
	cloudprovidertest.Run(t, func(t testing.TB) *cloudprovidertest.Harness {
		store, types := newNodes(), small(t)
		opts := &kwok.Options{InstanceTypes: types, NodeClasses: []string{"default"}}
		pool := &v1.NodePool{}
		pool.Name = "general"
		pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: kwok.NodeClassGroup, Kind: kwok.NodeClassKind, Name: "default"}
		return &cloudprovidertest.Harness{
			Provider: provider(t, store, opts), Pool: pool, WellKnownLabels: catalog.WellKnownLabels(), Advance: func(time.Duration) {},
			Machines: func() int {
				machines, err := provider(t, store, opts).List(context.Background())
				require.NoError(t, err)
				return len(machines)
			},
			Terminate: func(id string) { require.NoError(t, provider(t, store, opts).Delete(context.Background(), id)) },
			Fail:      func(_ string, k cloudprovider.Kind) { store.fail = &cloudprovider.Error{Kind: k} },
			Interrupt: func(id string) cloudprovider.InterruptionKind {
				store.lock.Lock()
				defer store.lock.Unlock()
				node := store.have[strings.TrimPrefix(id, "kwok://")].DeepCopy()
				node.Annotations[kwok.NoticeAnnotation] = string(cloudprovider.InterruptionSpot)
				store.have[node.Name] = node
				return cloudprovider.InterruptionSpot
			},
			Restart: func() cloudprovider.CloudProvider { return provider(t, store, opts) },
		}
	})
}

// A terminated machine is gone, and its Node is not; Nodes of others are left alone.
func TestNodesOutliveMachines(t *testing.T) {
	store := newNodes()
	other := &corev1.Node{Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}}
	other.Name = "other"
	require.NoError(t, store.Create(t.Context(), other))
	p := provider(t, store, &kwok.Options{InstanceTypes: small(t)})
	machine, err := p.Create(t.Context(), request(small(t)))
	require.NoError(t, err)
	require.NoError(t, p.Delete(t.Context(), machine.ID))
	require.Len(t, store.have, 2)
	for _, id := range []string{machine.ID, "kwok://other", "kwok://", "aws:///a/i-1"} {
		_, err = p.Get(t.Context(), id)
		require.ErrorIs(t, err, cloudprovider.ErrNotFound, id)
		require.ErrorIs(t, p.Delete(t.Context(), id), cloudprovider.ErrNotFound, id)
	}
	machines, err := p.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, machines)
}

// What is sold out is passed over, and named where nothing is left.
func TestSoldOut(t *testing.T) {
	types := small(t)
	p := provider(t, newNodes(), &kwok.Options{InstanceTypes: types, SoldOut: requirements.MustParse("node.kubernetes.io/instance-type = m5.large")})
	req := request(types)
	machine, err := p.Create(t.Context(), req)
	require.NoError(t, err)
	require.NotEqual(t, "m5.large", machine.Type)
	p = provider(t, newNodes(), &kwok.Options{InstanceTypes: types, SoldOut: requirements.MustParse("kubernetes.io/os = linux")})
	_, err = p.Create(t.Context(), req)
	require.ErrorIs(t, err, cloudprovider.ErrInsufficientCapacity)
	var refusal *cloudprovider.Error
	require.ErrorAs(t, err, &refusal)
	require.Len(t, refusal.Offerings, len(req.Options))
}

// A store that fails makes errors of the contract that name what was asked.
func TestFailures(t *testing.T) {
	store := newNodes()
	p := provider(t, store, &kwok.Options{InstanceTypes: small(t)})
	for name, ask := range map[string]func() error{
		"Create":        func() error { _, err := p.Create(t.Context(), request(small(t))); return err },
		"Get":           func() error { _, err := p.Get(t.Context(), "kwok://a"); return err },
		"Delete":        func() error { return p.Delete(t.Context(), "kwok://a") },
		"List":          func() error { _, err := p.List(t.Context()); return err },
		"Interruptions": func() error { _, err := p.Interruptions(t.Context()); return err },
	} {
		store.fail = errors.New("it is on fire")
		err := ask()
		require.ErrorContains(t, err, "it is on fire", name)
		var typed *cloudprovider.Error
		require.ErrorAs(t, err, &typed, name)
	}
	_, err := kwok.New(time.Now, nil, nil)
	require.Error(t, err)
	_, err = kwok.New(nil, store, nil)
	require.Error(t, err)
	require.NoError(t, p.Acknowledge(t.Context(), "not-there"))
	err = p.NodeClassReady(t.Context(), v1.NodeClassReference{Group: "a", Kind: "B", Name: "c"})
	require.ErrorContains(t, err, "a/B")
}

func request(types []*cloudprovider.InstanceType) cloudprovider.LaunchRequest {
	req := cloudprovider.LaunchRequest{Token: "uid-1", Name: "general-1", NodePool: "general", NodeClassRef: v1.NodeClassReference{Group: kwok.NodeClassGroup, Kind: kwok.NodeClassKind, Name: "default"},
		Labels: map[string]string{v1.NodePoolLabelKey: "general"}}
	for _, t := range types {
		req.Options = append(req.Options, cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[0]})
	}
	return req
}

// Example is a machine's life, as a controller sees it.
func Example() {
	ctx := context.Background()
	store := newNodes() // in its place a client of an API server
	cloud, err := kwok.New(func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }, store, nil)
	if err != nil {
		panic(err)
	}
	machine, err := cloud.Create(ctx, request(catalog.All()[:1]))
	if err != nil {
		panic(err)
	}
	node, err := store.Get(ctx, strings.TrimPrefix(machine.ID, "kwok://"))
	if err != nil {
		panic(err)
	}
	fmt.Println(machine.ID, machine.Type, node.Labels[corev1.LabelTopologyZone])

	node.Annotations[kwok.NoticeAnnotation] = "SpotInterrupted" // as kubectl annotate does
	notices, err := cloud.Interruptions(ctx)
	for _, n := range notices {
		fmt.Println(n.Kind, n.InstanceID, n.Deadline.Sub(n.At))
	}
	fmt.Println(err, cloud.Acknowledge(ctx, node.Name), cloud.Delete(ctx, machine.ID))
	// Output:
	// kwok://kwok-4a49acf8a6bd a1.2xlarge us-east-1a
	// SpotInterrupted kwok://kwok-4a49acf8a6bd 2m0s
	// <nil> <nil> <nil>
}
