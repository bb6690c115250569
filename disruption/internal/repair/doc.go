// Package repair evaluates the repair policies of a cloud for the conditions of a node: which
// action they ask for, since when, and how urgent it is.
package repair
