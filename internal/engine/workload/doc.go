// Package workload reads what pods ask for: requests, node selection, constraints
// towards other pods, host ports, volumes and devices, and what DaemonSets take.
//
// Input: pods, and the objects that these refer to. Output: the parts of a Class, which
// is a group of pods that are alike to the engine, and numbers for what they have in
// common. Invariant: no pool, option or domain is known here, so that what is read of a
// pod does not depend on what is for sale.
package workload
