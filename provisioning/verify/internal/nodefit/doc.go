// Package nodefit reads the requirements of a pod on the labels and taints of its node, and lists
// the nodes that may result from a choice of values for open labels. Input: pods and sets of
// requirements. Output: the results of kube-scheduler's filters NodeAffinity and TaintToleration,
// and nodes with their labels. Invariant: any two nodes that a selection distinguishes are both
// among those nodes.
package nodefit
