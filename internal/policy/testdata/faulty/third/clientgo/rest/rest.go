// Package rest stands in for a client.
package rest
