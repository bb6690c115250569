// Package resources holds amounts of Kubernetes resources as small immutable
// vectors of integers.
//
// A resource.Quantity is exact but slow: it carries its own scale and format, and adding two may
// allocate. A scheduler adds and compares millions of them. A [List] converts each Quantity once to
// a whole number of a fixed unit:
//
//	cpu                                        milli-CPU (1000 is one CPU)
//	memory, ephemeral-storage, hugepages-*     bytes
//	every other name                           whole units
//
// These are the units that kube-scheduler computes in, and fractions of them
// are rounded as it rounds them, so both always agree on what fits.
//
// # Model
//
// A List maps resource names to amounts. A name is either listed or absent; a listed amount may be
// zero or negative. In arithmetic and in Fits an absent name counts as 0. Only [List.Lookup],
// [List.Equal], [List.Merge], [List.All] and the text form distinguish "cpu=0" from no cpu at all,
// which matters if the list is a set of limits or of overrides. No operation ever drops a listed
// name.
//
//	available := resources.MustParse("cpu=3920m, memory=14Gi, pods=58")
//	requests, err := resources.PodRequests(pod)
//	requests.Fits(available)
//	requests.Exceeds(available) // the resources of which there is too little
//
// # Left out
//
// Ratios, prices, limits of a node pool, dynamic resources, and which pods count. Limits of
// containers are not read: the scheduler places pods by their requests.
//
// # Guarantees
//
// Lists are values: no method changes its receiver or argument, and any number
// of goroutines may share one. Every output is sorted by resource name. An
// amount outside the range of int64 is an error, never a wrapped number. No
// function panics except MustParse.
package resources
