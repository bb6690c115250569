package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/command"
)

// lifeView has the nodes of a command, as they are before it starts.
func lifeView(c command.Command) (v command.Input) {
	for _, s := range c.Sources {
		v.Claims = append(v.Claims, command.Claim{Name: s.NodeClaim, UID: s.ClaimUID, Initialized: true, Pods: 2})
		if s.Node != "" {
			v.Nodes = append(v.Nodes, command.Node{Name: s.Node, UID: s.NodeUID})
		}
	}
	return v
}

// lifeRun carries writes out until nothing changes, and says what they were.
func lifeRun(c command.Command, v command.Input, now time.Time) (command.Input, command.Progress, []string) {
	var log []string
	for {
		p := command.Advance(now, c, v)
		if len(p.Writes) == 0 {
			return v, p, log
		}
		for _, s := range p.Writes {
			v = apply(v, s)
			log = append(log, fmt.Sprintf("%s %s", s.Kind, s.Object))
		}
	}
}

func lifeStart(t *testing.T, c command.Command) command.Input {
	v := lifeView(c)
	writes, err := command.Start(c, v)
	require.NoError(t, err)
	require.Len(t, writes, len(c.Sources))
	for _, s := range writes {
		v = apply(v, s)
	}
	return v
}

// lifeClaim changes a claim of an input.
func lifeClaim(v command.Input, name string, change func(*command.Claim)) command.Input {
	v.Claims = slices.Clone(v.Claims)
	i := slices.IndexFunc(v.Claims, func(c command.Claim) bool { return c.Name == name })
	change(&v.Claims[i])
	return v
}

func lifeGone(v command.Input, claim, node string) command.Input {
	v.Claims = slices.DeleteFunc(slices.Clone(v.Claims), func(c command.Claim) bool { return c.Name == claim })
	v.Nodes = slices.DeleteFunc(slices.Clone(v.Nodes), func(n command.Node) bool { return n.Name == node })
	return v
}

func lifeReady(c *command.Claim) { c.Initialized = true }

func TestAdvanceReplaceFirst(t *testing.T) {
	c := newTestCommand(t, nil)
	r0, r1 := c.Replacements[0].Token, c.Replacements[1].Token
	v, p, log := lifeRun(c, lifeStart(t, c), commandStart)
	require.Equal(t, []string{"reason a", "taint node-a", "reason b", "taint node-b", "create " + r0, "create " + r1}, log)
	require.Equal(t, command.Awaiting, p.State)
	require.Equal(t, []string{r0, r1}, p.Waiting)
	require.Equal(t, c.Deadline, p.Next)

	v = lifeClaim(v, r0, lifeReady)
	require.Equal(t, []string{r1}, command.Advance(commandStart, c, v).Waiting)
	v = lifeClaim(v, r1, lifeReady)
	v, p, log = lifeRun(c, v, commandStart.Add(time.Minute))
	require.Equal(t, []string{"bound a", "delete b", "delete a"}, log)
	require.Equal(t, command.Draining, p.State)
	require.Equal(t, []string{"a", "b"}, p.Waiting)
	require.Equal(t, commandStart.Add(150*time.Second), v.Claims[0].DrainBy)

	v = lifeGone(lifeGone(v, "a", "node-a"), "b", "node-b")
	v, p, log = lifeRun(c, v, commandStart.Add(time.Hour))
	require.Equal(t, []string{"release " + r0, "release " + r1}, log)
	require.Equal(t, command.Finished, p.State)
	require.Len(t, v.Claims, 2)
	require.Empty(t, command.Recover(v))
}

// The deadline is judged only where something is missing.
func TestAdvanceLateButReady(t *testing.T) {
	c := newTestCommand(t, nil)
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	half := lifeClaim(v, c.Replacements[0].Token, lifeReady)
	ready := lifeClaim(half, c.Replacements[1].Token, lifeReady)
	for name, write := range map[string]struct {
		view    command.Input
		after   time.Duration
		state   command.State
		failure command.Failure
	}{
		"just in time":        {half, 10*time.Minute - 1, command.Awaiting, ""},
		"too late":            {half, 10 * time.Minute, command.RollingBack, command.TimedOut},
		"late but ready":      {ready, 19 * time.Minute, command.Deleting, ""},
		"deletions fail":      {ready, 20 * time.Minute, command.RollingBack, command.TimedOut},
		"nothing is too late": {ready, 0, command.Deleting, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := command.Advance(commandStart.Add(write.after), c, write.view)
			require.Equal(t, write.state, p.State)
			require.Equal(t, write.failure, p.Failure)
		})
	}
}

