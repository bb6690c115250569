package compile

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// Nominating returns the problem with other nominated nodes. Everything else is shared.
func (p *Problem) Nominating(places map[types.NamespacedName]string, f *model.Faults) *Problem {
	out := *p
	out.In.Nominated = places
	out.readNominated(f)
	return &out
}

// readNominated finds the pods that have a nominated node.
func (p *Problem) readNominated(f *model.Faults) {
	p.Nominated = nil
	if len(p.In.Nominated) == 0 {
		return
	}
	left := maps.Clone(p.In.Nominated)
	for podID, pod := range p.Pods {
		name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		node, found := left[name]
		if !found || p.Headroom[pod] {
			continue
		}
		delete(left, name)
		p.Nominated = append(p.Nominated, Nominated{int32(podID), node})
	}
	byName := func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }
	for _, pod := range slices.SortedFunc(maps.Keys(left), byName) {
		f.Add("Nominated", pod.String(), "is not among Pods: only a pod that waits can be tried on a node; leave it out")
	}
}

// Nominated is a pod and its nominated node.
type Nominated struct {
	PodID int32
	Node  string
}
