// Package when has what the scripts of the clouds in memory share: conditions
// on calls, which can be combined, used again, and count.
//
// What a call is, and which conditions there are on it, is for each cloud to say;
// so is the exported type, whose only field is a Condition.
package when
