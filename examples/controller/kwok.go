package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	offers "github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The machines of kwok are Node objects, which kwok makes ready and runs pods on.
const (
	kwokPrefix     = "kwok://"
	kwokAnnotation = "kwok.x-k8s.io/node"
	kwokDomain     = "kwok.dovetail-sdk.github.io/"
	kwokName       = kwokDomain + "name"
	kwokTerminated = kwokDomain + "terminated"
	kwokNotice     = kwokDomain + "notice"
	kwokClass      = "KWOKNodeClass"
	kwokClassGroup = "karpenter.kwok.sh"
)

// kwok is a cloud whose machines are Nodes that nothing stands behind. Its catalog is
// that of package fake.
type kwok struct {
	api     client.Client
	types   []*cloudprovider.InstanceType
	soldOut requirements.Set
}

func newKwok(api client.Client, catalog, soldOut string) (*kwok, error) {
	where, err := requirements.Parse(catalog)
	if err != nil {
		return nil, fmt.Errorf("-catalog: %w", err)
	}
	types, err := offers.New(&offers.Options{Where: where})
	if err != nil {
		return nil, fmt.Errorf("-catalog: %w", err)
	}
	refused, err := requirements.Parse(soldOut)
	if err != nil {
		return nil, fmt.Errorf("-sold-out: %w", err)
	}
	return &kwok{api, types, refused}, nil
}

// Name and Vocabulary are abilities of the provider.
func (k *kwok) Name() string                         { return "kwok" }
func (k *kwok) Vocabulary() *requirements.Vocabulary { return fake.Vocabulary() }

// NodeClassReady takes any class of the kind that Karpenter's provider for kwok has: it
// says nothing that this cloud would read.
func (k *kwok) NodeClassReady(_ context.Context, ref v1.NodeClassReference) error {
	if ref.Group != kwokClassGroup || ref.Kind != kwokClass {
		return &cloudprovider.Error{Op: "NodeClassReady", Object: ref.Name, Kind: cloudprovider.KindUnsupported,
			Err: fmt.Errorf("node class %s/%s: this cloud has %s/%s only", ref.Group, ref.Kind, kwokClassGroup, kwokClass)}
	}
	return nil
}

func (k *kwok) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return k.types, nil
}

// Create makes the Node of the first option that is not sold out. Its name comes from
// the token, so there is one however often it is asked for.
func (k *kwok) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(req.Token))
	name := "kwok-" + hex.EncodeToString(sum[:6])
	// The API server is the cloud here: a write that it refuses for a moment is one that
	// a repeated order does not have to make.
	if have, err := k.Get(ctx, kwokPrefix+name); !errors.Is(err, cloudprovider.ErrNotFound) {
		return have, err
	}
	var refused []cloudprovider.OfferingKey
	for _, o := range req.Options {
		if k.soldOut.Len() > 0 && k.soldOut.Matches(o.NodeLabels()) {
			refused = append(refused, o.Key())
			continue
		}
		node, err := machine(name, req, o)
		if err != nil {
			return nil, failure("Create", req.Name, err)
		}
		err = retry.OnError(retry.DefaultRetry, apierrors.IsConflict, func() error { return k.api.Create(ctx, node.DeepCopy()) })
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, failure("Create", req.Name, err)
		}
		return k.Get(ctx, kwokPrefix+name)
	}
	return nil, &cloudprovider.Error{Op: "Create", Object: req.Name, Kind: cloudprovider.KindInsufficientCapacity, Offerings: refused,
		Err: errors.New("all that was asked for is sold out")}
}

// machine is the Node of an option.
func machine(name string, req cloudprovider.LaunchRequest, o cloudprovider.LaunchOption) (*corev1.Node, error) {
	allocatable, err := o.InstanceType.AllocatableFor(o.Offering)
	if err != nil {
		return nil, err
	}
	labels := o.NodeLabels()
	maps.Copy(labels, req.Labels)
	labels[corev1.LabelHostname] = name
	// The annotations of the request are put on by registration, less the record of a
	// command, in which the Node of a replacement has no part.
	annotations := map[string]string{kwokAnnotation: "fake", kwokName: req.Name}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
		Spec:       corev1.NodeSpec{ProviderID: kwokPrefix + name, Taints: slices.Concat(req.Taints, req.StartupTaints, []corev1.Taint{v1.UnregisteredNoExecuteTaint()})},
		Status:     corev1.NodeStatus{Capacity: o.InstanceType.Capacity.ResourceList(), Allocatable: allocatable.ResourceList()},
	}, nil
}

