// Package repair says what the conditions of a node ask for by the repair policies of a
// cloud: which action, since when, and how urgent it is.
package repair
