package kwok

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
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const (
	NodeAnnotation       = "kwok.x-k8s.io/node"  // kwok knows its Nodes by it; its value is "fake"
	TerminatedAnnotation = domain + "terminated" // on the Node of a machine that has ended
	NoticeAnnotation     = domain + "notice"     // on a Node: the kind of a notice, such as SpotInterrupted
	// NodeClassGroup and NodeClassKind identify the node class that a NodePool may refer to: the
	// class of Karpenter's provider for kwok. Its objects are not read.
	NodeClassGroup = "karpenter.kwok.sh"
	NodeClassKind  = "KWOKNodeClass" // see NodeClassGroup

	domain         = "kwok.dovetail-sdk.github.io/"
	nameAnnotation = domain + "name"
	prefix         = "kwok://" // of provider IDs
	notice         = 2 * time.Minute
)

// Store reads and writes the Nodes of a cluster. Errors must be those of the API, so that
// apierrors.IsNotFound and IsAlreadyExists recognise them. Methods must be safe for concurrent use,
// and their results are not modified.
type Store interface {
	// Get reads a Node.
	Get(ctx context.Context, name string) (*corev1.Node, error)
	// List reads all Nodes, also those that are not of this cloud.
	List(ctx context.Context) ([]*corev1.Node, error)
	// Create stores a new Node, which it may change.
	Create(ctx context.Context, node *corev1.Node) error
	// Patch stores what differs between a Node as it was read and as it should be: an annotation.
	// Fields that other programs have written meanwhile stay.
	Patch(ctx context.Context, before, after *corev1.Node) error
}

// Options are the catalog and the prices of a cloud. The zero value, and nil, mean the defaults.
type Options struct {
	// InstanceTypes are the catalog; nil is catalog.All. They are not changed.
	InstanceTypes []*cloudprovider.InstanceType
	// SoldOut are the offerings that the cloud has on its list and refuses to sell, by the
	// labels of the Nodes that they would be; none if it is empty.
	SoldOut requirements.Set
	// NodeClasses are the names of the classes that exist; nil is any name.
	NodeClasses []string
}

// Provider is a cloudprovider.CloudProvider, with a name, a vocabulary, node classes and
// notices. New makes it; any number of goroutines may use it.
//
// Errors are *cloudprovider.Error: KindThrottled and KindNotFound where the API server says so
// (429, 404), and KindUnknown with the error of the Store for all else that it refuses. What
// methods return is read-only.
type Provider struct {
	store   Store
	now     func() time.Time
	types   []*cloudprovider.InstanceType
	soldOut requirements.Set
	classes []string
}

// New returns a provider of machines in a store. The clock is that of notices. It is an error if
// either is nil.
func New(now func() time.Time, store Store, opts *Options) (*Provider, error) {
	if store == nil || now == nil {
		return nil, errors.New("kwok: a store and a clock are needed; give time.Now for the clock of the machine")
	}
	if opts == nil {
		opts = &Options{}
	}
	p := &Provider{store: store, now: now, types: opts.InstanceTypes, soldOut: opts.SoldOut, classes: opts.NodeClasses}
	if p.types == nil {
		p.types = catalog.All()
	}
	return p, nil
}

// Name returns "kwok".
func (p *Provider) Name() string { return "kwok" }

// Vocabulary returns that of the labels in package fake/catalog.
func (p *Provider) Vocabulary() *requirements.Vocabulary { return catalog.Vocabulary() }

// SupportedNodeClasses returns the kind of NodeClassGroup and NodeClassKind.
func (p *Provider) SupportedNodeClasses() []schema.GroupKind {
	return []schema.GroupKind{{Group: NodeClassGroup, Kind: NodeClassKind}}
}

