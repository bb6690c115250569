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
// What a contender decides takes as long as it takes in a cluster: machines boot, pods have a grace
// period, budgets let a few pods go at a time.
//
// # Figures
//
// The bill is the sum over all turns of the prices of the machines that the cloud lists, from launch
// until the machine is gone. Prices are those of the latest sample.
//
// From-empty is what a plan for all pods that should run, pending ones included, costs with no
// node in the cluster and everything in stock, at the prices of the moment. It is computed when
// [Trace.Sample] has passed and pods or prices have changed, and stands for the time until the
// next sample. The bound is the proven floor of the same plans.
//
// Evictions are calls of the eviction API that were granted, and deletions of pods by the
// contender. A wait is the time from the creation of a pod until it is bound. Pods that are
// pending in the end count with the time that they have waited so far.
//
// The same trace, seed and contender give the same figures, to the last bit.
package life