func TestAdvanceRollsBack(t *testing.T) {
	c := newTestCommand(t, nil)
	r0, r1 := c.Replacements[0].Token, c.Replacements[1].Token
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	v.Created = []string{r0, r1}
	other := command.Record{Command: newTestCommand(t, func(s *command.Spec) { s.Reason = "Empty" })}
	for name, f := range map[string]struct {
		failure command.Failure
		change  func(command.Input) command.Input
		log     []string // after the records
	}{
		"cancelled": {command.Cancelled, func(v command.Input) command.Input {
			v.Cancel = "price has risen"
			return v
		}, []string{"delete " + r0, "delete " + r1}},
		"replacement vanished": {command.ReplacementLost, func(v command.Input) command.Input {
			return lifeGone(v, r0, "")
		}, []string{"delete " + r1}},
		"replacement deleted": {command.ReplacementLost, func(v command.Input) command.Input {
			return lifeClaim(v, r1, func(c *command.Claim) { c.Deleting = true })
		}, []string{"delete " + r0}},
		"replacement in use": {command.Cancelled, func(v command.Input) command.Input {
			v.Cancel = "x"
			return lifeClaim(v, r1, func(c *command.Claim) { c.Pods = 1 })
		}, []string{"delete " + r0, "release " + r1}},
		"record removed by hand": {command.Withdrawn, func(v command.Input) command.Input {
			return lifeClaim(v, "b", func(c *command.Claim) { c.Record = "" })
		}, []string{"delete " + r0, "delete " + r1}},
		"another command": {command.Conflict, func(v command.Input) command.Input {
			return lifeClaim(v, "b", func(c *command.Claim) { c.Record = other.String() })
		}, []string{"delete " + r0, "delete " + r1}},
	} {
		t.Run(name, func(t *testing.T) {
			before := command.Advance(commandStart, c, f.change(v))
			require.Equal(t, f.failure, before.Failure)
			for _, s := range before.Writes {
				require.Equal(t, command.WriteRecord, s.Kind, "the decision is written down first: %s", s)
				r, err := command.ParseRecord(s.Record)
				require.NoError(t, err)
				require.Equal(t, f.failure, r.Failure)
			}
			after, p, log := lifeRun(c, f.change(v), commandStart)
			require.Equal(t, command.Finished, p.State)
			for _, write := range f.log {
				require.Contains(t, log, write)
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

// A pod that was bound before kube-scheduler saw the taint keeps a node that was to go as it
// was empty. For other reasons pods are what is expected, and so are those it had before.
func TestAdvanceKeepsNodesThatPodsHaveComeTo(t *testing.T) {
	run := func(reason v1.DisruptionReason, had, has int) (command.Input, command.Progress, []string) {
		c := newTestCommand(t, func(s *command.Spec) {
			s.Reason, s.NodePools = reason, nil
			s.Sources = s.Sources[:1]
			s.Sources[0].Pods = had
		})
		v := lifeClaim(lifeStart(t, c), c.Sources[0].NodeClaim, func(c *command.Claim) { c.Pods = has })
		return lifeRun(c, v, commandStart)
	}
	for _, pods := range []struct{ had, has int }{{0, 1}, {2, 3}} {
		after, p, log := run(v1.DisruptionReasonEmpty, pods.had, pods.has)
		require.Equal(t, command.Finished, p.State)
		require.False(t, after.Claims[0].Deleting, "%v: %v", pods, log)
		require.Empty(t, after.Claims[0].Record)
		for _, n := range after.Nodes {
			require.False(t, n.Tainted)
		}
	}
	for reason, pods := range map[v1.DisruptionReason][2]int{v1.DisruptionReasonEmpty: {2, 2}, v1.DisruptionReasonDrifted: {0, 1}} {
		_, _, log := run(reason, pods[0], pods[1])
		require.Contains(t, log, "delete b", "%s", reason)
	}
}

// A node that is lost to the cloud meanwhile needs the room: its replacements
// stay.
func TestAdvanceKeepsReplacementsOfLostNodes(t *testing.T) {
	c := newTestCommand(t, nil)
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	_, p, log := lifeRun(c, lifeGone(v, "a", "node-a"), c.Deadline)
	require.Equal(t, command.Finished, p.State)
	require.Contains(t, log, "release "+c.Replacements[0].Token)
	require.NotContains(t, log, "delete "+c.Replacements[0].Token)

	// With no node left there is nothing to undo.
	_, p, log = lifeRun(c, lifeGone(lifeGone(v, "a", "node-a"), "b", "node-b"), c.Deadline)
	require.Equal(t, command.Finished, p.State)
	require.Equal(t, []string{"release " + c.Replacements[0].Token, "release " + c.Replacements[1].Token}, log)
}

// A later object of the same name is another one.
func TestAdvanceUIDs(t *testing.T) {
	c := newTestCommand(t, func(s *command.Spec) { s.NodePools = nil })
	v := lifeStart(t, c)
	for i := range v.Claims {
		if v.Claims[i].Name == "b" {
			v.Claims[i].UID, v.Claims[i].Record = "another", ""
		}
	}
	for _, s := range command.Advance(commandStart, c, v).Writes {
		require.NotEqual(t, "b", s.Object)
	}
	fresh := lifeView(c)
	fresh.Nodes[1].UID = "another"
	_, err := command.Start(c, fresh)
	require.ErrorContains(t, err, `its node "node-b" does not exist, or another of its name does`)
	require.Equal(t, v, apply(v, command.Write{Kind: command.WriteDelete, Object: "b", UID: "u-b"}))
}

func TestAdvanceTerminateFirst(t *testing.T) {
	c := newTestCommand(t, func(s *command.Spec) {
		s.Mode, s.NodePools, s.Sources = command.TerminateFirst, s.NodePools[:1], s.Sources[:1]
	})
	token := c.Replacements[0].Token
	v, p, log := lifeRun(c, lifeStart(t, c), commandStart)
	require.Equal(t, []string{"hold b", "taint node-b", "reason b", "bound b", "delete b"}, log)
	require.Equal(t, command.Draining, p.State)
	require.Equal(t, commandStart.Add(time.Hour), v.Claims[0].DrainBy)

	v.Nodes = nil
	v = lifeClaim(v, "b", func(c *command.Claim) { c.Terminated = true })
	found := command.Recover(v).Commands
	require.Equal(t, []command.Command{c}, found, "the held claim keeps the record")
	v, p, log = lifeRun(c, v, commandStart.Add(time.Minute))
	require.Equal(t, []string{"create " + token, "unhold b"}, log)
	require.Equal(t, command.Awaiting, p.State)

	v = lifeClaim(lifeGone(v, "b", ""), token, lifeReady)
	_, p, log = lifeRun(c, v, commandStart.Add(time.Minute))
	require.Equal(t, []string{"release " + token}, log)
	require.Equal(t, command.Finished, p.State)
}

// What cannot be launched is left to ordinary provisioning.
func TestAdvanceTerminateFirstGivesUp(t *testing.T) {
	c := newTestCommand(t, func(s *command.Spec) {
		s.Mode, s.NodePools, s.Sources = command.TerminateFirst, s.NodePools[:1], s.Sources[:1]
	})
	v, _, _ := lifeRun(c, lifeStart(t, c), commandStart)
	v.Nodes = nil
	v = lifeClaim(v, "b", func(c *command.Claim) { c.Terminated = true })
	lost := v
	lost.Created = []string{c.Replacements[0].Token}
	_, _, log := lifeRun(c, lost, commandStart)
	require.Equal(t, []string{"unhold b"}, log)
	_, _, log = lifeRun(c, v, c.Deadline)
	require.Equal(t, []string{"unhold b"}, log)
}

func TestStartObstacles(t *testing.T) {
	c := newTestCommand(t, func(s *command.Spec) { s.Sources = s.Sources[:1] })
	other := newTestCommand(t, func(s *command.Spec) { s.Reason = "Empty" })
	for name, f := range map[string]struct {
		change func(*command.Input)
		want   string
	}{
		"missing":   {func(v *command.Input) { v.Claims = nil }, "it does not exist"},
		"deleting":  {func(v *command.Input) { v.Claims[0].Deleting = true }, "being deleted already"},
		"rebooting": {func(v *command.Input) { v.Claims[0].Rebooting = true }, "rebooted"},
		"taken": {func(v *command.Input) {
			v.Claims[0].Record = command.Record{Command: other}.String()
		}, "another command"},
		"started":       {func(v *command.Input) { v.Claims[0].Record = command.Record{Command: c}.String() }, "call Advance"},
		"no node":       {func(v *command.Input) { v.Nodes = nil }, `node "node-b" does not exist`},
		"node deleting": {func(v *command.Input) { v.Nodes[0].Deleting = true }, "is being deleted already"},
		"token taken": {func(v *command.Input) {
			v.Claims = append(v.Claims, command.Claim{Name: c.Replacements[1].Token})
		}, "exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			v := lifeView(c)
			f.change(&v)
			_, err := command.Start(c, v)
			require.ErrorContains(t, err, f.want)
		})
	}
}

func TestRecoverClearsTheUnexplained(t *testing.T) {
	c := newTestCommand(t, nil)
	record := command.Record{Command: c}.String()
	forged := c
	forged.Reason = "Zzz"
	v := command.Input{
		Claims: []command.Claim{
			{Name: "a", Record: record},
			{Name: "torn", Record: "{"},
			{Name: "stranger", Record: record},
			{Name: "b", UID: "u-b", Record: command.Record{Command: forged}.String()},
			{Name: "reason", Reason: "Empty"},
			{Name: "rebooting", Reason: "Unhealthy", Rebooting: true},
			{Name: "held", Held: true, Deleting: true},
			{Name: "leaving", Reason: "Empty", Deleting: true},
			{Name: "interrupted", Reason: "Interrupted", Deleting: true, Node: "draining"},
			{Name: "plain"},
		},
		Nodes: []command.Node{
			{Name: "node-a", Tainted: true, Record: record},
			{Name: "tainted", Tainted: true},
			{Name: "leaving", Tainted: true, Deleting: true},
			{Name: "draining", Tainted: true},
			{Name: "node-b", UID: "reused", Tainted: true, Record: record},
		},
	}
	r := command.Recover(v)
	require.Equal(t, []command.Command{c}, r.Commands)
	var writes []string
	for _, s := range r.Writes {
		writes = append(writes, s.String())
	}
	const why = ": no command explains it"
	require.Equal(t, []string{"release nodeclaim/b" + why, "unhold nodeclaim/held" + why, "clear-reason nodeclaim/reason" + why,
		"release nodeclaim/stranger" + why, "release nodeclaim/torn" + why, "untaint node/node-b" + why, "untaint node/tainted" + why}, writes)
	faults := strings.Split(r.Faults.Error(), "\n")
	require.Len(t, faults, 4)
	require.Contains(t, faults[0], "another record says otherwise")
	require.Contains(t, faults[1], `nodeclaim "stranger": annotation `+command.AnnotationKey)
	require.Contains(t, faults[2], "unexpected EOF")
	require.Contains(t, faults[3], `the node has no part in command`)

	slices.Reverse(v.Claims)
	slices.Reverse(v.Nodes)
	require.Equal(t, r, command.Recover(v), "the order has no meaning")
}

// apply returns the input after a write was carried out, which is what the write means. The input
// given is not changed. A write whose preconditions do not hold, or whose object is not
// there, changes nothing. Versions are not counted on: that is for the server.
//
// WriteDelete marks a NodeClaim as being deleted. That it goes, once the machine
// is gone and no finalizer is left, is not the work of a write.
func apply(v command.Input, s command.Write) command.Input {
	if s.OnNode() {
		i := slices.IndexFunc(v.Nodes, func(n command.Node) bool { return n.Name == s.Object })
		if i < 0 || !writeHolds(s, v.Nodes[i].UID, v.Nodes[i].ResourceVersion) {
			return v
		}
		v.Nodes = slices.Clone(v.Nodes)
		v.Nodes[i].Tainted, v.Nodes[i].Record = s.Kind == command.WriteTaint, s.Record
		return v
	}
	i := slices.IndexFunc(v.Claims, func(c command.Claim) bool { return c.Name == s.Object })
	if s.Kind == command.WriteCreate {
		if i < 0 {
			v.Claims = append(slices.Clip(v.Claims), command.Claim{Name: s.Object, Record: s.Record})
		}
		return v
	}
	if i < 0 || !writeHolds(s, v.Claims[i].UID, v.Claims[i].ResourceVersion) {
		return v
	}
	v.Claims = slices.Clone(v.Claims)
	applyToClaim(&v.Claims[i], s)
	return v
}

func applyToClaim(c *command.Claim, s command.Write) {
	switch s.Kind {
	case command.WriteRecord:
		c.Record = s.Record
	case command.WriteRelease:
		c.Record = ""
	case command.WriteHold:
		// The server takes no new finalizer on an object that is being deleted.
		c.Held = c.Held || !c.Deleting
	case command.WriteUnhold:
		c.Held = false
	case command.WriteReason:
		c.Reason = s.Reason
	case command.WriteClearReason:
		c.Reason = ""
	case command.WriteBound:
		c.DrainBy = s.DrainBy
	case command.WriteDelete:
		c.Deleting = true
	}
}

// writeHolds is whether the preconditions of a write hold.
func writeHolds(s command.Write, uid types.UID, version string) bool {
	return (s.UID == "" || s.UID == uid) && (s.ResourceVersion == "" || s.ResourceVersion == version)
}
