package main

import (
	"testing"

	"github.com/dovetail-sdk/dovetail/examples/internal/output"
)

// TestOutput holds what the program prints against the text that README.md shows.
func TestOutput(t *testing.T) { output.Check(t, main) }
