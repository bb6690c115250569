// Package resources has more than can be taken in.
package resources // want large: 41 exported, at most 40
