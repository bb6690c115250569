package solve

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Offer is what a pool had to choose from.
type Offer struct {
	Template  requirements.Set
	Types     []*cloudprovider.InstanceType
	Limits    []corev1.ResourceName
	Options   []catalog.Option
	Resources []corev1.ResourceName // of the capacities of options
}
