//go:build race

package main

// raceDetector makes everything some ten times slower.
const raceDetector = true
