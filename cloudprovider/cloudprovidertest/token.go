package cloudprovidertest

import (
	"cmp"
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// more wants there to be exactly so many machines more than before.
func (p *probe) more(before, want int) {
	if n := p.machines(); n != before+want {
		p.fail("there were %d machines before and are %d now; want %d more", before, n, want)
	}
}

func tokenRepeated(p *probe) {
	req := p.request()
	before := p.machines()
	first := p.launch(req)
	other := p.request()
	other.Token = req.Token
	other.Options = other.Options[len(other.Options)-1:]
	second, err := p.create(p.Provider, other)
	switch {
	case err != nil:
		p.fail("Create, again with the token %q: %v", req.Token, err)
	case second.ID != first.ID:
		p.fail("Create: with one token it returned %s and then %s", first.ID, second.ID)
	}
	p.more(before, 1)
}

// crowd is how many calls are made at once.
const crowd = 8

func tokenConcurrent(p *probe) {
	req := p.request()
	before := p.machines()
	instances := make([]*cloudprovider.Instance, crowd)
	errs := parallel(crowd, func(i int) (err error) {
		instances[i], err = p.Provider.Create(p.ctx, req)
		return err
	})
	var first *cloudprovider.Instance
	for i, err := range errs {
		instance, err := p.keep(p.Provider, instances[i], err)
		switch first = cmp.Or(first, instance); {
		case err != nil:
			p.fail("Create, one of %d calls at once: %v", crowd, err)
		case instance.ID != first.ID:
			p.fail("Create: calls at once with one token returned %s and %s", first.ID, instance.ID)
		}
	}
	p.more(before, 1)
}

func tokenRestart(p *probe) {
	req := p.request()
	before := p.machines()
	first := p.launch(req)
	second, err := p.create(p.Restart(), req)
	switch {
	case err != nil:
		p.fail("Create after a restart: %v", err)
	case second.ID != first.ID:
		p.fail("Create: it returned %s, and after a restart, with the same token, %s", first.ID, second.ID)
	}
	p.more(before, 1)
}

func tokenLost(p *probe) {
	req := p.request()
	before := p.machines()
	p.Lose()
	first, err := p.create(p.Provider, req)
	if err != nil && cloudprovider.KindOf(err) != cloudprovider.KindUnknown {
		p.fail("Create, whose answer was lost: an error of kind %s; want %s: %v",
			cloudprovider.KindOf(err), cloudprovider.KindUnknown, err)
	}
	second, err := p.create(p.Provider, req)
	switch {
	case err != nil:
		p.fail("Create, repeated after its answer was lost: %v", err)
	case first != nil && first.ID != second.ID:
		p.fail("Create: it returned %s and then %s", first.ID, second.ID)
	}
	p.more(before, 1)
}

// longToken is the length of token that every provider takes.
const longToken = 64

func tokenDistinct(p *probe) {
	before := p.machines()
	ids := map[string]string{}
	req := p.request()
	for i := range 2 {
		// They differ in the last character, so that a token that is cut shows.
		req.Token = fmt.Sprintf("%s-%0*d", req.Name, max(1, longToken-1-len(req.Name)), i)
		instance := p.launch(req)
		if token, used := ids[instance.ID]; used {
			p.fail("Create: the tokens %q and %q both got %s", token, req.Token, instance.ID)
		}
		ids[instance.ID] = req.Token
	}
	p.more(before, 2)
	for id := range ids {
		p.goneBy(p.Provider, id)
	}
	if instance := p.launch(p.request()); ids[instance.ID] != "" {
		p.fail("Create: it returned %s, which was the ID of a machine that is gone", instance.ID)
	}
}

func tokenDeleted(p *probe) {
	req := p.request()
	first := p.launch(req)
	p.goneBy(p.Provider, first.ID)
	second, err := p.create(p.Provider, req)
	switch {
	case err != nil:
		p.kind("Create, once the instance of the token is gone", err, cloudprovider.KindNotFound)
	case second.ID == first.ID:
		p.fail("Create: it returned %s, which is gone", first.ID)
	}
}
