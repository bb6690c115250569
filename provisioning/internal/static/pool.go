package static

import (
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Pool says how a NodePool with spec.replicas stands: a provisioning.StaticPool, which
// says what the fields mean.
type Pool struct {
	Pool                                *v1.NodePool
	Active, PendingDisruption, Deleting int
	Missing                             int
	HeldBack                            int
	Held                                string
	Excess                              int
	Remove                              []string
	Requirements                        requirements.Set
	Labels                              map[string]string
	Options                             []cloudprovider.LaunchOption
}
