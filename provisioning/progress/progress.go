package progress

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// Event is how far work has come.
type Event struct {
	// Work is the function that is at work, with its package: "provisioning.Solve".
	Work string
	// Stage says in a few words what it does, for people: "packing". Stages come again,
	// and new versions have other ones.
	Stage string
	// Done is how much of the stage is done and Total how much there is at most, both in
	// Unit, such as "steps". A search that finds nothing better ends long before Total.
	// Total is 0 where it is not known, and Done is 0 as well where nothing is counted.
	Done, Total int
	Unit        string
	// Detail is what has been found so far, for people: "12 nodes at 3.4820 USD/h".
	// Empty if nothing has.
	Detail string
}

// String is the event in one line: "provisioning.Solve: packing, 1000 of 1000000 steps".
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.Work + ": " + e.Stage)
	switch {
	case e.Total > 0:
		fmt.Fprintf(&b, ", %d of %d %s", e.Done, e.Total, e.Unit)
	case e.Done > 0:
		fmt.Fprintf(&b, ", %d %s", e.Done, e.Unit)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// key is that of the reporter in a context.
type key struct{}

// With returns a context whose work tells report how far it has come. It is called on the
// goroutine that works, which waits for it, and never twice at once; so it begins no work
// that reports to the context returned. With a nil report nobody is told, whatever ctx
// says.
//
// Events come as the work goes on, and not by the clock: the same work tells the same
// events, in the same order unless it works on several goroutines.
func With(ctx context.Context, report func(Event)) context.Context {
	if report == nil {
		if From(ctx) == nil {
			return ctx
		}
		return context.WithValue(ctx, key{}, (func(Event))(nil))
	}
	var one sync.Mutex
	return context.WithValue(ctx, key{}, func(e Event) {
		one.Lock()
		defer one.Unlock()
		report(e)
	})
}

// From is what the work of a context reports to; nil if nobody wants to know. Events need
// not be made then.
func From(ctx context.Context) func(Event) {
	report, _ := ctx.Value(key{}).(func(Event))
	return report
}

// Report tells whoever wants to know in ctx of an event.
func Report(ctx context.Context, e Event) {
	if report := From(ctx); report != nil {
		report(e)
	}
}
