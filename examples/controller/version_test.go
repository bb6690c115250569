package main

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dovetail-sdk/dovetail/disruption/fleet"
)

// saying is an API server of a version, or one that cannot be reached.
type saying struct {
	text string
	err  error
}

func (s *saying) ServerVersion() (*version.Info, error) {
	return &version.Info{GitVersion: s.text}, s.err
}

// Plans are for the version of the API server, which changes in an upgrade.
func TestVersionOfTheAPIServer(t *testing.T) {
	api := &saying{}
	a := &autoscaler{versions: api, log: slog.New(slog.DiscardHandler)}
	now := time.Unix(1_000_000, 0)
	for _, step := range []struct {
		what  string
		after time.Duration
		saying
		want string
		fail bool
	}{
		{"at first", 0, saying{text: "v1.36.3-eks-1a2b3c4"}, "v1.36.3-eks-1a2b3c4", false},
		{"asked a second ago", time.Second, saying{text: "v1.37.2"}, "v1.36.3-eks-1a2b3c4", false},
		{"after an upgrade", askVersionEvery, saying{text: "v1.37.2"}, "v1.37.2", false},
		{"while it cannot be reached", askVersionEvery, saying{err: errors.New("no route to host")}, "v1.37.2", true},
		{"a version that the engine does not know", askVersionEvery, saying{text: "v1.99.0"}, "", true},
	} {
		*api, now = step.saying, now.Add(step.after)
		err := a.askVersion(t.Context(), &snapshot{Fleet: &fleet.Fleet{Now: now}})
		require.Equal(t, step.fail, err != nil, "%s: %v", step.what, err)
		require.Equal(t, step.want, a.options().Provisioning.Kubernetes, step.what)
	}
}