// NodeClassReady says whether a class exists: KindUnsupported for another group or kind than
// those of SupportedNodeClasses, KindNotFound for a name that Options.NodeClasses lacks.
func (p *Provider) NodeClassReady(_ context.Context, ref v1.NodeClassReference) error {
	if ref.Group != NodeClassGroup || ref.Kind != NodeClassKind {
		return &cloudprovider.Error{Op: "NodeClassReady", Object: ref.Name, Kind: cloudprovider.KindUnsupported,
			Err: fmt.Errorf("node class %s/%s: this cloud has %s/%s only", ref.Group, ref.Kind, NodeClassGroup, NodeClassKind)}
	}
	if p.classes != nil && !slices.Contains(p.classes, ref.Name) {
		return &cloudprovider.Error{Op: "NodeClassReady", Object: ref.Name, Kind: cloudprovider.KindNotFound, Err: errors.New("there is no such node class")}
	}
	return nil
}

// InstanceTypes returns the catalog, the same for every NodePool. A pool without a node class is
// KindDenied; other errors are those of NodeClassReady.
func (p *Provider) InstanceTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if pool == nil || pool.Spec.Template.Spec.NodeClassRef == nil {
		return nil, &cloudprovider.Error{Op: "InstanceTypes", Kind: cloudprovider.KindDenied, Err: errors.New("the NodePool names no node class")}
	}
	if err := p.NodeClassReady(ctx, *pool.Spec.Template.Spec.NodeClassRef); err != nil {
		return nil, err
	}
	return slices.Clone(p.types), nil
}

// Create makes the Node of the first option that is in the catalog and not sold out, or finds
// that of an earlier request with the token. If no option can be had the error is
// KindInsufficientCapacity, with all of them as its Offerings.
func (p *Provider) Create(ctx context.Context, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := p.NodeClassReady(ctx, req.NodeClassRef); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(req.Token))
	name := "kwok-" + hex.EncodeToString(sum[:6])
	// A repeated order needs no write, which the API server may refuse for a moment.
	if have, err := p.Get(ctx, prefix+name); !errors.Is(err, cloudprovider.ErrNotFound) {
		return have, err
	}
	var refused []cloudprovider.OfferingKey
	for _, o := range req.Options {
		if _, sold := p.offering(o.Key()); sold == nil || p.soldOut.Len() > 0 && p.soldOut.Matches(o.NodeLabels()) {
			refused = append(refused, o.Key())
			continue
		}
		node, err := machine(name, req, o)
		if err == nil {
			err = p.store.Create(ctx, node)
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, failure("Create", req.Name, err)
		}
		return p.Get(ctx, prefix+name)
	}
	return nil, &cloudprovider.Error{Op: "Create", Object: req.Name, Kind: cloudprovider.KindInsufficientCapacity, Offerings: refused,
		Err: errors.New("nothing that was asked for is for sale")}
}

// offering returns what the catalog has of a key, or nil.
func (p *Provider) offering(key cloudprovider.OfferingKey) (*cloudprovider.InstanceType, *cloudprovider.Offering) {
	for _, t := range p.types {
		if o, ok := t.Offering(key); ok && t.Name == key.InstanceType {
			return t, o
		}
	}
	return nil, nil
}

// machine returns the Node of an option.
func machine(name string, req cloudprovider.LaunchRequest, o cloudprovider.LaunchOption) (*corev1.Node, error) {
	allocatable, err := o.InstanceType.AllocatableFor(o.Offering)
	if err != nil {
		return nil, err
	}
	labels := o.NodeLabels()
	maps.Copy(labels, req.Labels)
	labels[corev1.LabelHostname] = name
	// The annotations of the request are added at registration, except the record of a command,
	// in which the Node of a replacement has no part.
	annotations := map[string]string{NodeAnnotation: "fake", nameAnnotation: req.Name}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
		Spec:       corev1.NodeSpec{ProviderID: prefix + name, Taints: slices.Concat(req.Taints, req.StartupTaints, []corev1.Taint{v1.UnregisteredNoExecuteTaint()})},
		Status:     corev1.NodeStatus{Capacity: o.InstanceType.Capacity.ResourceList(), Allocatable: allocatable.ResourceList()},
	}, nil
}

// Get finds a machine: a Node of this cloud that was not terminated. Anything else is
// KindNotFound.
func (p *Provider) Get(ctx context.Context, id string) (*cloudprovider.Instance, error) {
	node, err := p.node(ctx, id)
	if err != nil {
		return nil, failure("Get", id, err)
	}
	return p.instance(node), nil
}

