// Package workload reads the requirements of pods: requests, node selection, constraints with other
// pods, host ports, volumes and devices, and the requests of DaemonSets.
//
// Input: pods, and the objects that they refer to. Output: the parts of a Class, which is a group
// of pods that are equal to the engine, and numbers for what they have in common. Invariant:
// nothing here depends on pools, options or domains.
package workload
