package disruption

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// namespaces are those that affinity terms may be about.
func (w *world) namespaces() *podterm.Namespaces {
	return &podterm.Namespaces{Declared: w.in.Namespaces, Pods: func(yield func(*corev1.Pod) bool) {
		for _, p := range w.f.in.Pods { // also those that have found a place, or none
			if !yield(p) {
				return
			}
		}
		for _, m := range w.f.members {
			for _, p := range m.Node.Pods {
				if !yield(p) {
					return
				}
			}
		}
	}}
}

// defaultSpread are the topology spreads of pods that have none of their own, nil if
// there are none.
func (in *Input) defaultSpread(opts *provisioning.Options) *podterm.Defaults {
	if len(opts.DefaultSpread) == 0 {
		return nil
	}
	controllers := map[types.UID]*metav1.LabelSelector{}
	for _, c := range in.Controllers {
		controllers[c.UID] = c.Selector
	}
	return podterm.NewDefaults(opts.DefaultSpread, in.Services, controllers)
}
