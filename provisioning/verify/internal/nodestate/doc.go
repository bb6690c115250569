// Package nodestate says how an existing node will stand once it is ready for pods. Its input
// is a Node, its NodeClaim and the catalog of its pool; its output the labels, taints and room
// that the node will have. It holds that a NodeClaim without an instance is given no more room
// than each instance type that it may become has, and no less capacity than any.
package nodestate
