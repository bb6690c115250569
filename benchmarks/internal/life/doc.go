// Package life plays the life of a cluster in virtual time, and measures it.
//
// A [Trace] says what happens: the cloud and its prices, the workloads, the pools, and events such
// as a deploy or a new image. A [Contender] is a node autoscaler. [Play] lets time pass in turns
// of a fixed length ([Trace.Tick]). In each turn
//
//  1. the events that are due happen;
//  2. the cloud moves on: machines boot and end, spot prices change, spot machines are taken back;
//  3. kubelets, the controllers of workloads and kube-scheduler act (package simcluster);
//     ReplicaSets delete pods in the order of the real controller;
//  4. the contender acts: it reads the objects of the cluster and writes them, launches and ends
//     machines, and evicts pods through the eviction API.
//
// A decision takes as long to carry out as in a cluster: machines boot, pods have a grace period,
// budgets allow only a few evictions at a time.
//
// # Figures
//
// The bill is the sum over all turns of the prices of the machines that the cloud lists, from launch
// until the machine is gone. Prices are those of the latest sample.
//
// From-empty is the cost of a plan for all pods that should run, pending ones included, with no
// node in the cluster and everything in stock, at current prices. It is computed every
// [Trace.Sample] if pods or prices have changed, and is used for the time until the next sample.
// The bound is the proven lower bound of the same plans.
//
// Evictions are granted calls of the eviction API, and deletions of pods by the contender. A wait
// is the time from the creation of a pod until it is bound. For pods that are still pending at the
// end, it is the time until the end.
//
// The same trace, seed and contender give the same figures, to the last bit.
package life
