// Package progress reports the progress of long-running functions of this module.
//
//	ctx = progress.With(ctx, func(e progress.Event) { log.Println(e) })
//	plan, err := problem.Solve(ctx)
//
// The receiver is set in the context, as in net/http/httptrace, so that no function needs a
// parameter for it. It does not affect decisions.
//
// These functions report: [provisioning.Solve], [disruption.Propose], [compare.Compare] with its
// Settle, FromEmpty and Budgets, and [advice.Ask]. Nested work is not reported separately: Compare
// reports its rounds, and not the plans within them.
//
// [provisioning.Solve]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/provisioning#Solve
// [disruption.Propose]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/disruption#Propose
// [compare.Compare]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/disruption/compare#Compare
// [advice.Ask]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/provisioning/advice#Ask
package progress
