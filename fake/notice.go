package fake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// notice is an interruption that was not acknowledged.
type notice struct {
	cloudprovider.Interruption
	hidden time.Time // not handed out again before
}

// Interruptions returns the notices that were not acknowledged, sorted as the
// contract asks, and none if there are none: it does not wait. What it returned
// it leaves out for Options.Redelivery.
func (c *Cloud) Interruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	return answer(c, ctx, call{op: OpInterruptions}, func(*orders) ([]cloudprovider.Interruption, error) {
		var out []cloudprovider.Interruption
		for i := range c.notices {
			n := &c.notices[i]
			if n.hidden.After(c.now) {
				continue
			}
			n.hidden = c.now.Add(c.opts.Redelivery)
			out = append(out, n.Interruption)
		}
		return out, nil
	})
}

// Acknowledge drops the notices with these IDs. IDs that are not known are no error.
func (c *Cloud) Acknowledge(ctx context.Context, ids ...string) error {
	in := call{op: OpAcknowledge, object: strings.Join(ids, " ")}
	_, err := answer(c, ctx, in, func(o *orders) (struct{}, error) {
		dealtWith := ids
		if o.partly != nil {
			dealtWith = ids[:len(ids)/2]
		}
		drop := make(map[string]bool, len(dealtWith))
		for _, id := range dealtWith {
			drop[id] = true
		}
		c.notices = slices.DeleteFunc(c.notices, func(n notice) bool { return drop[n.ID] })
		if o.partly != nil {
			return struct{}{}, in.failure(o.partly)
		}
		return struct{}{}, nil
	})
	return err
}

// notify issues a notice about a machine.
func (c *Cloud) notify(m *machine, kind cloudprovider.InterruptionKind, deadline time.Time, detail string) {
	c.noticed++
	n := notice{Interruption: cloudprovider.Interruption{
		ID: fmt.Sprintf("notice-%d", c.noticed), InstanceID: m.instance.ID,
		Kind: kind, Detail: detail, At: c.now, Deadline: deadline,
	}}
	i, _ := slices.BinarySearchFunc(c.notices, n, compareNotices)
	c.notices = slices.Insert(c.notices, i, n)
	text := string(kind)
	if !deadline.IsZero() {
		text += fmt.Sprintf(" in %v", deadline.Sub(c.now))
	}
	c.recordOf(m, EventNoticed, "%s", text)
}

// announce issues a notice and takes the machine away once the warning is over.
func (c *Cloud) announce(m *machine, kind cloudprovider.InterruptionKind, warning time.Duration, detail string) {
	c.notify(m, kind, c.now.Add(warning), detail)
	c.stats.Interrupted++
	c.step(m, warning, func() { c.takeDown(m, detail, true) })
}

func compareNotices(a, b notice) int {
	return cmp.Or(
		a.At.Compare(b.At),
		strings.Compare(a.InstanceID, b.InstanceID),
		strings.Compare(string(a.Kind), string(b.Kind)),
		strings.Compare(a.ID, b.ID),
	)
}
