package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// askVersionEvery is the largest age of the known version of the API server: a cluster may be
// upgraded while this program runs.
const askVersionEvery = time.Minute

// versions returns the version of the API server, as a discovery client does.
type versions interface {
	ServerVersion() (*version.Info, error)
}

// askVersion asks the API server for its version. kube-scheduler has the same version, except during
// an upgrade. If the engine does not know the version, plans are valid in all versions that it knows.
func (a *autoscaler) askVersion(_ context.Context, s *snapshot) error {
	if a.versions == nil || s.Now.Before(a.nextVersion) {
		return nil
	}
	a.nextVersion = s.Now.Add(askVersionEvery)
	info, err := a.versions.ServerVersion()
	if err != nil {
		return err
	}
	asked := provisioning.Options{Kubernetes: info.GitVersion}
	if err := asked.Validate(); err != nil {
		a.kubernetes = ""
		return fmt.Errorf("the version of the API server: %w", err)
	}
	if a.kubernetes != info.GitVersion {
		a.log.Info("version of the API server", "kubernetes", info.GitVersion)
	}
	a.kubernetes = info.GitVersion
	return nil
}

// options returns the options of all plans.
func (a *autoscaler) options() *disruption.Options {
	return &disruption.Options{Provisioning: a.planOptions(), Consolidation: a.consolidation, IgnorePodDeletionCost: true} // steer writes that cost
}

func (a *autoscaler) planOptions() *provisioning.Options {
	return &provisioning.Options{Kubernetes: a.kubernetes}
}
