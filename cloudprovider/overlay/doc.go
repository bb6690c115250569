// Package overlay corrects the instance types of a cloud by NodeOverlays, as Karpenter
// does between a provider and its scheduler: their prices and capacities.
//
// # Model
//
// [Apply] takes what a provider returned for each NodePool and returns the same with the overlays
// applied, and a [Status] for each overlay: what it changed, and each [Conflict] with another of
// the same weight. [AdjustPrice] is the arithmetic of spec.priceAdjustment alone, and [Annotations]
// the annotations of a NodeClaim for overlays.
//
// # Left out
//
// Writing the status of a NodeOverlay: Status.Conditions has the conditions.
//
// # Guarantees
//
// Everything is a pure function. Inputs are never modified; unchanged types are in the result by
// the same pointer.
package overlay
