package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption"
)

// lifeView has the nodes of a command, as they are before it starts.
func lifeView(c disruption.Command) (v disruption.CommandView) {
	for _, s := range c.Sources {
		v.Claims = append(v.Claims, disruption.CommandClaim{Name: s.NodeClaim, UID: s.ClaimUID, Initialized: true, Pods: 2})
		if s.Node != "" {
			v.Nodes = append(v.Nodes, disruption.CommandNode{Name: s.Node, UID: s.NodeUID})
		}
	}
	return v
}

// lifeRun carries steps out until nothing changes, and says what they were.
func lifeRun(c disruption.Command, v disruption.CommandView, now time.Time) (disruption.CommandView, disruption.CommandProgress, []string) {
	var log []string
	for {
		p := disruption.Advance(c, v, now)
		if len(p.Steps) == 0 {
			return v, p, log
		}
		for _, s := range p.Steps {
			v = v.Apply(s)
			log = append(log, fmt.Sprintf("%s %s", s.Kind, s.Object))
		}
	}
}

func lifeStart(t *testing.T, c disruption.Command) disruption.CommandView {
	v := lifeView(c)
	steps, err := disruption.StartCommand(c, v)
	require.NoError(t, err)
	require.Len(t, steps, len(c.Sources))
	for _, s := range steps {
		v = v.Apply(s)
	}
	return v
}

// lifeClaim changes a claim of a view.
func lifeClaim(v disruption.CommandView, name string, change func(*disruption.CommandClaim)) disruption.CommandView {
	v.Claims = slices.Clone(v.Claims)
	i := slices.IndexFunc(v.Claims, func(c disruption.CommandClaim) bool { return c.Name == name })
	change(&v.Claims[i])
	return v
}

func lifeGone(v disruption.CommandView, claim, node string) disruption.CommandView {
	v.Claims = slices.DeleteFunc(slices.Clone(v.Claims), func(c disruption.CommandClaim) bool { return c.Name == claim })
	v.Nodes = slices.DeleteFunc(slices.Clone(v.Nodes), func(n disruption.CommandNode) bool { return n.Name == node })
	return v
}

func lifeReady(c *disruption.CommandClaim) { c.Initialized = true }

func TestAdvanceReplaceFirst(t *testing.T) {
	c := newTestCommand(t, nil)
	r0, r1 := c.Replacements[0].Token, c.Replacements[1].Token
	v, p, log := lifeRun(c, lifeStart(t, c), commandStart)
	require.Equal(t, []string{"reason a", "taint node-a", "reason b", "taint node-b", "create " + r0, "create " + r1}, log)
	require.Equal(t, disruption.CommandAwaiting, p.State)
	require.Equal(t, []string{r0, r1}, p.Waiting)
	require.Equal(t, c.Deadline, p.Next)

	v = lifeClaim(v, r0, lifeReady)
	require.Equal(t, []string{r1}, disruption.Advance(c, v, commandStart).Waiting)
	v = lifeClaim(v, r1, lifeReady)
	v, p, log = lifeRun(c, v, commandStart.Add(time.Minute))
	require.Equal(t, []string{"bound a", "delete b", "delete a"}, log)
	require.Equal(t, disruption.CommandDraining, p.State)
	require.Equal(t, []string{"a", "b"}, p.Waiting)
	require.Equal(t, commandStart.Add(150*time.Second), v.Claims[0].DrainBy)

	v = lifeGone(lifeGone(v, "a", "node-a"), "b", "node-b")
	v, p, log = lifeRun(c, v, commandStart.Add(time.Hour))
	require.Equal(t, []string{"release " + r0, "release " + r1}, log)
	require.Equal(t, disruption.CommandFinished, p.State)
	require.Len(t, v.Claims, 2)
	require.Empty(t, disruption.RecoverCommands(v))
}

