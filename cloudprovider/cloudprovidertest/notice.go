package cloudprovidertest

import (
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// notices waits for a notice on each of the instances, and returns all notices in the batches of
// Interruptions.
func (p *probe) notices(ids ...string) (batches [][]cloudprovider.Interruption) {
	batches, all := p.noticesBy(p.Provider, ids...)
	p.must(all, "Interruptions: %v after the cloud issued a notice there is none with the InstanceID of the machine", p.Patience)
	return batches
}

// noticesBy is notices for a provider. It returns false if a notice is missing.
func (p *probe) noticesBy(provider cloudprovider.CloudProvider, ids ...string) (batches [][]cloudprovider.Interruption, all bool) {
	seen := map[string]bool{}
	all = p.wait(func() bool {
		batch, err := cloudprovider.Interruptions(p.ctx, provider)
		p.must(err == nil, "Interruptions: %v", err)
		batches = append(batches, batch)
		for _, n := range batch {
			seen[n.InstanceID] = true
		}
		return !slices.ContainsFunc(ids, func(id string) bool { return !seen[id] })
	})
	return batches, all
}

// on returns the notices on an instance, without duplicates.
func on(batches [][]cloudprovider.Interruption, id string) (out []cloudprovider.Interruption) {
	for _, n := range slices.Concat(batches...) {
		if n.InstanceID == id && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func noticeDelivered(p *probe) {
	id := p.launch(p.request()).ID
	want := p.Interrupt(id)
	all := on(p.notices(id), id)
	if !slices.ContainsFunc(all, func(n cloudprovider.Interruption) bool { return n.Kind == want }) {
		p.fail("Interruptions: the notice is of kind %q; want %q", all[0].Kind, want)
	}
	for _, n := range all {
		switch {
		case n.At.IsZero():
			p.fail("Interruptions: At is zero; set it to when the cloud issued the notice")
		case !n.Deadline.IsZero() && n.Deadline.Before(n.At):
			p.fail("Interruptions: the deadline %v is before %v, when the notice was issued", n.Deadline, n.At)
		}
		if strings.Contains(n.Detail, "\n") {
			p.fail("Interruptions: the detail is %q; use one line", n.Detail)
		}
	}
}

func noticeOurs(p *probe) {
	foreign := p.foreign(p.Neighbor())
	ours := p.launch(p.request())
	p.Interrupt(foreign.ID)
	p.Interrupt(ours.ID)
	batches := p.notices(ours.ID)
	for range 3 { // for a late one to show
		p.pause(p.Patience / steps)
		batch, err := cloudprovider.Interruptions(p.ctx, p.Provider)
		p.must(err == nil, "Interruptions: %v", err)
		batches = append(batches, batch)
	}
	if len(on(batches, foreign.ID)) > 0 {
		p.fail("Interruptions: there is a notice on %s, which is of another cluster", foreign.ID)
	}
}

func noticeKept(p *probe) {
	id := p.launch(p.request()).ID
	p.Interrupt(id)
	p.notices(id)
	_, again := p.noticesBy(p.Restart(), id)
	p.must(again, "Interruptions: %v after a restart the notice that was read and not acknowledged is not there; drop it in Acknowledge, and not when it is read", p.Patience)
}

func noticeSorted(p *probe) {
	var ids []string
	for _, instance := range p.several() {
		ids = append(ids, instance.ID)
	}
	for _, id := range ids {
		p.Interrupt(id)
	}
	for _, batch := range p.notices(ids...) {
		if !slices.IsSortedFunc(batch, cloudprovider.Interruption.Compare) {
			p.fail("Interruptions: the notices are in another order: %s", order(batch))
		}
	}
}

func order(batch []cloudprovider.Interruption) string {
	var parts []string
	for _, n := range batch {
		parts = append(parts, strings.Join([]string{n.At.UTC().Format("15:04:05.000"), n.InstanceID, string(n.Kind), n.ID}, " "))
	}
	return strings.Join(parts, "; ")
}

func noticeAcknowledged(p *probe) {
	id := p.launch(p.request()).ID
	p.Interrupt(id)
	all := on(p.notices(id), id)
	if err := cloudprovider.Acknowledge(p.ctx, p.Provider, cloudprovider.Interruption{ID: "no-such-notice"}); err != nil {
		p.fail("Acknowledge, of an ID that is unknown: %v", err)
	}
	for range 2 {
		if err := cloudprovider.Acknowledge(p.ctx, p.Provider, all...); err != nil {
			p.fail("Acknowledge: %v", err)
		}
	}
	for range 3 {
		batch, err := cloudprovider.Interruptions(p.ctx, p.Provider)
		p.must(err == nil, "Interruptions: %v", err)
		for _, n := range batch {
			if n.ID != "" && slices.ContainsFunc(all, func(a cloudprovider.Interruption) bool { return a.ID == n.ID }) {
				p.fail("Interruptions: notice %s was acknowledged, and is there again", n.ID)
				return
			}
		}
		p.pause(p.Patience / steps)
	}
}
