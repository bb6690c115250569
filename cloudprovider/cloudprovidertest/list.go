package cloudprovidertest

import (
	"errors"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// listed waits until List has all of the instances.
func (p *probe) listed(provider cloudprovider.CloudProvider, want ...*cloudprovider.Instance) []*cloudprovider.Instance {
	var list []*cloudprovider.Instance
	var missing string
	if p.wait(func() bool {
		var err error
		list, err = provider.List(p.ctx)
		p.must(err == nil, "List: %v", err)
		p.must(!slices.Contains(list, nil), "List: an entry is nil")
		missing = ""
		for _, w := range want {
			if find(list, w.ID) == nil {
				missing = w.ID
			}
		}
		return missing == ""
	}) {
		return list
	}
	hint := ""
	if i, err := provider.Get(p.ctx, missing); err == nil && i != nil {
		hint = "; Get finds it, so the tag of the cluster is missing that List asks for: have Create put it on the machine in the call that launches it"
	}
	p.must(false, "List: %v after Create %s is missing; it has %d instances%s", p.Patience, missing, len(list), hint)
	return nil
}

// several launches three machines.
func (p *probe) several() (out []*cloudprovider.Instance) {
	for range 3 {
		out = append(out, p.launch(p.request()))
	}
	return out
}

func listComplete(p *probe) {
	want := p.several()
	list := p.listed(p.Provider, want...)
	for _, w := range want {
		p.sameInstance("List", find(list, w.ID), w)
	}
	p.pause(p.Patience / steps)
	later := p.listed(p.Provider, want...)
	for _, w := range want {
		if a, b := find(list, w.ID).CreatedAt, find(later, w.ID).CreatedAt; !a.Equal(b) {
			p.fail("List: %s was created at %v, and by a later call at %v; keep what the cloud says", w.ID, a, b)
		}
	}
}

func listSorted(p *probe) {
	list := p.listed(p.Provider, p.several()...)
	for i := 1; i < len(list); i++ {
		switch before, id := list[i-1].ID, list[i].ID; {
		case before == id:
			p.fail("List: %s is there twice", id)
		case before > id:
			p.fail("List: %s comes after %s; sort by ID, in byte order", id, before)
		}
	}
}

func listRestart(p *probe) {
	req := p.request()
	want := p.launch(req)
	after := p.Restart()
	p.listed(after, want)
	got, err := after.Get(p.ctx, want.ID)
	p.must(err == nil && got != nil, "Get, after a restart: %v", err)
	p.sameInstance("Get", got, want)
	if o, found := option(&req, want); found {
		p.labels("Get, after a restart", got, o)
	}
	if err := after.Delete(p.ctx, want.ID); err != nil {
		p.fail("Delete, after a restart: %v", err)
	}
}

// foreign launches a machine for another cluster.
func (p *probe) foreign(neighbor cloudprovider.CloudProvider) *cloudprovider.Instance {
	instance, err := p.create(neighbor, p.request())
	p.must(err == nil, "Create, by the neighbor: %v", err)
	p.launched[len(p.launched)-1].foreign = true
	return instance
}

// clusterTag is the remedy for a provider that confuses machines of clusters.
const clusterTag = "have Create tag each machine with the name of the cluster, List ask for that tag, and Get and Delete look at it"

func listOurs(p *probe) {
	neighbor := p.Neighbor()
	foreign := p.foreign(neighbor)
	ours := p.launch(p.request())
	p.listed(neighbor, foreign)
	if list := p.listed(p.Provider, ours); find(list, foreign.ID) != nil {
		p.fail("List: %s is of another cluster; %s", foreign.ID, clusterTag)
	}
	_, err := p.Provider.Get(p.ctx, foreign.ID)
	p.kind("Get, of an instance of another cluster", err, cloudprovider.KindNotFound)
	p.kind("Delete, of an instance of another cluster", p.Provider.Delete(p.ctx, foreign.ID), cloudprovider.KindNotFound)
	if instance, err := neighbor.Get(p.ctx, foreign.ID); err != nil || instance != nil && instance.Deleting {
		p.fail("Delete: it took away %s, which is of another cluster; %s", foreign.ID, clusterTag)
	}
}

func listDeleting(p *probe) {
	instance := p.launch(p.request())
	p.listed(p.Provider, instance)
	err := p.Provider.Delete(p.ctx, instance.ID)
	p.must(err == nil, "Delete: %v", err)
	there := func() bool {
		_, err := p.Provider.Get(p.ctx, instance.ID)
		return err == nil
	}
	stale := 0 // how often it was listed as if it ran
	for range steps {
		before := there()
		list, err := p.Provider.List(p.ctx)
		p.must(err == nil, "List: %v", err)
		listed := find(list, instance.ID)
		// Checked before and after List, because the machine may be gone at any moment.
		if before && there() && listed == nil {
			p.fail("List: %s is missing, but Get finds it", instance.ID)
			return
		}
		switch {
		case listed == nil:
		case listed.Deleting:
			stale = -steps // it was told
		default:
			stale++
		}
		// A list may lag, but not for long.
		if stale > steps/6 {
			p.fail("List: %v after Delete %s is not Deleting", p.Patience*time.Duration(stale)/steps, instance.ID)
			return
		}
		if !before {
			return
		}
		p.pause(p.Patience / steps)
	}
}

func listGone(p *probe) {
	instance := p.launch(p.request())
	p.listed(p.Provider, instance)
	p.goneBy(p.Provider, instance.ID)
	p.must(p.wait(func() bool {
		list, err := p.Provider.List(p.ctx)
		p.must(err == nil, "List: %v", err)
		return find(list, instance.ID) == nil
	}), "List: %s is still there %v after it was gone", instance.ID, p.Patience)
}

func listFailed(p *probe) {
	want := p.several()
	p.listed(p.Provider, want...)
	for _, kind := range []cloudprovider.Kind{cloudprovider.KindUnknown, cloudprovider.KindThrottled} {
		p.failedList("List", p.Provider, kind, len(want))
		if p.Restart != nil { // a new provider has no earlier list
			p.failedList("List, the first after a restart", p.Restart(), kind, len(want))
		}
	}
}

// failedList fails if a List that failed in the cloud returns a short list without an error.
func (p *probe) failedList(call string, provider cloudprovider.CloudProvider, kind cloudprovider.Kind, want int) {
	p.Fail("List", kind)
	list, err := provider.List(p.ctx)
	switch {
	case err == nil && len(list) < want:
		p.fail("%s, which failed as %s, returned %d of %d instances and no error", call, kind, len(list), want)
	case errors.Is(err, cloudprovider.ErrNotFound):
		p.fail("%s, which failed as %s, says %s: %v", call, kind, cloudprovider.KindNotFound, err)
	}
}
