package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/fake/kwok"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// newKwok returns the cloud of kwok nodes. The flags say which offerings exist and which are sold
// out.
func newKwok(api client.Client, sells, soldOut string) (cloudprovider.CloudProvider, error) {
	where, err := requirements.Parse(sells)
	if err != nil {
		return nil, fmt.Errorf("-catalog: %w", err)
	}
	types, err := catalog.New(&catalog.Options{Where: where})
	if err != nil {
		return nil, fmt.Errorf("-catalog: %w", err)
	}
	refused, err := requirements.Parse(soldOut)
	if err != nil {
		return nil, fmt.Errorf("-sold-out: %w", err)
	}
	return kwok.New(time.Now, nodeStore{api}, &kwok.Options{InstanceTypes: types, SoldOut: refused})
}

// nodeStore reads and writes the Nodes of the cluster, which stand for machines here. Writes that
// fail with a conflict are repeated.
type nodeStore struct{ api client.Client }

func (s nodeStore) Get(ctx context.Context, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	return node, s.api.Get(ctx, client.ObjectKey{Name: name}, node)
}

func (s nodeStore) List(ctx context.Context) (nodes []*corev1.Node, err error) {
	nodes = all(ctx, s.api, &corev1.NodeList{}, func(l *corev1.NodeList) []corev1.Node { return l.Items }, &err)
	return nodes, err
}

func (s nodeStore) Create(ctx context.Context, node *corev1.Node) error {
	return retry.OnError(retry.DefaultRetry, apierrors.IsConflict, func() error { return s.api.Create(ctx, node.DeepCopy()) })
}

func (s nodeStore) Patch(ctx context.Context, before, after *corev1.Node) error {
	return s.api.Patch(ctx, after.DeepCopy(), client.MergeFrom(before))
}
