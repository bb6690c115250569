// Package podkey writes parts of a pod's spec as bytes: two pods have equal parts if and only if
// their bytes are equal. With ten thousand pods, comparing bytes takes far less time than comparing
// the parts.
//
// The caller chooses which parts count.
package podkey
