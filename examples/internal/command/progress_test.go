package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

func TestProgressLine(t *testing.T) {
	var out strings.Builder
	start := time.Unix(0, 0)
	l := &progressLine{out: &out, next: start.Add(progressAfter)}
	e := progress.Event{Work: "provisioning.Solve", Stage: "packing"}
	l.show(e, start)
	l.clear()
	assert.Empty(t, out.String(), "what takes no second is not shown")

	l.show(e, start.Add(progressAfter))
	l.show(e, start.Add(progressAfter+progressEvery/2))
	assert.Equal(t, "\rprovisioning.Solve: packing\x1b[K", out.String())

	out.Reset()
	e.Detail = strings.Repeat("é", 200)
	l.show(e, start.Add(time.Minute))
	l.clear()
	l.clear()
	assert.Equal(t, "\rprovisioning.Solve: packing: "+strings.Repeat("é", PageWidth-31)+"…\x1b[K\r\x1b[K", out.String())
}

func TestProgressIsForTerminals(t *testing.T) {
	var out strings.Builder
	ctx, done := Progress(context.Background(), &out)
	assert.Nil(t, progress.From(ctx))
	done()
	assert.Empty(t, out.String())
}
