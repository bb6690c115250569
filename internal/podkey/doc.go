// Package podkey writes what pods ask for as bytes, so that pods are alike exactly
// if their bytes are. Pods come by the ten thousand, and comparing bytes is far
// cheaper than evaluating each.
//
// It has the parts that are read the same wherever pods are told apart; which of them
// matter is for the caller to say.
package podkey
