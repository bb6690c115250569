// Package verify uses what the solver has.
package verify
