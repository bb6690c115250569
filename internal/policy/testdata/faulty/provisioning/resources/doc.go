// Package resources is without fault.
package resources
