package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// A line of progress is shown after this long, and again after as long as the second.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// Progress returns a context whose work shows on a terminal how far it has come: one line,
// written over and over, once a second has passed. The function takes the line away; call
// it before anything else is written. Where out is no terminal nothing is shown.
func Progress(ctx context.Context, out io.Writer) (context.Context, func()) {
	if !isTerminal(out) {
		return ctx, func() {}
	}
	l := &progressLine{out: out, next: time.Now().Add(progressAfter)}
	return progress.With(ctx, func(e progress.Event) { l.show(e, time.Now()) }), l.clear
}

// progressLine is the last line of a terminal.
type progressLine struct {
	out   io.Writer
	next  time.Time // when it is written again
	shown bool
}

func (l *progressLine) show(e progress.Event, now time.Time) {
	if now.Before(l.next) {
		return
	}
	l.next, l.shown = now.Add(progressEvery), true
	text := []rune(e.String())
	if len(text) >= PageWidth {
		text = append(text[:PageWidth-2], '…')
	}
	fmt.Fprintf(l.out, "\r%s\x1b[K", string(text))
}

func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
		l.shown = false
	}
}
