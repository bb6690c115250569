package provisioning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// manifests are objects as anybody may write them.
type manifests struct {
	Pools      []*v1.NodePool
	Pods       []*corev1.Pod
	Daemons    []*corev1.Pod
	Nodes      []manifestNode
	BestEffort bool
}

type manifestNode struct {
	Node  *corev1.Node
	Claim *v1.NodeClaim
	Pods  []*corev1.Pod
}

// input puts the objects beside a sound catalog. It takes a few of each, so
// that a run stays short.
func (m *manifests) input() provisioning.Input {
	vast := scenes.Type("vast", "cpu=64, memory=512Gi, pods=1000", 9, "linux")
	vast.Capacity = vast.Capacity.With(corev1.ResourceMemory, math.MaxInt64).With("example.com/gpu", math.MaxInt64)
	small := scenes.Type("small", "cpu=2, memory=4Gi, pods=8, ephemeral-storage=20Gi", 0.10, "linux")
	open := scenes.Type("open", "cpu=4, memory=8Gi, pods=29", 0.20, "linux", "windows").Clone()
	open.Requirements = open.Requirements.Without(corev1.LabelWindowsBuild)
	open.Offerings[0].Requirements = requirements.MustParse("example.com/rack in (r1, r2)")
	in := provisioning.Input{
		NodePools:     m.Pools[:min(len(m.Pools), 4)],
		Pods:          m.Pods[:min(len(m.Pods), 12)],
		DaemonSetPods: m.Daemons[:min(len(m.Daemons), 3)],
		InstanceTypes: map[string][]*cloudprovider.InstanceType{},
	}
	for _, pool := range in.NodePools {
		if pool != nil {
			in.InstanceTypes[pool.Name] = []*cloudprovider.InstanceType{small, vast, open}
		}
	}
	for _, n := range m.Nodes[:min(len(m.Nodes), 4)] {
		in.Nodes = append(in.Nodes, provisioning.Node{Node: n.Node, NodeClaim: n.Claim, Pods: n.Pods[:min(len(n.Pods), 4)]})
	}
	return in
}

// FuzzSolve reads objects from any JSON. Either the input is refused for stated
// faults, or there is a plan that the referee accepts.
func FuzzSolve(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"Pools":[null],"Pods":[null],"Daemons":[null],"Nodes":[{},{"Pods":[null]}]}`,
		`{"Pools":[{"metadata":{"name":"p"}}],"Pods":[{"metadata":{"name":"a"},"spec":{"containers":[{"resources":{"requests":{"memory":"9223372036854775807","example.com/gpu":"9223372036854775807"}}}]}},
			{"metadata":{"name":"b"},"spec":{"containers":[{"resources":{"requests":{"memory":"4e18"}}}]}}]}`,
		`{"Pools":[{"metadata":{"name":"p"},"spec":{"limits":{"cpu":"1e18","nodes":"1"},"template":{"spec":{"requirements":[
			{"key":"team","operator":"Exists","minValues":50},{"key":"example.com/rack","operator":"NotIn","values":["r1"]}]}}}}],
			"Pods":[{"metadata":{"name":"a"},"spec":{"nodeSelector":{"team":"","kubernetes.io/hostname":"a new node"}}}]}`,
		`{"Pools":[{"metadata":{"name":"p"},"spec":{"weight":5,"template":{"metadata":{"labels":{"team":"red"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}}},
			{"metadata":{"name":"q"},"spec":{"replicas":1}}],
			"Pods":[{"metadata":{"name":"a"},"spec":{"tolerations":[{"operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
			{"matchExpressions":[{"key":"team","operator":"In","values":["red"]},{"key":"kubernetes.io/os","operator":"NotIn","values":["windows"]}]},
			{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}}}},{"metadata":{"name":"b"},"spec":{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]}}],
			"Daemons":[{"metadata":{"name":"d"},"spec":{"containers":[{"resources":{"requests":{"cpu":"100m"}}}]}}],
			"Nodes":[{"Node":{"metadata":{"name":"n","labels":{"kubernetes.io/arch":"amd64"}},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
			"Pods":[{"metadata":{"name":"e"},"spec":{"nodeName":"n","overhead":{"cpu":"1"}}}]},
			{"Claim":{"metadata":{"name":"c","labels":{"karpenter.sh/nodepool":"p"}},"spec":{"requirements":[{"key":"team","operator":"Exists"}]}}}],"BestEffort":true}`,
		`{"Pools":[{"metadata":{"name":"p"}}],"Pods":[
			{"metadata":{"name":"a","labels":{"app":"x"}},"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}},"minDomains":2,"nodeTaintsPolicy":"Honor"}]}},
			{"metadata":{"name":"b","labels":{"app":"x"}},"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchExpressions":[{"key":"app","operator":"Exists"}]},"namespaceSelector":{}}]}}}},
			{"metadata":{"name":"c","labels":{"app":"y"}},"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"example.com/rack","labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["app"]}]}}}},
			{"metadata":{"name":"d"},"spec":{"priority":7,"containers":[{"ports":[{"hostPort":80}]}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"gone"}}]}}],
			"Nodes":[{"Node":{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"a"}},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
			"Pods":[{"metadata":{"name":"e","labels":{"app":"x"}},"spec":{"nodeName":"n","containers":[{"ports":[{"hostPort":80,"hostIP":"10.0.0.1","protocol":"UDP"}]}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{}}]}}}}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m manifests
		if json.Unmarshal(data, &m) != nil {
			return
		}
		opts := &provisioning.Options{MaxSteps: 500}
		if m.BestEffort {
			opts.MinValues = provisioning.BestEffort
		}
		checkPlan(t, m.input(), opts)
	})
}

