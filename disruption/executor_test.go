package disruption_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// cluster is the objects of an API server, on which steps are carried out.
type cluster struct {
	now    time.Time
	claims map[string]*v1.NodeClaim
	nodes  map[string]*corev1.Node
	pods   map[string]int // by claim
	log    []string
}

func newCluster(in disruption.Input) *cluster {
	c := &cluster{now: noon, claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}, pods: map[string]int{}}
	for _, n := range in.Nodes {
		if n.NodeClaim != nil {
			claim := n.NodeClaim.DeepCopy()
			claim.Finalizers = []string{v1.TerminationFinalizer}
			c.claims[claim.Name] = claim
			c.pods[claim.Name] = len(n.Pods)
		}
		if n.Node != nil {
			node := n.Node.DeepCopy()
			c.nodes[node.Name] = node
		}
	}
	return c
}

func (c *cluster) view() command.Input {
	var v command.Input
	for _, claim := range c.claims {
		var node *corev1.Node
		for _, n := range c.nodes {
			if n.Spec.ProviderID == claim.Status.ProviderID {
				node = n
			}
		}
		v.Claims = append(v.Claims, command.ObserveClaim(claim, node, c.pods[claim.Name]))
	}
	for _, n := range c.nodes {
		v.Nodes = append(v.Nodes, command.ObserveNode(n))
	}
	return v
}

// do carries out steps on objects.
func (c *cluster) do(t *testing.T, a command.Prepared, steps []command.Write) {
	t.Helper()
	for _, s := range steps {
		c.log = append(c.log, string(s.Kind))
		switch {
		case s.Kind == command.WriteCreate:
			claim := a.Claim(c.now, s)
			require.NotNil(t, claim)
			require.NotContains(t, c.claims, claim.Name)
			claim.Finalizers = []string{v1.TerminationFinalizer}
			c.claims[claim.Name] = claim
		case s.Kind == command.WriteDelete:
			deleted := metav1.NewTime(c.now)
			c.claims[s.Object].DeletionTimestamp = &deleted
		case s.OnNode():
			c.nodes[s.Object] = s.EditNode(c.nodes[s.Object])
		default:
			c.claims[s.Object] = s.EditClaim(c.now, c.claims[s.Object])
		}
	}
}

// happen is what the cloud and kubelets do meanwhile.
func (c *cluster) happen() {
	for name, claim := range c.claims {
		switch {
		case claim.DeletionTimestamp != nil:
			for _, n := range c.nodes {
				if n.Spec.ProviderID == claim.Status.ProviderID {
					delete(c.nodes, n.Name)
				}
			}
			delete(c.claims, name)
		default:
			setCondition(claim, v1.ConditionTypeInitialized, metav1.ConditionTrue, c.now)
		}
	}
}

// carryOut has a command go through to its end, and says which steps it took.
func (c *cluster) carryOut(t *testing.T, a command.Prepared) string {
	t.Helper()
	c.log = nil
	steps, err := command.Start(a.Command, c.view())
	require.NoError(t, err)
	for range 40 {
		c.do(t, a, steps)
		p := command.Advance(c.now, a.Command, c.view())
		require.Empty(t, p.Failure)
		if p.State == command.Finished {
			return strings.Join(c.log, " ")
		}
		if steps = p.Writes; len(steps) == 0 {
			c.happen()
			c.now = c.now.Add(time.Second)
		}
	}
	t.Fatal("the command does not end")
	return ""
}

