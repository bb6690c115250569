// Package api has the AWS calls of the provider, as one narrow interface for each service.
//
// # Model
//
// Each interface has exactly the methods that the provider calls, with the
// signatures of the AWS SDK for Go, so the Client of the SDK's package for the
// service satisfies it, and so does anything a test writes. [Clients] holds one
// of each. Errors of AWS are read by [Code] and its kin.
//
// # Left out
//
// Every call that the provider does not make. The policies in aws/iam grant exactly the operations
// here, and a test compares the two.
//
// # Guarantees
//
// The interfaces satisfy those of the SDK's paginators.
package api
