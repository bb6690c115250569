package main

import _ "embed"

// sample is the cluster that is looked at when no file is named.
//
//go:embed sample.yaml
var sample []byte

// sampleNow is when the sample was taken.
const sampleNow = "2026-03-02T12:00:00Z"
