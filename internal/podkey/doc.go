// Package podkey writes what pods ask for as bytes, so that pods are alike exactly
// if their bytes are. Pods come by the ten thousand, and comparing bytes is far
// cheaper than evaluating each.
//
// It has the parts that all packages which distinguish pods read in the same way; which of them
// matter is for the caller to say.
package podkey
