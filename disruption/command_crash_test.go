package disruption_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// join is what happens between the steps of a command, one thing at a time: machines
// are launched and join, Nodes register and become ready, what is being deleted goes.
// It reports whether anything did.
func (c *cluster) join(t *testing.T) bool {
	for _, name := range slices.Sorted(maps.Keys(c.claims)) {
		claim := c.claims[name]
		switch {
		case claim.DeletionTimestamp != nil && slices.Contains(claim.Finalizers, v1.TerminationFinalizer):
			for _, n := range c.nodes {
				if n.Spec.ProviderID == claim.Status.ProviderID {
					delete(c.nodes, n.Name)
				}
			}
			claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == v1.TerminationFinalizer })
			if len(claim.Finalizers) == 0 {
				delete(c.claims, name)
			}
		case claim.DeletionTimestamp != nil && len(claim.Finalizers) == 0:
			delete(c.claims, name)
		case claim.DeletionTimestamp != nil || isSet(claim, v1.ConditionTypeInitialized):
			continue
		case claim.Status.ProviderID == "":
			machine := &cloudprovider.Instance{ID: "cloud://" + name}
			c.claims[name] = nodeclaim.Launched(nil).EditClaim(c.now, claim, machine)
			c.nodes["node-"+name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name},
				Spec: corev1.NodeSpec{ProviderID: machine.ID, Taints: []corev1.Taint{v1.UnregisteredNoExecuteTaint()}},
				Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
					Allocatable: claim.Spec.Resources.Requests, Capacity: claim.Spec.Resources.Requests}}
		case !isSet(claim, v1.ConditionTypeRegistered):
			var nodes []*corev1.Node
			for _, n := range c.nodes {
				nodes = append(nodes, n)
			}
			r := nodeclaim.Register(claim, nodes)
			require.NotNil(t, r.Node)
			c.nodes[r.Node.Name], c.claims[name] = r.Node, r.EditClaim(c.now, claim)
		default:
			node := c.nodes[claim.Status.NodeName]
			i := nodeclaim.Initialize(claim, node, nil)
			require.Equal(t, metav1.ConditionTrue, i.Status, i.Message)
			c.nodes[node.Name], c.claims[name] = i.EditNode(node), i.EditClaim(c.now, claim)
		}
		return true
	}
	return false
}

func isSet(claim *v1.NodeClaim, condition string) bool {
	return slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == condition && c.Status == metav1.ConditionTrue
	})
}

// Turns of a life that are none.
const (
	never  = -1
	always = 1000
)

func jsonOf(t *testing.T, objects ...any) string {
	text, err := json.MarshalIndent(objects, "", " ")
	require.NoError(t, err)
	return string(text)
}

// live goes through the whole life of a command, one request or event at a time. The
// program that carries it out dies before the given one, and another that knows only
// the objects goes on. It returns how many there were.
func (c *cluster) live(t *testing.T, a command.Prepared, dies int) (turns int) {
	steps, err := command.Start(a.Command, c.view())
	require.NoError(t, err)
	c.do(t, a, steps[:1])
	for turns = 0; ; turns++ {
		require.Less(t, turns, 200, "the command does not end: %v", c.log)
		recovery := command.Recover(c.view())
		require.Empty(t, recovery.Faults, "after %v", c.log)
		require.Empty(t, recovery.Writes, "after %v", c.log)
		if dies == turns || dies == always {
			if len(recovery.Commands) == 0 {
				return turns
			}
			require.Equal(t, []command.Command{a.Command}, recovery.Commands)
			a = command.Prepared{Command: recovery.Commands[0]}
		}
		p := command.Advance(c.now, a.Command, c.view())
		require.Empty(t, p.Failure, "after %v", c.log)
		switch {
		case p.State == command.Finished:
			return turns
		case len(p.Writes) > 0:
			c.do(t, a, p.Writes[:1])
		case !c.join(t):
			c.now = c.now.Add(time.Second)
		}
	}
}

// A command comes to the same end whenever the program dies that carries it out: what
// it launches is in its record. Nothing of it is left on any object, neither in the
// life of a replacement, from its launch to its Node, nor afterwards.
func TestACommandSurvivesACrashAtAnyPoint(t *testing.T) {
	in := roomyInput()
	proposal := propose(t, in, nil)
	require.Len(t, proposal.Actions, 1)
	replaceFirst, err := observe(t, in, nil).Command(proposal.Actions[0])
	require.NoError(t, err)
	spec := command.Spec{Reason: "Drifted", Mode: command.TerminateFirst,
		Sources: replaceFirst.Command.Sources, NodePools: []string{"web", "web"}}
	for range spec.NodePools {
		spec.Claims = append(spec.Claims, proposal.Actions[0].Replacements[0].NodeClaim())
	}
	terminateFirst, err := command.New(noon, spec)
	require.NoError(t, err)

	for _, test := range []struct {
		name    string
		command command.Prepared
	}{
		{"replace first", replaceFirst},
		{"terminate first", command.Prepared{Command: terminateFirst, Claims: terminateFirst.Claims()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := newCluster(in)
			turns := want.live(t, test.command, never)
			require.NotContains(t, want.claims, "big-claim")
			for _, r := range test.command.Command.Replacements {
				require.Contains(t, want.claims, r.Token)
				node := want.nodes["node-"+r.Token]
				require.Equal(t, "true", node.Labels[v1.NodeInitializedLabelKey])
				require.Equal(t, want.claims[r.Token].Annotations, node.Annotations, "but for what registration leaves out")
				require.NotContains(t, node.Annotations, command.AnnotationKey)
			}
			for dies := range turns + 1 {
				if dies == turns {
					dies = always
				}
				got := newCluster(in)
				got.live(t, test.command, dies)
				require.Equal(t, jsonOf(t, want.claims, want.nodes), jsonOf(t, got.claims, got.nodes), "dies before turn %d", dies)
			}
		})
	}
}
