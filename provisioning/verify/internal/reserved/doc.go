// Package reserved counts what new nodes draw on capacity reservations. Its input are the
// reservations that the options of each node name, and the instances that each reservation has
// left; its output what is wrong. It holds that a node that names nothing but reservations is
// sure of an instance, whoever comes first.
package reserved
