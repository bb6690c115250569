// Package cover says in which topology domains a node could be launched for a pod when a plan
// begins: a hard topology spread covers these, in addition to the domains with a node. Its input
// are NodePools with their catalogs and what the pod asks of its node; its output the values of
// the topology key. It holds that neither stock, nor limits, nor the size of the pod matter, and
// that a label whose values the catalog leaves open has no such domain.
package cover
