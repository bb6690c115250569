package command_test

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/command"
)

// apply returns the view after a step was carried out, which is what the step means. The view
// given is not changed. A step whose preconditions do not hold, or whose object is not
// there, changes nothing. Versions are not counted on: that is for the server.
//
// StepDelete marks a NodeClaim as being deleted. That it goes, once the machine
// is gone and no finalizer is left, is not the work of a step.
func apply(v command.View, s command.Step) command.View {
	if s.OnNode() {
		i := slices.IndexFunc(v.Nodes, func(n command.Node) bool { return n.Name == s.Object })
		if i < 0 || !stepHolds(s, v.Nodes[i].UID, v.Nodes[i].ResourceVersion) {
			return v
		}
		v.Nodes = slices.Clone(v.Nodes)
		v.Nodes[i].Tainted, v.Nodes[i].Record = s.Kind == command.StepTaint, s.Record
		return v
	}
	i := slices.IndexFunc(v.Claims, func(c command.Claim) bool { return c.Name == s.Object })
	if s.Kind == command.StepCreate {
		if i < 0 {
			v.Claims = append(slices.Clip(v.Claims), command.Claim{Name: s.Object, Record: s.Record})
		}
		return v
	}
	if i < 0 || !stepHolds(s, v.Claims[i].UID, v.Claims[i].ResourceVersion) {
		return v
	}
	v.Claims = slices.Clone(v.Claims)
	applyToClaim(&v.Claims[i], s)
	return v
}

func applyToClaim(c *command.Claim, s command.Step) {
	switch s.Kind {
	case command.StepRecord:
		c.Record = s.Record
	case command.StepRelease:
		c.Record = ""
	case command.StepHold:
		// The server takes no new finalizer on an object that is being deleted.
		c.Held = c.Held || !c.Deleting
	case command.StepUnhold:
		c.Held = false
	case command.StepReason:
		c.Reason = s.Reason
	case command.StepClearReason:
		c.Reason = ""
	case command.StepBound:
		c.DrainBy = s.DrainBy
	case command.StepDelete:
		c.Deleting = true
	}
}

// stepHolds is whether the preconditions of a step hold.
func stepHolds(s command.Step, uid types.UID, version string) bool {
	return (s.UID == "" || s.UID == uid) && (s.ResourceVersion == "" || s.ResourceVersion == version)
}
