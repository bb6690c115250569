package command

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Prepared is a command with the NodeClaims that it launches, as Cluster.Command of package
// disruption returns it. Start begins its Command, and Advance continues it.
type Prepared struct {
	// Command is the command for Start and Advance.
	Command Command
	// Claims are the NodeClaims that it launches, in the order of
	// Command.Replacements and with their names. They are the caller's own. The record
	// has them too, if they fit: a program that restarts leaves them nil for the commands
	// that Recover finds.
	Claims []*v1.NodeClaim
	// Pods are the pending pods of the action that each of Claims is for. They are unknown after a
	// restart; then the nodes take any pods.
	Pods [][]*corev1.Pod
}

// Claim returns the object for a write of kind WriteCreate, with the changes of the write: one of
// Claims, or, if there are none, of Command.Claims. It returns nil for any other write, for a write
// of another command, and if Command.Claims has no such claim. A program that gets nil for a write
// of kind WriteCreate must set Input.Cancel.
func (c Prepared) Claim(now time.Time, s Write) *v1.NodeClaim {
	if s.Kind != WriteCreate {
		return nil
	}
	i := slices.IndexFunc(c.Command.Replacements, func(r Replacement) bool { return r.Token == s.Object })
	claims := c.Claims
	if i >= 0 && len(claims) == 0 {
		claims = c.Command.Claims()
	}
	if i < 0 || i >= len(claims) {
		return nil
	}
	return s.EditClaim(now, claims[i])
}
