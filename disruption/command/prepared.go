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
	// Command.Replacements and with their names. They are the caller's own. Command.Claims
	// has copies, if they are small enough for the record. A program that restarts leaves
	// Claims nil for the commands that Recover finds.
	Claims []*v1.NodeClaim
	// Pods has, by index in Claims, the pending pods for which the NodeClaim is launched. It is
	// empty after a restart; then the nodes take any pods.
	Pods [][]*corev1.Pod
}

// Claim returns the NodeClaim to create for a write of kind WriteCreate, with the changes of the
// write. It comes from Claims or, if Claims is empty, from Command.Claims. It returns nil for any
// other write, for a write of another command, and if Command.Claims has no such NodeClaim. A
// program that gets nil for a write of kind WriteCreate must set Input.Cancel.
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
