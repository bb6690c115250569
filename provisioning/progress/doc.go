// Package progress tells how far long work of this module has come, to whoever waits
// for it.
//
//	ctx = progress.With(ctx, func(e progress.Event) { log.Println(e) })
//	plan, err := problem.Solve(ctx)
//
// Who wants to know says so in the context, as net/http/httptrace does it, so that no
// function and no options have a parameter for it. What is decided does not depend on it.
//
// A caller is told by [provisioning.Solve], [disruption.Propose], [compare.Compare] with
// its Settle, FromEmpty and Budgets, and [advice.Ask]. Work within work is not reported
// apart: who calls Compare is told of its rounds, and not of the plans that these ask for.
//
// [provisioning.Solve]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/provisioning#Solve
// [disruption.Propose]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/disruption#Propose
// [compare.Compare]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/disruption/compare#Compare
// [advice.Ask]: https://pkg.go.dev/github.com/dovetail-sdk/dovetail/provisioning/advice#Ask
package progress