// FuzzRichProblem draws problems of any mix of features. Who is overlooked is
// for TestLawPlans.
func FuzzRichProblem(f *testing.F) {
	f.Add(uint64(1), uint(0), 0)
	f.Add(uint64(2), uint(randproblem.All&^randproblem.Affinity), 1)
	f.Add(uint64(3), uint(randproblem.Volumes|randproblem.Buffers), 50)
	f.Add(uint64(4), uint(0), -1)
	f.Fuzz(func(t *testing.T, seed uint64, without uint, maxSteps int) {
		in, opts := richProblem(seed, randproblem.Config{Without: randproblem.Feature(without)})
		opts.MaxSteps, opts.Quick = max(0, maxSteps), maxSteps < 0
		where := fmt.Sprintf("seed %d, without %b, %d steps", seed, without, maxSteps)
		if plan := checkSolve(t, in, opts, where); plan != nil {
			require.Empty(t, verify.Plan(in, plan, opts), where)
			verify.Unplaced(in, plan, opts)
		}
	})
}

// checkPlan holds what is solved against the referee. Who is overlooked for the
// sake of rules between pods is for the laws, which count them.
func checkPlan(t *testing.T, in provisioning.Input, opts *provisioning.Options, where ...any) {
	t.Helper()
	plan := checkSolve(t, in, opts, where...)
	if plan == nil {
		return
	}
	require.Empty(t, verify.Plan(in, plan, opts), where...)
	overlooked := verify.Unplaced(in, plan, opts)
	if !slices.ContainsFunc(scenes.EveryPod(in), scenes.Picky) {
		require.Empty(t, overlooked, where...)
	}
}

// checkSolve asks for faults, or for a plan whose texts are in order, which it
// returns. where is a format and arguments for failures.
func checkSolve(t *testing.T, in provisioning.Input, opts *provisioning.Options, where ...any) *provisioning.Plan {
	t.Helper()
	problem, err := provisioning.Prepare(in, opts)
	if err != nil {
		require.NotEmpty(t, provisioning.Faults(err), where...)
		for _, fault := range provisioning.Faults(err) {
			require.NotEmpty(t, fault.Object, where...)
			require.NotContains(t, fault.Error(), "%!", where...)
		}
		return nil
	}
	plan, err := problem.Solve(context.Background())
	require.NoError(t, err, where...)
	for i := range plan.Create {
		plan.Create[i].NodeClaim()
		plan.Create[i].Request("token")
	}
	for _, u := range plan.Unplaced {
		require.NotEmpty(t, u.Explanation.String(), where...)
		require.NotContains(t, u.Explanation.String(), "\n", where...)
		require.NotContains(t, u.Explanation.String(), "%!", where...)
	}
	return plan
}
