package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// kind is a kind of object that the scheduler reads.
type kind struct {
	object client.Object
	scope  meta.RESTScope
	// name of an indexed field, as in Karpenter's operator; value returns the field's value
	field string
	value func(client.Object) string
}

func kinds() []kind {
	global, namespaced := meta.RESTScopeRoot, meta.RESTScopeNamespace
	return []kind{
		{object: &corev1.Pod{}, scope: namespaced, field: "spec.nodeName",
			value: func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
		{object: &corev1.Node{}, scope: global, field: "spec.providerID",
			value: func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
		{object: &karpenterv1.NodeClaim{}, scope: global, field: "status.providerID",
			value: func(o client.Object) string { return o.(*karpenterv1.NodeClaim).Status.ProviderID }},
		{object: &storagev1.VolumeAttachment{}, scope: global, field: "spec.nodeName",
			value: func(o client.Object) string { return o.(*storagev1.VolumeAttachment).Spec.NodeName }},
		{object: &karpenterv1.NodePool{}, scope: global},
		{object: &corev1.Namespace{}, scope: global},
		{object: &appsv1.DaemonSet{}, scope: namespaced},
		{object: &corev1.PersistentVolumeClaim{}, scope: namespaced},
		{object: &corev1.PersistentVolume{}, scope: global},
		{object: &storagev1.StorageClass{}, scope: global},
		{object: &storagev1.CSINode{}, scope: global},
		{object: &policyv1.PodDisruptionBudget{}, scope: namespaced},
	}
}

// newClient returns a client like the one of Karpenter's controllers. It reads from the informer
// cache of controller-runtime, with the indexes that Karpenter registers. Lists in memory feed the
// informers, in place of an API server. Karpenter's own benchmark reads through
// controller-runtime's fake client instead, which would charge Karpenter for JSON encoding that it
// does not cause.
//
// All kinds are in the cache when newClient returns. Writing is an error.
func newClient(ctx context.Context, all []client.Object) (client.Client, error) {
	byType := map[reflect.Type][]runtime.RawExtension{}
	for _, o := range all {
		t := reflect.TypeOf(o)
		byType[t] = append(byType[t], runtime.RawExtension{Object: o})
	}
	mapper, err := newMapper()
	if err != nil {
		return nil, err
	}
	nowhere := &rest.Config{Host: "http://api.invalid"}
	reader, err := cache.New(nowhere, cache.Options{
		Scheme: scheme.Scheme, Mapper: mapper, HTTPClient: http.DefaultClient,
		NewInformer: func(_ toolscache.ListerWatcher, of runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return toolscache.NewSharedIndexInformer(stillLife{byType[reflect.TypeOf(of)]}, of, resync, indexers)
		},
	})
	if err != nil {
		return nil, err
	}
	for _, k := range kinds() {
		if k.field == "" {
			_, err = reader.GetInformer(ctx, k.object, cache.BlockUntilSynced(false))
		} else {
			err = reader.IndexField(ctx, k.object, k.field, func(o client.Object) []string { return []string{k.value(o)} })
		}
		if err != nil {
			return nil, fmt.Errorf("cache of %T: %w", k.object, err)
		}
	}
	go func() {
		// The reader ends with ctx and has no other error to report.
		_ = reader.Start(ctx)
	}()
	if !reader.WaitForCacheSync(ctx) {
		return nil, errors.New("the caches did not fill")
	}
	return client.New(nowhere, client.Options{
		Scheme: scheme.Scheme, Mapper: mapper, HTTPClient: http.DefaultClient, Cache: &client.CacheOptions{Reader: reader},
	})
}

// newMapper returns a mapper of the kinds in kinds, without asking an API server.
func newMapper() (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, k := range kinds() {
		gvk, err := apiutil.GVKForObject(k.object, scheme.Scheme)
		if err != nil {
			return nil, err
		}
		mapper.Add(gvk, k.scope)
	}
	return mapper, nil
}

// stillLife is a list and watch source of objects that never change.
type stillLife struct{ objects []runtime.RawExtension }

// List returns all objects. It ignores the options.
func (s stillLife) List(metav1.ListOptions) (runtime.Object, error) {
	return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: s.objects}, nil
}

// Watch returns a watch without events.
func (stillLife) Watch(metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// IsWatchListSemanticsUnSupported makes the informer call List, instead of waiting for the objects
// to come as events of a watch. client-go defines the name.
func (stillLife) IsWatchListSemanticsUnSupported() bool { return true }
