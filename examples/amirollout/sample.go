package main

import (
	_ "embed"

	"github.com/dovetail-sdk/dovetail/examples/internal/rolloutinput"
)

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

// files are what to read: the sample in the place of what is not given.
func (s *settings) files() rolloutinput.Files {
	return rolloutinput.Files{
		Manifest: rolloutinput.Text{Name: s.manifest, SampleName: "sample/class.yaml", Sample: sampleClass},
		Images:   rolloutinput.Text{Name: s.images, SampleName: "sample/images.json", Sample: sampleImages},
		Nodes:    rolloutinput.Text{Name: s.nodes, SampleName: "sample/nodes.yaml", Sample: sampleNodes},
		Class:    s.className,
	}
}
