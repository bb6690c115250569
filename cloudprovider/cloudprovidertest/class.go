package cloudprovidertest

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func classReady(p *probe) {
	if err := cloudprovider.NodeClassReady(p.ctx, p.Provider, p.ref()); err != nil {
		p.fail("NodeClassReady: %v", err)
	}
}

func classNone(p *probe) {
	_, _ = p.Provider.InstanceTypes(p.ctx, nil)
	pool := p.Pool.DeepCopy()
	pool.Spec.Template.Spec.NodeClassRef = nil
	_, err := p.Provider.InstanceTypes(p.ctx, pool)
	p.kind("InstanceTypes for a pool without nodeClassRef", err, cloudprovider.KindDenied)
}

func (p *probe) ref() v1.NodeClassReference { return *p.Pool.Spec.Template.Spec.NodeClassRef }

// of returns the pool with another node class.
func (p *probe) of(ref v1.NodeClassReference) *v1.NodePool {
	pool := p.Pool.DeepCopy()
	pool.Spec.Template.Spec.NodeClassRef = &ref
	return pool
}

func classMissing(p *probe) {
	ref := p.ref()
	ref.Name = p.Prefix + "-no-such-node-class"
	req := p.request()
	req.NodeClassRef = ref
	p.refused(ref, req, cloudprovider.KindNotFound)
}

func classUnready(p *probe) {
	req := p.request()
	p.Unready()
	p.refused(p.ref(), req, cloudprovider.KindNotReady)
}

func classLaunched(p *probe) {
	req := p.request()
	before := p.machines()
	first := p.launch(req)
	p.Unready()
	p.age()
	second, err := p.create(p.Provider, req)
	switch {
	case err != nil:
		p.fail("Create, again with the token of a machine: %v; look for the machine of the token before the node class", err)
	case second.ID != first.ID:
		p.fail("Create: with one token it returned %s and then %s", first.ID, second.ID)
	}
	p.more(before, 1)
}

// refused fails unless all calls that need a node class return an error of the kind.
func (p *probe) refused(ref v1.NodeClassReference, req cloudprovider.LaunchRequest, kind cloudprovider.Kind) {
	before := p.machines()
	_, err := p.Provider.InstanceTypes(p.ctx, p.of(ref))
	p.kind("InstanceTypes", err, kind)
	_, err = p.create(p.Provider, req)
	p.kind("Create", err, kind)
	if n := p.machines(); n != before {
		p.fail("Create: there were %d machines before and are %d now; want none launched", before, n)
	}
	if able[cloudprovider.NodeClassChecker](p.Provider) {
		p.kind("NodeClassReady", cloudprovider.NodeClassReady(p.ctx, p.Provider, ref), kind)
	}
}

func classForeign(p *probe) {
	ref := v1.NodeClassReference{Group: "conformance.example.com", Kind: "ForeignNodeClass", Name: p.ref().Name}
	if cloudprovider.SupportsNodeClass(p.Provider, ref.GroupKind()) {
		p.fail("SupportedNodeClasses: %s is among them; list those of this provider only", ref.GroupKind())
	}
	_, err := p.Provider.InstanceTypes(p.ctx, p.of(ref))
	p.kind("InstanceTypes", err, cloudprovider.KindUnsupported)
}
