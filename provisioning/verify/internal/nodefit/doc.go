// Package nodefit reads the requirements of a pod on the labels and taints of its node, and lists
// the nodes that open labels may lead to. Input: pods and sets of requirements. Output: the results
// of kube-scheduler's filters NodeAffinity and TaintToleration, and nodes with their labels.
// Invariant: any two nodes that a selection distinguishes are both among those nodes.
package nodefit
