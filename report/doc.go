// Package report writes decisions down for people and for programs: plans of package
// provisioning, proposals of package disruption, comparisons of package compare and reports of
// package advice.
//
// Each of NewPlan, NewProposal, NewComparison and NewAdvice takes a decision and the input that
// it answers. The value that comes back has the same two sides:
//
//   - Format sets it as text of at most 80 columns.
//   - package encoding/json marshals it to a form with a field "schema", which names the form and
//     its major version. Within a version fields are added, but none is removed.
//
// The packages that decide have short texts of their own, such as the String and Report methods
// of provisioning.Reason, for logs and events. This one is for whole answers.
//
// Values are written once and only read afterwards: all methods but Follow, Converge, AddWhy and
// AddWithout of Proposal may be called from any number of goroutines.
package report
