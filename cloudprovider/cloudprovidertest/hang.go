package cloudprovidertest

import (
	"context"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func callHanging(p *probe) {
	created := make(chan *cloudprovider.Instance, 1)
	defer p.keepAll(created)
	for _, c := range p.calls(created) {
		ctx, cancel := context.WithCancel(p.ctx)
		answer, release := p.hanging(ctx, c)
		cancel()
		err, returned := within(answer)
		release()
		if !returned {
			<-answer
		}
		p.must(returned, "%s: the context was cancelled, but it did not return before the cloud answered", c.method)
		if err != nil { // otherwise it answered from memory
			p.ended(c.method, err)
		}
	}
}

func callBehind(p *probe) {
	created := make(chan *cloudprovider.Instance, 2)
	defer p.keepAll(created)
	for _, c := range p.calls(created) {
		if c.method == "Interruptions" {
			continue // only one goroutine calls it at a time
		}
		first, release := p.hanging(p.ctx, c)
		ctx, cancel := context.WithCancel(p.ctx)
		second := start(ctx, c)
		time.AfterFunc(soon, cancel)
		_, returned := within(second)
		release()
		<-first
		if !returned {
			<-second
		}
		cancel()
		p.must(returned, "%s: its context was cancelled, but it waited for a call that another caller had made", c.method)
	}
}

// soon is the time after which a call has most likely reached the cloud or returned.
const soon = 2 * time.Millisecond

// hanging starts a call and returns when the call waits for the cloud, or has returned without
// asking it.
func (p *probe) hanging(ctx context.Context, c call) (answer chan error, release func()) {
	p.age()
	reached, release := p.Hang(c.method)
	answer = start(ctx, c)
	select {
	case <-reached:
	case err := <-answer:
		answer <- err
	case <-time.After(patient):
	}
	return answer, release
}

// age lets caches in the provider expire, if that takes no real time.
func (p *probe) age() {
	if p.Advance != nil {
		p.Advance(p.Patience)
	}
}

// start makes a call in the background. A panic is an error.
func start(ctx context.Context, c call) chan error {
	answer := make(chan error, 1)
	go func() { answer <- parallel(1, func(int) error { return c.do(ctx) })[0] }()
	return answer
}

// patient is how long the suite waits for an answer that should come at once before it counts as
// missing.
const patient = 3 * time.Second

// within waits for an answer, by the test's clock and not the cloud's.
func within(answer <-chan error) (err error, returned bool) {
	limit := time.NewTimer(patient)
	defer limit.Stop()
	select {
	case err := <-answer:
		return err, true
	case <-limit.C:
		return nil, false
	}
}
