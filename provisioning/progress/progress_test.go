package progress_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

func ExampleWith() {
	ctx := progress.With(context.Background(), func(e progress.Event) { fmt.Println(e) })

	// What works for long reports to its context.
	progress.Report(ctx, progress.Event{Work: "provisioning.Solve", Stage: "packing", Done: 1000, Total: 1000000, Unit: "steps"})
	progress.Report(ctx, progress.Event{Work: "provisioning.Solve", Stage: "cells-in-use", Detail: "12 nodes at 3.4820 USD/h"})

	// Work within it that is nobody's business has a context of its own.
	progress.Report(progress.With(ctx, nil), progress.Event{Work: "provisioning.Solve", Stage: "packing"})
	// Output:
	// provisioning.Solve: packing, 1000 of 1000000 steps
	// provisioning.Solve: cells-in-use: 12 nodes at 3.4820 USD/h
}

func TestNobodyWantsToKnow(t *testing.T) {
	ctx := context.Background()
	assert.Nil(t, progress.From(ctx))
	assert.NotPanics(t, func() { progress.Report(ctx, progress.Event{}) })
	assert.Equal(t, ctx, progress.With(ctx, nil), "nothing is added")

	told := progress.With(ctx, func(progress.Event) { t.Error("told of work within") })
	assert.Nil(t, progress.From(progress.With(told, nil)))
}

// Reports of several goroutines do not meet: the function below would race.
func TestOneAtATime(t *testing.T) {
	events := 0
	ctx := progress.With(context.Background(), func(progress.Event) { events++ })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				progress.Report(ctx, progress.Event{})
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 800, events)
}

func TestString(t *testing.T) {
	for want, e := range map[string]progress.Event{
		"a.B: looking":                 {Work: "a.B", Stage: "looking"},
		"a.B: looking, 3 nodes":        {Work: "a.B", Stage: "looking", Done: 3, Unit: "nodes"},
		"a.B: looking, 0 of 9 rounds":  {Work: "a.B", Stage: "looking", Total: 9, Unit: "rounds"},
		"a.B: looking: 2 pods left":    {Work: "a.B", Stage: "looking", Detail: "2 pods left"},
		"a.B: looking, 1 of 2 x: some": {Work: "a.B", Stage: "looking", Done: 1, Total: 2, Unit: "x", Detail: "some"},
	} {
		assert.Equal(t, want, e.String())
	}
}
