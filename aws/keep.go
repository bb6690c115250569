package aws

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/nodeindex"
)

// Objects is the input of Keep: all EC2NodeClasses, NodeClaims and Nodes of the cluster, and the
// instances that List returned.
type Objects struct {
	NodeClasses []*awsv1.EC2NodeClass
	NodeClaims  []*karpv1.NodeClaim
	Nodes       []*corev1.Node
	Instances   []*cloudprovider.Instance
}

// Edit is an object as it was read and as it should be, of the same type: an EC2NodeClass,
// a NodeClaim or a Node. Package edits makes requests of it.
type Edit struct {
	Before, After interface {
		metav1.Object
		runtime.Object
	}
}

// Keep updates AWS from the objects, and returns the edits of objects to store, in the order in
// which to store them. If the API server refuses an edit, skip the later edits of the same object:
// the next call returns them again. Call Keep about every ten seconds.
//
//   - A class that is not being deleted gets its finalizer and the status that NodeClass returns.
//     Its NodeClaims, and then the class, get the annotations of MigrateClaims. A class that is
//     being deleted loses its finalizer once it has no NodeClaims and ReleaseNodeClass has
//     succeeded.
//   - Each NodeClaim gets the annotations of TagInstance. The claim and its Node lose the labels
//     of a reservation that has ended, by DemoteClaim and DemoteNode.
//   - ObserveNode is called for each Node whose NodeClaim is registered.
//
// An object may be in several edits. The second then has an outdated resourceVersion and is
// refused; the next call returns it again. Nil objects are ignored. The error joins all faults;
// edits that are returned with an error are valid.
func (p *Provider) Keep(ctx context.Context, in Objects) ([]Edit, error) {
	k := keeper{Provider: p, claims: in.NodeClaims, nodes: nodeindex.New(in.Nodes), instances: map[string]*cloudprovider.Instance{}}
	for _, i := range in.Instances {
		if i != nil {
			k.instances[i.ID] = i
		}
	}
	var parts []func() ([]Edit, error)
	for _, class := range in.NodeClasses {
		if class != nil {
			parts = append(parts, func() ([]Edit, error) { return k.class(ctx, class) })
		}
	}
	for _, claim := range in.NodeClaims {
		if claim != nil {
			parts = append(parts, func() ([]Edit, error) { return k.claim(ctx, claim) })
		}
	}
	edits, faults := make([][]Edit, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	slots := make(chan struct{}, keptAtOnce)
	for i, part := range parts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			edits[i], faults[i] = part()
		})
	}
	wg.Wait()
	return slices.Concat(edits...), errors.Join(faults...)
}

// keptAtOnce is the number of classes and claims that Keep handles concurrently.
const keptAtOnce = 16

// keeper is one call of Keep.
type keeper struct {
	*Provider
	claims    []*karpv1.NodeClaim
	nodes     nodeindex.Index
	instances map[string]*cloudprovider.Instance // by ID
}

func (k *keeper) class(ctx context.Context, class *awsv1.EC2NodeClass) (edits []Edit, err error) {
	of := slices.DeleteFunc(slices.Clone(k.claims), func(c *karpv1.NodeClaim) bool {
		return c == nil || c.Spec.NodeClassRef == nil || c.Spec.NodeClassRef.Name != class.Name || c.Spec.NodeClassRef.Group != awsv1.Group
	})
	after := class.DeepCopy()
	if class.DeletionTimestamp != nil {
		after.Finalizers = slices.DeleteFunc(after.Finalizers, func(f string) bool { return f == awsv1.TerminationFinalizer })
		if len(of) > 0 || len(after.Finalizers) == len(class.Finalizers) {
			return nil, nil
		}
		if err := k.ReleaseNodeClass(ctx, class); err != nil {
			return nil, err
		}
		return []Edit{{class, after}}, nil
	}
	if !slices.Contains(after.Finalizers, awsv1.TerminationFinalizer) {
		after.Finalizers = append(after.Finalizers, awsv1.TerminationFinalizer)
	}
	now, err := k.NodeClass(ctx, class.Name)
	if err != nil {
		return nil, err
	}
	after.Status = now.Status
	migration, err := k.MigrateClaims(ctx, class.Name, of)
	for _, change := range migration.Claims {
		i := slices.IndexFunc(of, func(c *karpv1.NodeClaim) bool { return c.Name == change.Claim })
		next := of[i].DeepCopy()
		annotate(&next.ObjectMeta, change.Annotations)
		edits = append(edits, Edit{of[i], next})
	}
	if err == nil { // the claims before the class
		annotate(&after.ObjectMeta, migration.Class)
	}
	if !equality.Semantic.DeepEqual(class, after) {
		edits = append(edits, Edit{class, after})
	}
	return edits, err
}

func (k *keeper) claim(ctx context.Context, claim *karpv1.NodeClaim) (edits []Edit, err error) {
	tags, err := k.TagInstance(ctx, claim)
	if errors.Is(err, cloudprovider.ErrNotFound) || cloudprovider.KindOf(err) == cloudprovider.KindNotReady {
		err = nil
	}
	after, node := claim, k.nodes.Of(claim)
	if instance := k.instances[claim.Status.ProviderID]; instance != nil {
		after = DemoteClaim(claim, instance)
		if less := DemoteNode(node, instance); less != node {
			edits = append(edits, Edit{node, less})
		}
	}
	if len(tags) > 0 {
		after = after.DeepCopy()
		annotate(&after.ObjectMeta, tags)
	}
	if after != claim {
		edits = append(edits, Edit{claim, after})
	}
	if node != nil && meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionTypeRegistered) {
		err = errors.Join(err, k.ObserveNode(ctx, claim.Labels[corev1.LabelInstanceTypeStable], claim.Status.ImageID, node))
	}
	return edits, err
}

// annotate adds annotations to an object, which must be a copy that Keep made.
func annotate(o *metav1.ObjectMeta, more map[string]string) {
	for key, value := range more {
		metav1.SetMetaDataAnnotation(o, key, value)
	}
}
