// Package search is without fault.
package search
