// Package nodefit knows what a pod asks of the labels and the taints of its node, and which
// nodes may come of labels that are open. Its input is pods and sets of requirements, its
// output the answer of kube-scheduler's filters NodeAffinity and TaintToleration, and nodes
// with labels written out. It holds that what selections can tell apart is among those nodes.
package nodefit
