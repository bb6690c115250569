package static

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Pools returns the state of each static pool, sorted by name. It reports negative replicas. It
// ignores a limit that cannot be read, because SetLimits reports it.
func Pools(pools []catalog.Pool, nodes []model.Node, v *requirements.Vocabulary, f *model.Faults) []Pool {
	if !slices.ContainsFunc(pools, func(p catalog.Pool) bool { return p.Object.Spec.Replicas != nil }) {
		return nil
	}
	of := map[string][]model.Node{}
	for _, n := range nodes {
		if name := n.PoolName(); name != "" {
			of[name] = append(of[name], n)
		}
	}
	var out []Pool
	for i := range pools {
		p := &pools[i]
		switch replicas := p.Object.Spec.Replicas; {
		case replicas == nil:
		case *replicas < 0:
			f.Add(catalog.PoolObject(p.Object), "spec.replicas", "is %d; use zero or more", *replicas)
		default:
			out = append(out, newPool(p, of[p.Object.Name], v))
		}
	}
	slices.SortFunc(out, func(a, b Pool) int { return strings.Compare(a.Pool.Name, b.Pool.Name) })
	return out
}

func newPool(p *catalog.Pool, nodes []model.Node, v *requirements.Vocabulary) Pool {
	s := Pool{Pool: p.Object}
	// Label requirements of a node must not include these before it has started.
	s.Requirements = p.Template.Without(v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey)
	var active []model.Node
	for _, n := range nodes {
		switch {
		case n.Leaving():
			s.Deleting++
		case pendingDisruption(n):
			s.PendingDisruption++
		default:
			active = append(active, n)
		}
	}
	s.Active = len(active)
	replicas := *p.Object.Spec.Replicas
	if excess := int64(s.Active) - replicas; excess > 0 {
		s.Excess = int(excess)
		s.Remove = removalOrder(active)[:s.Excess]
	}
	if short := replicas - int64(s.Active) - int64(s.PendingDisruption); short > 0 {
		s.launch(short)
	}
	if s.Missing > 0 {
		sound := slices.DeleteFunc(slices.Clone(p.Types), func(t *cloudprovider.InstanceType) bool { return t == nil })
		if s.Options = launch.Compatible(sound, s.Requirements); len(s.Options) == 0 && len(sound) > 0 {
			s.Held, s.HeldBack, s.Missing = soldOut(sound, s.Requirements), s.HeldBack+s.Missing, 0
		}
	}
	named := func(key string) bool { return catalog.Named(key, s.Options) }
	s.Labels = catalog.NodeLabels(p, s.Requirements, named, v)
	return s
}

// Pool is the state of a NodePool with spec.replicas. It is provisioning.StaticPool, whose comments
// describe the fields.
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
	Pods                                [][]*corev1.Pod // by new node: its pods under the plan; nil until the plan is published
	Options                             []cloudprovider.LaunchOption
}
