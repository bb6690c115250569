package verify_test

import "github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"

// scene is a scene with methods that change it.
type scene struct{ *scenes.Scene }

func newScene() *scene { return &scene{scenes.New()} }