// The deadline is judged only where something is missing.
func TestAdvanceLateButReady(t *testing.T) {
	c := newTestCommand(t, nil)
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	half := lifeClaim(v, c.Replacements[0].Token, lifeReady)
	ready := lifeClaim(half, c.Replacements[1].Token, lifeReady)
	for name, step := range map[string]struct {
		view    disruption.CommandView
		after   time.Duration
		state   disruption.CommandState
		failure disruption.CommandFailure
	}{
		"just in time":        {half, 10*time.Minute - 1, disruption.CommandAwaiting, ""},
		"too late":            {half, 10 * time.Minute, disruption.CommandRollingBack, disruption.CommandTimedOut},
		"late but ready":      {ready, 19 * time.Minute, disruption.CommandDeleting, ""},
		"deletions fail":      {ready, 20 * time.Minute, disruption.CommandRollingBack, disruption.CommandTimedOut},
		"nothing is too late": {ready, 0, disruption.CommandDeleting, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := disruption.Advance(c, step.view, commandStart.Add(step.after))
			require.Equal(t, step.state, p.State)
			require.Equal(t, step.failure, p.Failure)
		})
	}
}

func TestAdvanceRollsBack(t *testing.T) {
	c := newTestCommand(t, nil)
	r0, r1 := c.Replacements[0].Token, c.Replacements[1].Token
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	v.Created = []string{r0, r1}
	other := disruption.CommandRecord{Command: newTestCommand(t, func(s *disruption.CommandSpec) { s.Reason = "Empty" })}
	for name, f := range map[string]struct {
		failure disruption.CommandFailure
		change  func(disruption.CommandView) disruption.CommandView
		log     []string // after the records
	}{
		"cancelled": {disruption.CommandCancelled, func(v disruption.CommandView) disruption.CommandView {
			v.Cancel = "price has risen"
			return v
		}, []string{"delete " + r0, "delete " + r1}},
		"replacement vanished": {disruption.CommandReplacementLost, func(v disruption.CommandView) disruption.CommandView {
			return lifeGone(v, r0, "")
		}, []string{"delete " + r1}},
		"replacement deleted": {disruption.CommandReplacementLost, func(v disruption.CommandView) disruption.CommandView {
			return lifeClaim(v, r1, func(c *disruption.CommandClaim) { c.Deleting = true })
		}, []string{"delete " + r0}},
		"replacement in use": {disruption.CommandCancelled, func(v disruption.CommandView) disruption.CommandView {
			v.Cancel = "x"
			return lifeClaim(v, r1, func(c *disruption.CommandClaim) { c.Pods = 1 })
		}, []string{"delete " + r0, "release " + r1}},
		"record removed by hand": {disruption.CommandWithdrawn, func(v disruption.CommandView) disruption.CommandView {
			return lifeClaim(v, "b", func(c *disruption.CommandClaim) { c.Record = "" })
		}, []string{"delete " + r0, "delete " + r1}},
		"another command": {disruption.CommandConflict, func(v disruption.CommandView) disruption.CommandView {
			return lifeClaim(v, "b", func(c *disruption.CommandClaim) { c.Record = other.String() })
		}, []string{"delete " + r0, "delete " + r1}},
	} {
		t.Run(name, func(t *testing.T) {
			before := disruption.Advance(c, f.change(v), commandStart)
			require.Equal(t, f.failure, before.Failure)
			for _, s := range before.Steps {
				require.Equal(t, disruption.StepRecord, s.Kind, "the decision is written down first: %s", s)
				r, err := disruption.ParseCommandRecord(s.Record)
				require.NoError(t, err)
				require.Equal(t, f.failure, r.Failure)
			}
			after, p, log := lifeRun(c, f.change(v), commandStart)
			require.Equal(t, disruption.CommandFinished, p.State)
			for _, step := range f.log {
				require.Contains(t, log, step)
			}
			require.Contains(t, log, "untaint node-a")
			for _, n := range after.Nodes {
				require.False(t, n.Tainted)
			}
			for _, s := range after.Claims[:2] {
				require.False(t, s.Deleting)
			}
		})
	}
}

