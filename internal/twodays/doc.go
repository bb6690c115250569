// Package twodays is a scenario for a simulated cluster: a shop with a daily wave of customers and
// a report every night. In two days there are a deploy, spot interruptions, a shortage, a provider
// that panics, and a new image.
//
// It is the story of examples/autoscaler and a trace of benchmarks/day. The same seed gives the
// same course of things.
package twodays
