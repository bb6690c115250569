package main

import (
	"reflect"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// objects is an informer factory without a control plane. After load returns, the loaded objects
// are in the informers, and in the caches of the plugins that listen to them.
type objects struct {
	informers.SharedInformerFactory // for the API groups that no plugin reads
	client                          kubernetes.Interface
	kinds                           map[reflect.Type]*kind
}

// kind is the informer of one kind of object. The embedded informer is never started.
type kind struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func newObjects(client kubernetes.Interface) *objects {
	return &objects{informers.NewSharedInformerFactory(client, 0), client, map[reflect.Type]*kind{}}
}

func (o *objects) Apps() apps.Interface             { return apps.New(o, "", nil) }
func (o *objects) Core() core.Interface             { return core.New(o, "", nil) }
func (o *objects) Policy() policy.Interface         { return policy.New(o, "", nil) }
func (o *objects) Resource() resource.Interface     { return resource.New(o, "", nil) }
func (o *objects) Scheduling() scheduling.Interface { return scheduling.New(o, "", nil) }
func (o *objects) Storage() storage.Interface       { return storage.New(o, "", nil) }

// InformerFor returns the informer of the kind of obj. Every call for one kind returns the same
// informer.
func (o *objects) InformerFor(obj apiruntime.Object, build internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	of := reflect.TypeOf(obj)
	if o.kinds[of] == nil {
		o.kinds[of] = &kind{SharedIndexInformer: build(o.client, 0)}
	}
	return o.kinds[of]
}

func (k *kind) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	k.handlers = append(k.handlers, handler)
	return k.SharedIndexInformer.AddEventHandler(handler)
}

func (k *kind) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	k.handlers = append(k.handlers, handler)
	return k.SharedIndexInformer.AddEventHandlerWithOptions(handler, options)
}

func (k *kind) HasSynced() bool { return true }

// kindOf returns the informer of a kind, or nil if no plugin of this minor version reads the kind.
func kindOf[T apiruntime.Object](o *objects) *kind {
	var none T
	return o.kinds[reflect.TypeOf(none)]
}

// add adds objects to the informer of their kind.
func add[T apiruntime.Object](o *objects, list []T) error {
	k := kindOf[T](o)
	if k == nil {
		return nil
	}
	for _, object := range list {
		if err := k.GetIndexer().Add(object); err != nil {
			return err
		}
		for _, handler := range k.handlers {
			handler.OnAdd(object, true)
		}
	}
	return nil
}

// update replaces an object by one of the same name.
func update[T apiruntime.Object](o *objects, old, object T) error {
	k := kindOf[T](o)
	if err := k.GetIndexer().Update(object); err != nil {
		return err
	}
	for _, handler := range k.handlers {
		handler.OnUpdate(old, object)
	}
	return nil
}

// load replaces all stored objects of one kind by those of list.
func load[T apiruntime.Object](o *objects, list []T) error {
	k := kindOf[T](o)
	if k == nil {
		return nil
	}
	store := k.GetIndexer()
	for _, old := range store.List() {
		if err := store.Delete(old); err != nil {
			return err
		}
		for _, handler := range k.handlers {
			handler.OnDelete(old)
		}
	}
	return add(o, list)
}