// A node that is lost to the cloud meanwhile needs the room: its replacements
// stay.
func TestAdvanceKeepsReplacementsOfLostNodes(t *testing.T) {
	c := newTestCommand(t, nil)
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	_, p, log := lifeRun(c, lifeGone(v, "a", "node-a"), c.Deadline)
	require.Equal(t, disruption.CommandFinished, p.State)
	require.Contains(t, log, "release "+c.Replacements[0].Token)
	require.NotContains(t, log, "delete "+c.Replacements[0].Token)

	// With no node left there is nothing to undo.
	_, p, log = lifeRun(c, lifeGone(lifeGone(v, "a", "node-a"), "b", "node-b"), c.Deadline)
	require.Equal(t, disruption.CommandFinished, p.State)
	require.Equal(t, []string{"release " + c.Replacements[0].Token, "release " + c.Replacements[1].Token}, log)
}

// A later object of the same name is another one.
func TestAdvanceUIDs(t *testing.T) {
	c := newTestCommand(t, func(s *disruption.CommandSpec) { s.NodePools = nil })
	v := lifeStart(t, c)
	for i := range v.Claims {
		if v.Claims[i].Name == "b" {
			v.Claims[i].UID, v.Claims[i].Record = "another", ""
		}
	}
	for _, s := range disruption.Advance(c, v, commandStart).Steps {
		require.NotEqual(t, "b", s.Object)
	}
	fresh := lifeView(c)
	fresh.Nodes[1].UID = "another"
	_, err := disruption.StartCommand(c, fresh)
	require.ErrorContains(t, err, `its node "node-b" does not exist, or another of its name does`)
	require.Equal(t, v, v.Apply(disruption.CommandStep{Kind: disruption.StepDelete, Object: "b", UID: "u-b"}))
}

func TestAdvanceTerminateFirst(t *testing.T) {
	c := newTestCommand(t, func(s *disruption.CommandSpec) {
		s.Mode, s.NodePools, s.Sources = disruption.CommandTerminateFirst, s.NodePools[:1], s.Sources[:1]
	})
	token := c.Replacements[0].Token
	v, p, log := lifeRun(c, lifeStart(t, c), commandStart)
	require.Equal(t, []string{"hold b", "taint node-b", "reason b", "bound b", "delete b"}, log)
	require.Equal(t, disruption.CommandDraining, p.State)
	require.Equal(t, commandStart.Add(time.Hour), v.Claims[0].DrainBy)

	v.Nodes = nil
	v = lifeClaim(v, "b", func(c *disruption.CommandClaim) { c.Terminated = true })
	found := disruption.RecoverCommands(v).Commands
	require.Equal(t, []disruption.Command{c}, found, "the held claim keeps the record")
	v, p, log = lifeRun(c, v, commandStart.Add(time.Minute))
	require.Equal(t, []string{"create " + token, "unhold b"}, log)
	require.Equal(t, disruption.CommandAwaiting, p.State)

	v = lifeClaim(lifeGone(v, "b", ""), token, lifeReady)
	_, p, log = lifeRun(c, v, commandStart.Add(time.Minute))
	require.Equal(t, []string{"release " + token}, log)
	require.Equal(t, disruption.CommandFinished, p.State)
}

// What cannot be launched is left to ordinary provisioning.
func TestAdvanceTerminateFirstGivesUp(t *testing.T) {
	c := newTestCommand(t, func(s *disruption.CommandSpec) {
		s.Mode, s.NodePools, s.Sources = disruption.CommandTerminateFirst, s.NodePools[:1], s.Sources[:1]
	})
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	v.Nodes = nil
	v = lifeClaim(v, "b", func(c *disruption.CommandClaim) { c.Terminated = true })
	lost := v
	lost.Created = []string{c.Replacements[0].Token}
	_, _, log := lifeRun(c, lost, commandStart)
	require.Equal(t, []string{"unhold b"}, log)
	_, _, log = lifeRun(c, v, c.Deadline)
	require.Equal(t, []string{"unhold b"}, log)
}