// A node is replaced by one that the search found: its NodeClaim is launched
// under the name that the command has for it, and asks for what its pods need.
func TestAReplacementIsCarriedOut(t *testing.T) {
	in := roomyInput()
	proposal := propose(t, in, nil)
	require.Len(t, proposal.Actions, 1)
	made, err := observe(t, in, nil).Command(proposal.Actions[0])
	require.NoError(t, err)
	require.Len(t, made.Claims, 1)
	token := made.Command.Replacements[0].Token
	require.Equal(t, token, made.Claims[0].Name)
	require.Equal(t, "1500m", made.Claims[0].Spec.Resources.Requests.Cpu().String())
	require.Equal(t, token, proposal.Actions[0].Replacements[0].Request(token).Token)

	c := newCluster(in)
	require.Equal(t, "record reason taint create delete release", c.carryOut(t, made))
	require.Contains(t, c.claims, token)
	require.NotContains(t, c.claims, "big-claim")
	require.Contains(t, c.nodes, "full")
	require.NotContains(t, c.nodes, "big")
	require.Empty(t, c.claims[token].Annotations[command.AnnotationKey])
}

// From a proposal to the last step, for each kind of action.
func TestActionsAreCarriedOut(t *testing.T) {
	static := func(limit int64, edits ...func(*provisioning.Node)) disruption.Input {
		in := newInput(newNode("old", "web", append(edits, withCondition(v1.ConditionTypeDrifted, metav1.ConditionTrue, -time.Hour))...))
		in.NodePools = nil
		in.NodePools = append(in.NodePools, newPool("web", replicas(1, limit)))
		in.NodePools[0].Spec.Template.Labels = map[string]string{"team": "shop"}
		in.Nodes[0].NodeClaim.Annotations[v1.NodePoolHashAnnotationKey] = "before"
		in.Nodes[0].NodeClaim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
		return in
	}
	for _, test := range []struct {
		name  string
		in    disruption.Input
		steps string
		left  int
	}{
		{"an empty node", newInput(newNode("old", "web")), "record reason taint delete", 0},
		{"a drifted node of a static pool", static(2, withPods(newPod("a"))),
			"record reason taint create delete release", 1},
		{"one at its limit", static(1, withPods(newPod("a"))), "record reason taint bound delete", 0},
		{"one at its limit, with a bound of its own", static(1, withPods(newPod("a")), withGrace(time.Minute)),
			"record reason taint delete", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts := &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}}
			proposal := propose(t, test.in, opts)
			require.Len(t, proposal.Actions, 1)
			made, err := observe(t, test.in, opts).Command(proposal.Actions[0])
			require.NoError(t, err)
			require.Equal(t, "old-claim", made.Command.Sources[0].NodeClaim)
			require.EqualValues(t, "old-uid", made.Command.Sources[0].ClaimUID)
			require.Equal(t, "old", made.Command.Sources[0].Node)
			require.EqualValues(t, proposal.Actions[0].Reason, made.Command.Reason)

			c := newCluster(test.in)
			require.Equal(t, test.steps, c.carryOut(t, made))
			require.Len(t, c.claims, test.left)
			for name, claim := range c.claims {
				require.Equal(t, made.Command.Replacements[0].Token, name)
				require.NotContains(t, claim.Annotations, command.AnnotationKey)
				require.Equal(t, "web", claim.Labels[v1.NodePoolLabelKey])
				require.Equal(t, "shop", claim.Labels["team"])
				require.Equal(t, test.in.NodePools[0].Hash(), claim.Annotations[v1.NodePoolHashAnnotationKey])
			}
			require.Empty(t, c.nodes)
		})
	}
}