func (p *Provider) node(ctx context.Context, id string) (*corev1.Node, error) {
	name, ours := strings.CutPrefix(id, prefix)
	if !ours || name == "" {
		return nil, cloudprovider.ErrNotFound
	}
	node, err := p.store.Get(ctx, name)
	if err == nil && !runs(node) {
		err = cloudprovider.ErrNotFound
	}
	return node, err
}

// runs says whether a Node is a machine that has not ended.
func runs(node *corev1.Node) bool {
	return strings.HasPrefix(node.Spec.ProviderID, prefix) && node.Annotations[TerminatedAnnotation] == ""
}

// Delete ends a machine. Its Node stays until it is deleted. One that has ended already is
// KindNotFound.
func (p *Provider) Delete(ctx context.Context, id string) error {
	node, err := p.node(ctx, id)
	if err == nil {
		after := node.DeepCopy()
		metav1.SetMetaDataAnnotation(&after.ObjectMeta, TerminatedAnnotation, "true")
		err = p.store.Patch(ctx, node, after)
	}
	return failure("Delete", id, err)
}

// List has all machines, by ID.
func (p *Provider) List(ctx context.Context) ([]*cloudprovider.Instance, error) {
	nodes, err := p.store.List(ctx)
	if err != nil {
		return nil, failure("List", "", err)
	}
	out := []*cloudprovider.Instance{}
	for _, n := range nodes {
		if runs(n) {
			out = append(out, p.instance(n))
		}
	}
	slices.SortFunc(out, func(a, b *cloudprovider.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Interruptions has a notice for each Node with NoticeAnnotation, by name: the machine ends in
// two minutes.
func (p *Provider) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	nodes, err := p.store.List(ctx)
	if err != nil {
		return nil, failure("Interruptions", "", err)
	}
	now := p.now()
	var out []cloudprovider.Interruption
	for _, n := range nodes {
		if kind := n.Annotations[NoticeAnnotation]; kind != "" && runs(n) {
			out = append(out, cloudprovider.Interruption{ID: n.Name, InstanceID: n.Spec.ProviderID, Kind: cloudprovider.InterruptionKind(kind), At: now, Deadline: now.Add(notice)})
		}
	}
	slices.SortFunc(out, func(a, b cloudprovider.Interruption) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Acknowledge takes the annotation off. Notices that are not there are left out.
func (p *Provider) Acknowledge(ctx context.Context, ids ...string) error {
	var errs []error
	for _, id := range ids {
		node, err := p.store.Get(ctx, id)
		if err == nil && node.Annotations[NoticeAnnotation] != "" {
			after := node.DeepCopy()
			delete(after.Annotations, NoticeAnnotation)
			err = p.store.Patch(ctx, node, after)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, failure("Acknowledge", id, err))
		}
	}
	return errors.Join(errs...)
}

// instance reads a Node as a machine.
func (p *Provider) instance(node *corev1.Node) *cloudprovider.Instance {
	i := &cloudprovider.Instance{ID: node.Spec.ProviderID, Name: node.Annotations[nameAnnotation], NodePool: node.Labels[v1.NodePoolLabelKey],
		Type: node.Labels[corev1.LabelInstanceTypeStable], Zone: node.Labels[corev1.LabelTopologyZone], CapacityType: node.Labels[v1.CapacityTypeLabelKey],
		ImageID: "kwok", Labels: node.Labels, CreatedAt: node.CreationTimestamp.Time}
	if t, o := p.offering(i.OfferingKey()); o != nil {
		i.Price, i.OfferingID, i.Capacity = o.Price, o.ID, t.Capacity
		i.Allocatable, _ = t.AllocatableFor(o) // Create has computed it before
	}
	return i
}

// failure converts an error of the API server to an error of cloudprovider; nil stays nil.
func failure(op, object string, err error) error {
	if err == nil {
		return nil
	}
	out := &cloudprovider.Error{Op: op, Object: object, Err: err}
	switch {
	case apierrors.IsNotFound(err) || errors.Is(err, cloudprovider.ErrNotFound):
		out.Kind = cloudprovider.KindNotFound
	case apierrors.IsTooManyRequests(err):
		out.Kind = cloudprovider.KindThrottled
	}
	return out
}
