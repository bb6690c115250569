package main // want comments: package examples/demo has no package comment

import (
	"os"

	// want+1 compile: could not import
	_ "example.com/faulty/internal/engine/broken" // want imports: examples/demo may not import internal/engine/broken
)

// Exported needs no comment in a program.
var state int

func main() {
	state++
	os.Exit(0)
}
