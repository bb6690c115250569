// Package fault is what the two clouds in memory have in common that makes their
// calls go wrong: packages fake and aws/awstest show its Fault as their own.
package fault