// Get finds a machine: a Node that was not terminated.
func (k *kwok) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	node, err := k.node(ctx, id)
	if err != nil {
		return nil, failure("Get", id, err)
	}
	return k.instance(node), nil
}

func (k *kwok) node(ctx context.Context, id string) (*corev1.Node, error) {
	node := &corev1.Node{}
	name, ours := strings.CutPrefix(id, kwokPrefix)
	if !ours {
		return nil, cloudprovider.ErrNotFound
	}
	if err := k.api.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return nil, err
	}
	if node.Annotations[kwokTerminated] != "" {
		return nil, cloudprovider.ErrNotFound
	}
	return node, nil
}

// Delete ends a machine. Its Node stays until it is deleted, as in other clouds.
func (k *kwok) Delete(ctx context.Context, id string) error {
	node, err := k.node(ctx, id)
	if err != nil {
		return failure("Delete", id, err)
	}
	after := node.DeepCopy()
	after.Annotations[kwokTerminated] = "true"
	if err := k.api.Patch(ctx, after, client.MergeFrom(node)); err != nil {
		return failure("Delete", id, err)
	}
	return nil
}

func (k *kwok) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	var nodes corev1.NodeList
	if err := k.api.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, failure("List", "", err)
	}
	out := []*cloudprovider.Instance{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if strings.HasPrefix(n.Spec.ProviderID, kwokPrefix) && n.Annotations[kwokTerminated] == "" {
			out = append(out, k.instance(n))
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Interruptions are what whoever plays the cloud has annotated Nodes with: a kind of
// notice, such as SpotInterrupted, whose deadline is in two minutes.
func (k *kwok) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	var nodes corev1.NodeList
	if err := k.api.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, failure("Interruptions", "", err)
	}
	var out []cloudprovider.Interruption
	for i := range nodes.Items {
		if n := &nodes.Items[i]; n.Annotations[kwokNotice] != "" && n.Annotations[kwokTerminated] == "" {
			out = append(out, cloudprovider.Interruption{ID: n.Name, InstanceID: n.Spec.ProviderID, Kind: cloudprovider.InterruptionKind(n.Annotations[kwokNotice]), At: time.Now(), Deadline: time.Now().Add(2 * time.Minute)})
		}
	}
	return out, nil
}

// Acknowledge takes the annotation off.
func (k *kwok) Acknowledge(ctx context.Context, ids ...string) error {
	return each(len(ids), func(i int) error {
		node := &corev1.Node{}
		err := k.api.Get(ctx, client.ObjectKey{Name: ids[i]}, node)
		if err == nil && node.Annotations[kwokNotice] != "" {
			after := node.DeepCopy()
			delete(after.Annotations, kwokNotice)
			err = k.api.Patch(ctx, after, client.MergeFrom(node))
		}
		return client.IgnoreNotFound(err)
	})
}

// instance reads a Node as a machine.
func (k *kwok) instance(node *corev1.Node) *cloudprovider.Instance {
	i := &cloudprovider.Instance{ID: node.Spec.ProviderID, Name: node.Annotations[kwokName], NodePool: node.Labels[v1.NodePoolLabelKey],
		Type: node.Labels[corev1.LabelInstanceTypeStable], Zone: node.Labels[corev1.LabelTopologyZone], CapacityType: node.Labels[v1.CapacityTypeLabelKey],
		ImageID: "kwok", Labels: node.Labels, CreatedAt: node.CreationTimestamp.Time}
	for _, t := range k.types {
		if o, ok := t.Offering(i.OfferingKey()); ok && t.Name == i.Type {
			i.Price, i.Capacity = o.Price, t.Capacity
			i.Allocatable, _ = t.AllocatableFor(o) // Create has computed it before
		}
	}
	return i
}

func failure(op, object string, err error) error {
	out := &cloudprovider.Error{Op: op, Object: object, Err: err}
	if apierrors.IsNotFound(err) || errors.Is(err, cloudprovider.ErrNotFound) {
		out.Kind = cloudprovider.KindNotFound
	}
	return out
}
