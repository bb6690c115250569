package cloudprovidertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// more fails unless there are exactly want more machines than before.
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

// crowd is the number of concurrent calls.
const crowd = 8

func tokenConcurrent(p *probe) {
	req := p.request()
	before := p.machines()
	instances := make([]*cloudprovider.Instance, crowd)
	errs := parallel(crowd, func(i int) (err error) {
		instances[i], err = p.Provider.Create(p.ctx, req)
		return err
	})
	p.oneMachine(instances, errs)
	p.more(before, 1)
}

// oneMachine fails unless all of several concurrent calls returned the same machine.
func (p *probe) oneMachine(instances []*cloudprovider.Instance, errs []error) {
	var ids []string
	for i, err := range errs {
		instance, err := p.keep(p.Provider, instances[i], err)
		switch {
		case err != nil:
			p.fail("Create, one of %d calls at once: %v", crowd, err)
		case !slices.Contains(ids, instance.ID):
			ids = append(ids, instance.ID)
		}
	}
	if len(ids) > 1 {
		p.fail("Create: %d calls at once with one token returned %s; %s", crowd, strings.Join(ids, ", "), tokenRemedy)
	}
}

// tokenRemedy says how to prevent a second machine for a token.
const tokenRemedy = "send the token to the cloud as its client token, or hold other calls with the token back while one looks for its machine by the tag and then launches"

func tokenOptions(p *probe) {
	reqs := make([]cloudprovider.LaunchRequest, crowd)
	for i := range reqs {
		reqs[i] = p.request()
		reqs[i].Token, reqs[i].Name = reqs[0].Token, reqs[0].Name
		at := i % len(reqs[i].Options)
		reqs[i].Options = reqs[i].Options[at : at+1]
	}
	before := p.machines()
	instances := make([]*cloudprovider.Instance, crowd)
	errs := parallel(crowd, func(i int) (err error) {
		instances[i], err = p.Provider.Create(p.ctx, reqs[i])
		return err
	})
	p.oneMachine(instances, errs)
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
	p.lost(1, 1)
	p.lost(2, 2)
}

// lost makes calls for one token fail, each by losing a number of answers, and fails unless a later
// call returns their machine.
func (p *probe) lost(calls, answers int) {
	const tries = 6 // answers may still be lost
	req := p.request()
	before := p.machines()
	var first, last *cloudprovider.Instance
	var err error
	for i := range calls + tries {
		if i < calls {
			for range answers {
				p.Lose()
			}
		}
		if last, err = p.create(p.Provider, req); err != nil && cloudprovider.KindOf(err) != cloudprovider.KindUnknown {
			p.fail("Create, whose answer was lost: an error of kind %s; want %s, as a machine may exist: %v",
				cloudprovider.KindOf(err), cloudprovider.KindUnknown, err)
		}
		first = cmp.Or(first, last)
		if i >= calls && err == nil {
			break
		}
	}
	switch {
	case err != nil:
		p.fail("Create, repeated after its answer was lost: %v; %s", err, tokenRemedy)
	case first.ID != last.ID:
		p.fail("Create: it returned %s and then %s; %s", first.ID, last.ID, tokenRemedy)
	}
	if n := p.machines(); n != before+1 {
		p.fail("there were %d machines before and are %d now; want 1 more: %s", before, n, tokenRemedy)
	}
}

// longToken is the length of tokens that every provider accepts.
const longToken = 64

func tokenDistinct(p *probe) {
	before := p.machines()
	ids := map[string]string{}
	req := p.request()
	for i := range 2 {
		// They differ in the last character, to detect a provider that cuts tokens.
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
