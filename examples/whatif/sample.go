package main

import _ "embed"

// sample is the cluster that is planned when no file is named: a small shop
// with two nodes, a flash sale ahead, and one pod that fits nowhere.
//
//go:embed sample.yaml
var sample []byte