func TestStartCommandObstacles(t *testing.T) {
	c := newTestCommand(t, func(s *disruption.CommandSpec) { s.Sources = s.Sources[:1] })
	other := newTestCommand(t, func(s *disruption.CommandSpec) { s.Reason = "Empty" })
	for name, f := range map[string]struct {
		change func(*disruption.CommandView)
		want   string
	}{
		"missing":   {func(v *disruption.CommandView) { v.Claims = nil }, "it does not exist"},
		"deleting":  {func(v *disruption.CommandView) { v.Claims[0].Deleting = true }, "being deleted already"},
		"rebooting": {func(v *disruption.CommandView) { v.Claims[0].Rebooting = true }, "rebooted"},
		"taken": {func(v *disruption.CommandView) {
			v.Claims[0].Record = disruption.CommandRecord{Command: other}.String()
		}, "another command"},
		"started":       {func(v *disruption.CommandView) { v.Claims[0].Record = disruption.CommandRecord{Command: c}.String() }, "call Advance"},
		"no node":       {func(v *disruption.CommandView) { v.Nodes = nil }, `node "node-b" does not exist`},
		"node deleting": {func(v *disruption.CommandView) { v.Nodes[0].Deleting = true }, "is being deleted already"},
		"token taken": {func(v *disruption.CommandView) {
			v.Claims = append(v.Claims, disruption.CommandClaim{Name: c.Replacements[1].Token})
		}, "exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			v := lifeView(c)
			f.change(&v)
			_, err := disruption.StartCommand(c, v)
			require.ErrorContains(t, err, f.want)
		})
	}
}

func TestRecoverCommandsClearsTheUnexplained(t *testing.T) {
	c := newTestCommand(t, nil)
	record := disruption.CommandRecord{Command: c}.String()
	forged := c
	forged.Reason = "Zzz"
	v := disruption.CommandView{
		Claims: []disruption.CommandClaim{
			{Name: "a", Record: record},
			{Name: "torn", Record: "{"},
			{Name: "stranger", Record: record},
			{Name: "b", UID: "u-b", Record: disruption.CommandRecord{Command: forged}.String()},
			{Name: "reason", Reason: "Empty"},
			{Name: "rebooting", Reason: "Unhealthy", Rebooting: true},
			{Name: "held", Held: true, Deleting: true},
			{Name: "leaving", Reason: "Empty", Deleting: true},
			{Name: "plain"},
		},
		Nodes: []disruption.CommandNode{
			{Name: "node-a", Tainted: true, Record: record},
			{Name: "tainted", Tainted: true},
			{Name: "leaving", Tainted: true, Deleting: true},
			{Name: "node-b", UID: "reused", Tainted: true, Record: record},
		},
	}
	r := disruption.RecoverCommands(v)
	require.Equal(t, []disruption.Command{c}, r.Commands)
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, s.String())
	}
	const why = ": no command explains it"
	require.Equal(t, []string{"release nodeclaim/b" + why, "unhold nodeclaim/held" + why, "clear-reason nodeclaim/reason" + why,
		"release nodeclaim/stranger" + why, "release nodeclaim/torn" + why, "untaint node/node-b" + why, "untaint node/tainted" + why}, steps)
	require.Len(t, r.Faults, 4)
	require.ErrorContains(t, r.Faults[0], "another record says otherwise")
	require.ErrorContains(t, r.Faults[1], `nodeclaim "stranger": annotation `+disruption.CommandAnnotationKey)
	require.ErrorContains(t, r.Faults[2], "unexpected EOF")
	require.ErrorContains(t, r.Faults[3], `the node has no part in command`)

	slices.Reverse(v.Claims)
	slices.Reverse(v.Nodes)
	require.Equal(t, r, disruption.RecoverCommands(v), "the order has no meaning")
}

func BenchmarkAdvance(b *testing.B) {
	spec := commandSpec()
	spec.Sources = nil
	for i := range 100 {
		spec.Sources = append(spec.Sources, disruption.CommandSource{NodeClaim: fmt.Sprint("claim-", i), Node: fmt.Sprint("node-", i)})
	}
	c, err := disruption.NewCommand(commandStart, spec)
	require.NoError(b, err)
	v, _, _ := lifeRun(c, lifeView(c).Apply(disruption.CommandStep{Kind: disruption.StepRecord, Object: "claim-0",
		Record: disruption.CommandRecord{Command: c}.String()}), commandStart)
	b.Run("nodes=100", func(b *testing.B) {
		for b.Loop() {
			disruption.Advance(c, v, commandStart)
		}
	})
	b.Run("recover/nodes=100", func(b *testing.B) {
		for b.Loop() {
			disruption.RecoverCommands(v)
		}
	})
}
