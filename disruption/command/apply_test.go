package command_test

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/disruption/command"
)

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
