// Package report renders decisions as text and as JSON: plans of package provisioning, proposals of
// package disruption, comparisons of package compare and reports of package advice.
//
// Each of NewPlan, NewProposal, NewComparison and NewAdvice takes a decision and the input that the
// decision was made from. The result has two forms:
//
//   - Format returns it as text of at most 80 columns.
//   - package encoding/json marshals it to JSON with a field "schema", which names the format and
//     its major version. Within a version fields are added, but none is removed.
//
// The packages that decide return short texts, such as the String and Report methods of
// provisioning.Explanation, for logs and events. This package is for whole answers.
//
// Values do not change after they are made: all methods but Follow, Converge, AddWhy and AddWithout
// of Proposal are safe for concurrent use.
package report
