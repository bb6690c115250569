package progress

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// Event is the progress of a function.
type Event struct {
	// Work is the running function, with its package: "provisioning.Solve".
	Work string
	// Stage says in a few words what it does, for people: "packing". Stages may repeat, and may
	// change between versions.
	Stage string
	// Done is the finished amount of the stage and Total its maximum, both in Unit, such as
	// "steps". A search that finds no improvement ends long before Total. Total is 0 if it is not
	// known, and both are 0 if nothing is counted.
	Done, Total int
	Unit        string
	// Detail is the best result so far, for people: "12 nodes at 3.4820 USD/h". Empty if there is
	// none.
	Detail string
}

// String returns the event in one line: "provisioning.Solve: packing, 1000 of 1000000 steps".
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

// key is the key of the receiver in a context.
type key struct{}

// With returns a context whose work calls report with its progress. report is called on a working
// goroutine, which waits for it, and never concurrently; so it must not start work that reports to
// the same context. A nil report switches reports off, even if ctx has a receiver.
//
// Events depend on the work and not on the clock: the same work reports the same events, in the
// same order unless it uses several goroutines.
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

// From returns the receiver of a context; nil if there is none, in which case events need not be
// made.
func From(ctx context.Context) func(Event) {
	report, _ := ctx.Value(key{}).(func(Event))
	return report
}

// Report passes an event to the receiver of ctx, if there is one.
func Report(ctx context.Context, e Event) {
	if report := From(ctx); report != nil {
		report(e)
	}
}
