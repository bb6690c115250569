// Package kubescheduler asks kube-scheduler itself, for tests and benchmarks.
//
// The scheduler is a program of its own, benchmarks/kubescheduler, which `build MINOR FILE`
// there makes for a minor version of Kubernetes. [Start] runs such a program and [Program.Ask]
// asks it one question. [StateOf] and [CarryOut] turn an input, and a plan for it, into what
// the program reads.
//
// kube-scheduler binds a pod only when other controllers have done their part. StateOf does
// that part: claims of ephemeral volumes and of claim templates exist, claims without a storage
// class have the default one, and controllers that own pods exist with a selector.
package kubescheduler