func TestCommandOfAnAction(t *testing.T) {
	in := newInput(newNode("a", "web", withGrace(time.Hour)), newNode("b", "web"), newNode("bare", "web"))
	in.Nodes[2].NodeClaim = nil
	in.MarkedForDeletion = map[string]disruption.Reason{"b": disruption.Drifted}
	f := observe(t, in, nil)
	target := func(node string) disruption.Target {
		return disruption.Target{Node: node, NodeClaim: node + "-claim", NodePool: "web", ProviderID: "cloud://" + node}
	}
	minute := time.Minute
	action := disruption.Action{Reason: disruption.Expired, Operation: disruption.Delete, Targets: []disruption.Target{target("b"), target("a")},
		DrainBound: &minute, DrainBy: noon.Add(30*time.Second + 5)}
	got, err := f.Command(action)
	require.NoError(t, err)
	require.Equal(t, []command.Source{
		{NodeClaim: "a-claim", ClaimUID: "a-uid", Node: "a", Drain: &minute, DrainBy: noon.Add(30 * time.Second), Bounded: true},
		{NodeClaim: "b-claim", ClaimUID: "b-uid", Node: "b", Drain: &minute, DrainBy: noon.Add(30 * time.Second)},
	}, got.Command.Sources)
	require.Equal(t, command.ReplaceFirst, got.Command.Mode)
	require.Equal(t, noon.Add(10*time.Minute), got.Command.Deadline)
	require.Nil(t, got.Claim(noon, command.Write{Kind: command.WriteCreate, Object: "other"}))
	require.Nil(t, got.Claim(noon, command.Write{Kind: command.WriteDelete, Object: "a-claim"}))
	again, err := command.ParseRecord(command.Record{Command: got.Command}.String())
	require.NoError(t, err)
	require.Equal(t, got.Command, again.Command, "the record has all of it")

	// The earlier of the two ends of the drain holds when the node is deleted.
	c := newCluster(in)
	c.carryOutUntil(t, got, command.WriteDelete)
	require.Equal(t, "2026-03-02T12:00:30Z", c.claims["a-claim"].Annotations[v1.NodeClaimTerminationTimestampAnnotationKey])

	for _, test := range []struct {
		edit func(*disruption.Action)
		want string
	}{
		{func(a *disruption.Action) { a.Operation = disruption.Reboot }, `operation "Reboot" is not carried out by a command`},
		{func(a *disruption.Action) { a.Operation = disruption.Replace }, `what is to replace it is not known`},
		{func(a *disruption.Action) { a.Targets[0].ProviderID = "cloud://other" }, `node "b" is not there any more`},
		{func(a *disruption.Action) { a.Targets[0] = disruption.Target{Node: "bare"} }, `node "bare" has no NodeClaim`},
		{func(a *disruption.Action) { a.Targets = nil }, "it names no node"},
		{func(a *disruption.Action) { a.Targets[1] = a.Targets[0] }, "is listed twice"},
	} {
		bad := action
		bad.Targets = slices.Clone(action.Targets)
		test.edit(&bad)
		_, err := f.Command(bad)
		require.ErrorContains(t, err, test.want)
	}
}

// carryOutUntil has a command go on until a step of a kind is next.
func (c *cluster) carryOutUntil(t *testing.T, a command.Prepared, kind command.WriteKind) {
	t.Helper()
	steps, err := command.Start(a.Command, c.view())
	require.NoError(t, err)
	for !slices.ContainsFunc(steps, func(s command.Write) bool { return s.Kind == kind }) {
		require.NotEmpty(t, steps)
		c.do(t, a, steps)
		steps = command.Advance(c.now, a.Command, c.view()).Writes
	}
}

func ExampleCluster_Command() {
	in := newInput(newNode("ip-10-0-0-1", "web"))
	fleet, err := disruption.Observe(noon, in, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	action := fleet.Emptiness().Actions[0]
	made, err := fleet.Command(action)
	if err != nil {
		fmt.Println(err)
		return
	}
	var view command.Input
	for _, n := range in.Nodes {
		view.Claims = append(view.Claims, command.ObserveClaim(n.NodeClaim, n.Node, 0))
		view.Nodes = append(view.Nodes, command.ObserveNode(n.Node))
	}
	steps, err := command.Start(made.Command, view)
	fmt.Println(action)
	fmt.Println(steps, err)
	// Output:
	// Delete ip-10-0-0-1 (Empty): no pod on it needs another place
	// [record nodeclaim/ip-10-0-0-1-claim: takes part in command 4a00fd52ca42] <nil>
}

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
