package cloudprovidertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// sameInstance fails unless an instance is the one that Create returned.
func (p *probe) sameInstance(call string, got, want *cloudprovider.Instance) {
	if got == nil {
		p.fail("%s: neither an instance nor an error was returned", call)
		return
	}
	tell := func(i *cloudprovider.Instance) string {
		return fmt.Sprintf("%s, name %q, pool %q, %s, offering %q", i.ID, i.Name, i.NodePool, i.OfferingKey(), i.OfferingID)
	}
	if a, b := tell(got), tell(want); a != b {
		p.fail("%s: it is %s; Create had returned %s", call, a, b)
	}
	switch off := got.CreatedAt.Sub(want.CreatedAt); {
	case want.CreatedAt.IsZero(): // another check is about this
	case got.CreatedAt.IsZero():
		p.fail("%s: CreatedAt of %s is zero; Create had returned %v", call, got.ID, want.CreatedAt)
	case off > clocks || off < -clocks:
		p.fail("%s: CreatedAt of %s is %v; Create had returned %v", call, got.ID, got.CreatedAt, want.CreatedAt)
	}
}

// clocks is how far the clocks of a cloud and of a provider may be apart. A larger difference means
// another time zone or unit.
const clocks = 10 * time.Minute

func getCreated(p *probe) {
	want := p.launch(p.request())
	got, err := p.Provider.Get(p.ctx, want.ID)
	if err != nil {
		p.fail("Get, just after Create: %v", err)
		return
	}
	p.sameInstance("Get", got, want)
}

// strange returns IDs that no machine has. The last has the form of the cloud's IDs.
func (p *probe) strange() []string {
	id := []byte(p.launch(p.request()).ID)
	p.must(len(id) > 0, "Create: the ID is empty")
	// 0 and 1 are digits in every base.
	last := &id[len(id)-1]
	if *last == '0' {
		*last = '1'
	} else {
		*last = '0'
	}
	return []string{"no-such-instance", "", "conformance:///no/such/instance", string(id)}
}

func getUnknown(p *probe) {
	for _, id := range p.strange() {
		_, err := p.Provider.Get(p.ctx, id)
		p.kind(fmt.Sprintf("Get %q", id), err, cloudprovider.KindNotFound)
	}
}

func deleteUnknown(p *probe) {
	for _, id := range p.strange() {
		p.kind(fmt.Sprintf("Delete %q", id), p.Provider.Delete(p.ctx, id), cloudprovider.KindNotFound)
	}
}

func deleteComplete(p *probe) {
	id := p.launch(p.request()).ID
	_, err := p.Provider.Get(p.ctx, id) // a cache would have it now
	p.must(err == nil, "Get: %v", err)
	err = p.Provider.Delete(p.ctx, id)
	p.must(err == nil, "Delete: %v", err)
	gone := p.wait(func() bool {
		instance, err := p.Provider.Get(p.ctx, id)
		switch {
		case errors.Is(err, cloudprovider.ErrNotFound):
			return true
		case err != nil:
			p.must(false, "Get, while the instance goes down: %v", err)
		default:
			p.must(instance != nil && instance.Deleting, "Get: after Delete the instance is there and not Deleting; ask the cloud in each call, or drop what Delete was called for from the cache")
		}
		err = p.Provider.Delete(p.ctx, id)
		p.must(err == nil || errors.Is(err, cloudprovider.ErrNotFound), "Delete, while the instance goes down: %v", err)
		return false
	})
	p.must(gone, "Get: %v after Delete it still finds the instance; if that is the cloud's way, raise Harness.Patience", p.Patience)
	p.kind("Delete, once Get says that the instance is gone", p.Provider.Delete(p.ctx, id), cloudprovider.KindNotFound)
	_, err = p.Provider.Get(p.ctx, id)
	p.kind("Get, once the instance was gone", err, cloudprovider.KindNotFound)
}

func deleteOthers(p *probe) {
	one, other := p.launch(p.request()), p.launch(p.request())
	p.goneBy(p.Provider, one.ID)
	instance, err := p.Provider.Get(p.ctx, other.ID)
	switch {
	case err != nil:
		p.fail("Get, of an instance beside the one that was deleted: %v", err)
	case instance != nil && instance.Deleting:
		p.fail("Get: %s is Deleting, but it was %s that Delete was called for", other.ID, one.ID)
	}
}

func getTerminated(p *probe) {
	id := p.launch(p.request()).ID
	p.Terminate(id)
	told := p.wait(func() bool {
		instance, err := p.Provider.Get(p.ctx, id)
		p.must(err == nil || errors.Is(err, cloudprovider.ErrNotFound), "Get: %v", err)
		return err != nil || instance != nil && instance.Deleting
	})
	p.must(told, "Get: %v after it was terminated the instance is there and not Deleting", p.Patience)
	p.must(p.wait(func() bool {
		_, err := p.Provider.Get(p.ctx, id)
		return errors.Is(err, cloudprovider.ErrNotFound)
	}), "Get: %v after it was terminated the instance is still there", p.Patience)
}

func getFailed(p *probe) {
	id := p.launch(p.request()).ID
	for _, call := range []struct {
		method string
		do     func() error
	}{
		{"Get", func() error { _, err := p.Provider.Get(p.ctx, id); return err }},
		{"Delete", func() error { return p.Provider.Delete(p.ctx, id) }},
	} {
		for _, kind := range []cloudprovider.Kind{cloudprovider.KindUnknown, cloudprovider.KindThrottled} {
			p.Fail(call.method, kind)
			if err := call.do(); errors.Is(err, cloudprovider.ErrNotFound) {
				p.fail("%s, which failed as %s, says %s: %v", call.method, kind, cloudprovider.KindNotFound, err)
			}
		}
	}
}
