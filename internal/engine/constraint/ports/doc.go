// Package ports is the kind of host ports: no two pods of a node bind the same.
package ports
