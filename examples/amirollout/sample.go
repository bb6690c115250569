package main

import _ "embed"

// The sample.
var (
	//go:embed sample/class.yaml
	sampleClass string
	//go:embed sample/images.json
	sampleImages string
	//go:embed sample/nodes.yaml
	sampleNodes string
)

// The environment of the sample: a Friday afternoon, so that the rollout meets
// the budgets of the night and of the weekend.
const (
	sampleNow        = "2024-09-06T15:00:00Z"
	sampleKubernetes = "1.31"
	sampleAccount    = "111122223333"
)
