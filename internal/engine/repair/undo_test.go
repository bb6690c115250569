package repair

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// TestRewindTakesEverythingBack: whatever a trial does, after Rewind every bin and every count is
// what it was at the mark, to the byte; and counts are those of a ledger that counts anew.
func TestRewindTakesEverythingBack(t *testing.T) {
	t.Parallel()
	did := map[string]int{}
	for seed := range uint64(40) {
		st := mixedState(t)
		r := st.newSearch(nil, 1<<30)
		r.dice = chance.New(seed, 1)
		r.read()
		r.homes, r.tiers, r.many = map[int32]*ledger.Bin{}, map[int32]int{}, map[int]int{}
		for range 25 {
			r.ledger.Mark()
			r.askHosts()
			before := r.standing()
			for range 1 + r.below(12) {
				did[r.step()]++
			}
			if r.below(3) == 0 {
				continue // it is kept: the next mark takes the place of this one
			}
			r.ledger.Rewind()
			require.Equal(t, before, r.standing(), "seed %d", seed)
		}
		bins := slices.Clone(r.ledger.Bins)
		counted := r.counts()
		r.ledger = ledger.New(st.p, slices.DeleteFunc(bins, func(s *ledger.Bin) bool { return s.Shut }))
		r.askHosts()
		require.Equal(t, r.counts(), counted, "seed %d: counts are those of a recount", seed)
	}
	for _, step := range []string{"placed", "opened", "removed", "vacated"} {
		require.Positive(t, did[step], step)
	}
}

// askHosts asks about all constraints over the name of the node, which are counted from then on.
func (r *search) askHosts() {
	for c := range r.p.Classes {
		r.ledger.HostsOf(c)
	}
}

// step does something to the plan, and says what.
func (r *search) step() string {
	podID := int32(r.below(len(r.p.Pods)))
	c := r.p.ClassOf[podID]
	r.tier, r.budget = 0, 1e9
	on := slices.IndexFunc(r.ledger.Bins, func(s *ledger.Bin) bool { return slices.Contains(s.PodIDs, podID) })
	switch {
	case on >= 0 && r.below(4) == 0:
		s := r.ledger.Bins[on]
		r.on = make([]*ledger.Bin, len(r.p.Pods))
		for _, id := range s.PodIDs {
			r.on[id] = s
		}
		r.vacate(slices.Clone(s.PodIDs))
		return "vacated"
	case on >= 0:
		if s := r.ledger.Bins[on]; s.Node >= 0 || len(s.PodIDs) > 1 {
			r.remove(podID, s)
			return "removed"
		}
		return "left alone"
	}
	if r.below(3) > 0 {
		if to, as := r.roomFor(c, 0, nil, 1e9); to != nil {
			r.put(podID, to, as)
			return "placed"
		}
	}
	if s := r.fresh(c, 1e9); s != nil {
		r.open(s)
		r.put(podID, s, nil)
		return "opened"
	}
	return "refused"
}

// standing returns all that a trial may change, as a text.
func (r *search) standing() string {
	out := ""
	for _, s := range r.ledger.Bins {
		name := 0
		if s.BinType != nil {
			name = s.BinType.Id
		}
		out += fmt.Sprintln(s.Number, s.Node, name, s.At, s.Free, s.Taken, s.Attached, s.Apart, s.Pods, s.PodIDs, s.Late, s.Shut)
	}
	return out + r.nodes() + fmt.Sprintf("%+v\n%v\n%+v\n%v", r.ledger.Counts, r.ledger.There, r.ledger.Hosts, r.ledger.Relied)
}

// nodes returns what the topology spreads count of nodes.
func (r *search) nodes() (out string) {
	for i := range r.p.Rules.Domain {
		if rule := &r.p.Rules.Domain[i]; rule.Kind == topology.Spread && rule.Key >= 0 {
			_, least, has := r.ledger.Spread(i)
			out += fmt.Sprint(least, " ", r.ledger.Domains(i))
			for d := range rule.Members {
				out += fmt.Sprint(" ", has(d), r.ledger.Covers(i, d))
			}
		}
	}
	return out
}

// counts is what a recount has to come to.
func (r *search) counts() string {
	out := fmt.Sprintln(r.ledger.There, r.nodes())
	for i := range r.ledger.Counts {
		out += fmt.Sprintf("%+v\n", r.ledger.Counts[i])
	}
	return out
}

// mixedState returns a State without a plan, of two nodes and of pods with constraints of all kinds.
func mixedState(t *testing.T) *State {
	t.Helper()
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	in := model.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{}}
	for i, size := range []string{"cpu=4, memory=16Gi, pods=8", "cpu=8, memory=32Gi, pods=12"} {
		kind := &cloudprovider.InstanceType{
			Name: fmt.Sprint("type-", i), Capacity: resources.MustParse(size),
			Requirements: requirements.NewSet(
				requirements.In(corev1.LabelInstanceTypeStable, fmt.Sprint("type-", i)), requirements.In(corev1.LabelArchStable, "amd64"),
				requirements.In(corev1.LabelOSStable, "linux"), requirements.In(corev1.LabelTopologyZone, "a", "b", "c"),
				requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)),
		}
		for _, zone := range []string{"a", "b", "c"} {
			for _, capacity := range []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot} {
				kind.Offerings = append(kind.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: capacity, Price: 0.1 * float64(i+1), Available: true})
			}
		}
		in.InstanceTypes["pool"] = append(in.InstanceTypes["pool"], kind)
	}
	for _, zone := range []string{"a", "b"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + zone, Labels: map[string]string{
			corev1.LabelTopologyZone: zone, corev1.LabelHostname: "node-" + zone, v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}}}
		node.Status.Allocatable = resources.MustParse("cpu=4, memory=16Gi, pods=6").ResourceList()
		in.Nodes = append(in.Nodes, model.Node{Node: node})
	}
	for app := range 5 {
		for i := range 6 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("app-%d-%d", app, i), Namespace: "default", Labels: map[string]string{"app": fmt.Sprint(app)}}}
			pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: resources.MustParse("cpu=500m, memory=1Gi").ResourceList()}}}
			same := &metav1.LabelSelector{MatchLabels: pod.Labels}
			term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: same}
			spread := func(key string) corev1.TopologySpreadConstraint {
				return corev1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: same}
			}
			switch app {
			case 0:
				pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(corev1.LabelTopologyZone)}
			case 1:
				pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(v1.CapacityTypeLabelKey), spread(corev1.LabelHostname)}
			case 2:
				pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
			case 3:
				term.TopologyKey = corev1.LabelTopologyZone
				pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
			}
			in.Pods = append(in.Pods, pod)
		}
	}
	var f model.Faults
	p := compile.NewProblem(in, nil, model.Options{}, nil, nil, &f)
	require.NoError(t, f.Err())
	return New(p, attempt.New(p, attempt.Hints{}), 0)
}
