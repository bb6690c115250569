// Package api names the calls to AWS that the provider makes, as one narrow
// interface for each service.
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
// Every call that the provider does not make: what is here is what the policies in aws/iam
// grant, operation by operation, and a test holds the two together.
//
// # Guarantees
//
// The interfaces include those that the SDK's paginators ask for.
package api
