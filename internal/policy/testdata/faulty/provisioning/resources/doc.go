// Package resources has more than can be taken in.
package resources // want large: provisioning/resources: 41 exported, at most 40
