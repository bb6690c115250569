package cloudprovidertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// probe is one check under way.
type probe struct {
	*Harness
	tb    testing.TB
	ctx   context.Context
	check string

	requested int
	launched  []launched // to be deleted at the end
	failures  []string
}

// launched is a machine and the provider that launched it, ours or the neighbor's.
type launched struct {
	provider cloudprovider.CloudProvider
	id       string
	foreign  bool
}

// halt and skip are the values that a check passes to panic in order to end early.
type (
	halt struct{}
	skip string
)

// fail records that the rule is broken, each text once, and continues.
func (p *probe) fail(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.failures, text) {
		p.failures = append(p.failures, text)
	}
}

// must ends the check unless ok.
func (p *probe) must(ok bool, format string, args ...any) {
	if !ok {
		p.fail(format, args...)
		panic(halt{})
	}
}

// kind notes a failure unless err is of the kind.
func (p *probe) kind(call string, err error, want cloudprovider.Kind) {
	switch got := cloudprovider.KindOf(err); {
	case err == nil:
		p.fail("%s: no error; want one of kind %s", call, want)
	case got != want:
		p.fail("%s: an error of kind %s; want %s: %v", call, got, want, err)
	}
}

// types returns the catalog without nil entries.
func (p *probe) types() []*cloudprovider.InstanceType {
	types, err := p.Provider.InstanceTypes(p.ctx, p.Pool)
	p.must(err == nil, "InstanceTypes: %v", err)
	return slices.DeleteFunc(slices.Clone(types), func(t *cloudprovider.InstanceType) bool { return t == nil })
}

// maxOptions is how many options a request has at most.
const maxOptions = 10

// smallest returns the resources of every request.
func smallest() resources.List { return resources.MustParse("cpu=100m, memory=64Mi, pods=1") }

// request returns a request that can be launched, with a token and a name that are unique in the
// check. It shares no slices and maps.
func (p *probe) request() cloudprovider.LaunchRequest {
	vocabulary := cloudprovider.Vocabulary(p.Provider)
	reqs, err := requirements.FromNodePool(p.Pool, vocabulary)
	p.must(err == nil, "Harness.Pool: %v", err)
	reqs = reqs.Intersect(p.Only)
	requests := smallest()
	var options []cloudprovider.LaunchOption
	for _, o := range launch.Compatible(p.types(), reqs) {
		room, err := o.InstanceType.AllocatableFor(o.Offering)
		if err == nil && requests.Fits(room) && len(options) < maxOptions {
			options = append(options, o)
		}
	}
	p.must(len(options) > 0, "Harness.Pool: the catalog has nothing to launch for it; widen its requirements, or Harness.Only")
	name := p.unused()
	return cloudprovider.LaunchRequest{
		Token:        name,
		Name:         name,
		NodePool:     p.Pool.Name,
		NodeClassRef: *p.Pool.Spec.Template.Spec.NodeClassRef,
		Requirements: reqs,
		Requests:     requests,
		Options:      options,
		Labels:       map[string]string{v1.NodePoolLabelKey: p.Pool.Name},
	}
}

// unused returns a new name, which is also used as a token.
func (p *probe) unused() string {
	p.requested++
	return fmt.Sprintf("%s-%s-%d", p.Prefix, strings.ReplaceAll(p.check, "/", "-"), p.requested)
}

// create launches a machine with a provider, and records it for deletion.
func (p *probe) create(provider cloudprovider.CloudProvider, req cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	instance, err := provider.Create(p.ctx, req)
	return p.keep(provider, instance, err)
}

// keep records the result of Create for deletion.
func (p *probe) keep(provider cloudprovider.CloudProvider, instance *cloudprovider.Instance, err error) (*cloudprovider.Instance, error) {
	if err == nil && instance == nil {
		err = errors.New("neither an instance nor an error was returned")
	}
	if err != nil {
		return nil, err
	}
	p.launched = append(p.launched, launched{provider: provider, id: instance.ID})
	return instance, nil
}

// launch launches a machine, and ends the check if that fails.
func (p *probe) launch(req cloudprovider.LaunchRequest) *cloudprovider.Instance {
	instance, err := p.create(p.Provider, req)
	p.must(err == nil, "Create: %v", err)
	return instance
}

// steps is how often wait checks its condition.
const steps = 60

// wait lets time pass until the condition holds, and reports false if it does not within Patience.
// It checks at least once.
func (p *probe) wait(until func() bool) bool {
	for range steps {
		if until() {
			return true
		}
		p.pause(p.Patience / steps)
	}
	return until()
}

func (p *probe) pause(d time.Duration) {
	if p.Advance != nil {
		p.Advance(d)
		return
	}
	time.Sleep(d)
}

// machines counts the machines of the cluster.
func (p *probe) machines() int {
	if p.Machines != nil {
		return p.Machines()
	}
	// A machine that was just launched may be missing for some time.
	var list []*cloudprovider.Instance
	p.wait(func() bool {
		var err error
		list, err = p.Provider.List(p.ctx)
		p.must(err == nil, "List: %v", err)
		for _, l := range p.launched {
			_, err := l.provider.Get(p.ctx, l.id)
			if err == nil && !l.foreign && find(list, l.id) == nil {
				return false
			}
		}
		return true
	})
	n := 0
	for _, instance := range list {
		if instance != nil && !instance.Deleting {
			n++
		}
	}
	return n
}

// find returns the instance with the ID, or nil.
func find(list []*cloudprovider.Instance, id string) *cloudprovider.Instance {
	for _, instance := range list {
		if instance != nil && instance.ID == id {
			return instance
		}
	}
	return nil
}

// goneBy deletes an instance and waits until Get says that it is gone.
func (p *probe) goneBy(provider cloudprovider.CloudProvider, id string) {
	err := provider.Delete(p.ctx, id)
	p.must(err == nil || errors.Is(err, cloudprovider.ErrNotFound), "Delete: %v", err)
	p.must(p.wait(func() bool {
		_, err := provider.Get(p.ctx, id)
		return errors.Is(err, cloudprovider.ErrNotFound)
	}), "Get: %v after Delete it still finds %s; if that is the cloud's way, raise Harness.Patience", p.Patience, id)
}

// parallel runs do n times concurrently, and returns the errors by number. A panic is an error.
func parallel(n int, do func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					errs[i] = fmt.Errorf("panic: %v", v)
				}
			}()
			<-start
			errs[i] = do(i)
		})
	}
	close(start)
	wait.Wait()
	return errs
}

// cleanUp deletes the machines of the check. Errors are ignored here, because other checks are
// about Delete.
func (p *probe) cleanUp() {
	defer func() {
		if v := recover(); v != nil {
			p.tb.Logf("%s: cleaning up: panic: %v", p.check, v)
		}
	}()
	for _, l := range p.launched {
		if err := l.provider.Delete(p.ctx, l.id); err != nil && !errors.Is(err, cloudprovider.ErrNotFound) {
			p.tb.Logf("%s: cleaning up: %v", p.check, err)
		}
	}
}
