// Package family makes scenarios of several families, deterministic by seed.
//
// The families diverse, generic and preferences have the mixes of pods of Karpenter's own
// scheduling benchmark: one pool that accepts any type, and pods of one container.
//
//	generic      pods that differ in CPU and memory only
//	generic10    generic, of ten distinct pods
//	diverse      a fifth each: generic, spread over zones, spread over nodes,
//	             affine to a zone, one to a node
//	preferences  equal pods that prefer to be in one zone, to be in different
//	             zones, and to be on different nodes; no plan satisfies all three
//
// The other families resemble production clusters:
//
//	production     200 to 1000 workloads with replicas by Zipf's law, in eight
//	               namespaces, with five daemons and four pools: general, arm,
//	               spot and GPU, the last three tainted and spot with minValues.
//	               5% of the workloads need GPUs, 5% arm64, 10% take either
//	               architecture, 10% run on spot. Of those without GPUs 30% are
//	               spread over zones, 10% have one pod per node, 1% bind a host
//	               port, 5% prefer to be spread over zones, 5% prefer one pod
//	               per node, and 5% prefer a category of types
//	mixedexisting  production with nodes that run other replicas of the same
//	               workloads and are about 60% full
//	constrained    workloads of all sorts with up to three constraints or
//	               preferences each: spreads over zones, hostnames, racks and
//	               capacity types, affinity and anti-affinity, places, host
//	               ports, volumes; some with priorities. One to four pools with
//	               weights, limits, minValues and taints sell 10 to 200 of the
//	               types; existing nodes run more replicas, even against the
//	               constraints
//	consolidate    nothing pending: nodes 30% to 60% full, with disruption
//	               budgets on three in ten workloads
//
// Shares are of workloads, not of pods. Instance types are the library's catalog of EC2 ("aws") or
// synthetic ones as in Karpenter's benchmark ("fake400").
//
// The same Spec gives the same scenario, byte for byte, on every machine.
package family
