// Package api has the AWS calls of the provider, as one narrow interface for each service.
//
// # Model
//
// Each interface has exactly the methods that the provider calls, with the signatures of the AWS
// SDK for Go, so the Client of the SDK's package for the service satisfies it, and a test can
// implement it. [Clients] has one of each. [Code], [Kind] and others read errors of AWS.
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
