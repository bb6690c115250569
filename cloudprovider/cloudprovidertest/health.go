package cloudprovidertest

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// claim returns the NodeClaim of an instance.
func (p *probe) claim(req cloudprovider.LaunchRequest, instance *cloudprovider.Instance) *v1.NodeClaim {
	ref := req.NodeClassRef
	claim := &v1.NodeClaim{}
	claim.Name, claim.Labels, claim.Annotations = req.Name, map[string]string{}, map[string]string{}
	for key, value := range instance.Labels {
		claim.Labels[key] = value
	}
	claim.Labels[v1.NodePoolLabelKey] = req.NodePool
	claim.Spec.NodeClassRef = &ref
	claim.Spec.Requirements = req.Requirements.NodeSelectorRequirements()
	claim.Status.ProviderID, claim.Status.ImageID = instance.ID, instance.ImageID
	if p.Claim != nil {
		p.Claim(claim)
	}
	return claim
}

// launchClaim launches a machine and makes its NodeClaim.
func (p *probe) launchClaim() *v1.NodeClaim {
	req := p.request()
	return p.claim(req, p.launch(req))
}

func driftNone(p *probe) {
	claim := p.launchClaim()
	before := claim.DeepCopy()
	drift, err := cloudprovider.IsDrifted(p.ctx, p.Provider, claim)
	switch {
	case err != nil:
		p.fail("IsDrifted: %v", err)
	case drift != cloudprovider.Drift{}:
		p.fail("IsDrifted: %s (%s); want the zero Drift", drift.Reason, drift.Detail)
	}
	if !reflect.DeepEqual(claim, before) {
		p.fail("IsDrifted: it changed the NodeClaim, which is read-only")
	}
	if p.Restart == nil {
		return
	}
	after := p.Restart()
	p.wait(func() bool { // until the machine is gone; another check is about that
		_, err := after.Get(p.ctx, claim.Status.ProviderID)
		return err == nil
	})
	if drift, err := cloudprovider.IsDrifted(p.ctx, after, claim); err != nil || drift != (cloudprovider.Drift{}) {
		p.fail("IsDrifted, after a restart: %s (%s), %v; want the zero Drift", drift.Reason, drift.Detail, err)
	}
}

func driftSeen(p *probe) {
	claim := p.launchClaim()
	p.Drift(claim.Status.ProviderID)
	var drift cloudprovider.Drift
	p.must(p.wait(func() bool {
		var err error
		drift, err = cloudprovider.IsDrifted(p.ctx, p.Provider, claim)
		p.must(err == nil, "IsDrifted: %v", err)
		return drift != cloudprovider.Drift{}
	}), "IsDrifted: %v after the change it still says that there is none", p.Patience)
	if drift.Reason == "" || strings.ContainsAny(drift.Reason, " \t\n") {
		p.fail("IsDrifted: the reason is %q; use a word, as in ImageDrift", drift.Reason)
	}
	if drift.Detail == "" || strings.Contains(drift.Detail, "\n") {
		p.fail("IsDrifted: the detail is %q; say in one line what differs", drift.Detail)
	}
	if again, err := cloudprovider.IsDrifted(p.ctx, p.Provider, claim); err != nil || again != drift {
		p.fail("IsDrifted: it said %v, and then %v, %v", drift, again, err)
	}
	if p.Restart == nil {
		return
	}
	after := p.Restart()
	if !p.wait(func() bool {
		again, err := cloudprovider.IsDrifted(p.ctx, after, claim)
		return err == nil && again.Reason == drift.Reason
	}) {
		p.fail("IsDrifted: it said %v, and %v after a restart it still does not; keep what it compares with the machine or the NodeClaim", drift, p.Patience)
	}
}

func driftGone(p *probe) {
	claim := p.launchClaim()
	p.goneBy(p.Provider, claim.Status.ProviderID)
	_, err := cloudprovider.IsDrifted(p.ctx, p.Provider, claim)
	p.kind("IsDrifted", err, cloudprovider.KindNotFound)
}

func repairValid(p *probe) {
	if err := cloudprovider.ValidateRepairPolicies(cloudprovider.RepairPolicies(p.Provider)); err != nil {
		p.fail("%v", err)
	}
}

func repairReboot(p *probe) {
	reboots := slices.ContainsFunc(cloudprovider.RepairPolicies(p.Provider), func(r cloudprovider.RepairPolicy) bool {
		return r.Action == cloudprovider.RebootNode
	})
	if reboots && !able[cloudprovider.Rebooter](p.Provider) {
		p.fail("a policy has the action %s, but the provider is no Rebooter; use %s",
			cloudprovider.RebootNode, cloudprovider.ReplaceNode)
	}
}

// reboot restarts a machine as soon as the cloud allows it.
func (p *probe) reboot(id, operation string) {
	var err error
	p.must(p.wait(func() bool {
		err = cloudprovider.Reboot(p.ctx, p.Provider, id, operation)
		return !errors.Is(err, cloudprovider.ErrDenied) // it has not started yet
	}), "Reboot: %v later it is still denied: %v", p.Patience, err)
	p.must(err == nil, "Reboot: %v", err)
}

// restarts fails unless a machine was restarted want times.
func (p *probe) restarts(id string, want int, after string) {
	p.wait(func() bool { return p.Reboots(id) >= want })
	p.pause(p.Patience / steps) // to detect an additional restart
	if got := p.Reboots(id); got != want {
		p.fail("Reboot: after %s the machine was restarted %d times; want %d", after, got, want)
	}
}

func rebootOnce(p *probe) {
	want := p.launch(p.request())
	for range 3 {
		p.reboot(want.ID, p.Prefix+"-first")
	}
	p.restarts(want.ID, 1, "three calls with one operation")
	p.reboot(want.ID, p.Prefix+"-second")
	p.restarts(want.ID, 2, "another operation")
	got, err := p.Provider.Get(p.ctx, want.ID)
	p.must(err == nil, "Get, after a restart: %v", err)
	p.sameInstance("Get, after a restart", got, want)
}

func rebootGone(p *probe) {
	id := p.launch(p.request()).ID
	p.goneBy(p.Provider, id)
	p.kind("Reboot", cloudprovider.Reboot(p.ctx, p.Provider, id, p.Prefix+"-gone"), cloudprovider.KindNotFound)
}
