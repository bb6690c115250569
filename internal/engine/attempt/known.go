package attempt

import (
	"context"
	"slices"

	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Known has the packings that a search has made so far. Attempts often differ in hints that change
// nothing for the packer, and then the packing is reused. It must not be used by several goroutines
// at a time. A nil Known keeps no packings.
type Known struct {
	packings []packing
}

// packing is the result of packing a problem within a number of steps.
type packing struct {
	problem *pack.Problem
	steps   int
	result  *pack.Result
}

// Pack packs an attempt as Packer.Solve does, or returns the known result of an equal packing. The
// result must not be changed.
func (s *Attempt) Pack(ctx context.Context, maxSteps int) (*pack.Result, error) {
	if s.Known == nil {
		return s.Packer.Solve(ctx, maxSteps)
	}
	for i := range s.Known.packings {
		if k := &s.Known.packings[i]; k.steps == maxSteps && same(k.problem, s.lowered) {
			return k.result, ctx.Err()
		}
	}
	result, err := s.Packer.Solve(ctx, maxSteps)
	if err == nil {
		s.Known.packings = append(s.Known.packings, packing{s.lowered, maxSteps, result})
	}
	return result, err
}

// same says whether two attempts at one problem give the packer the same problem. Fields copied
// from the problem itself are equal and not compared.
func same(a, b *pack.Problem) bool {
	return a.Coarse == b.Coarse && slices.EqualFunc(a.Classes, b.Classes, sameClass) && slices.EqualFunc(a.Nodes, b.Nodes, sameNode)
}

func sameClass(a, b pack.Class) bool {
	return a.Count == b.Count && a.Urgency == b.Urgency && a.Content == b.Content && a.Kind == b.Kind &&
		slices.Equal(a.Request, b.Request) && slices.Equal(a.Memberships, b.Memberships) &&
		slices.EqualFunc(a.Variants, b.Variants, func(a, b pack.Variant) bool { return a.Trait == b.Trait && a.Options.Equal(b.Options) })
}

func sameNode(a, b pack.Node) bool {
	return slices.Equal(a.Free, b.Free) && a.Classes.Equal(b.Classes) && slices.Equal(a.Memberships, b.Memberships)
}
