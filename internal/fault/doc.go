// Package fault makes the calls of the two clouds in memory, packages fake and aws/awstest, fail.
// Both export its Fault under their own name.
package fault
