package main

import _ "embed"

// sample is the cluster that is planned for if no manifests are given.
//
//go:embed sample.yaml
var sample []byte
