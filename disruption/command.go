package disruption

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// CommandMode says what goes first.
type CommandMode string

// The modes.
const (
	// CommandReplaceFirst launches the replacements, waits until all of them
	// are initialized, and only then deletes. Without replacements it deletes
	// at once.
	CommandReplaceFirst CommandMode = "replace-first"
	// CommandTerminateFirst deletes, waits until the machines are gone, and
	// then launches the replacements: for capacity that cannot exist twice,
	// such as a full reservation or a pool at its limit.
	CommandTerminateFirst CommandMode = "terminate-first"
)

// Limits of a command. The record of a command is an annotation, and all
// annotations of an object together may have 256 KiB.
const (
	// CommandMaxSources is how many nodes one command may remove.
	CommandMaxSources = 200
	// CommandMaxReplacements is how many nodes one command may launch.
	CommandMaxReplacements = 200
)

// commandDeleteSlack is how long past its deadline a command that has all its
// replacements goes on trying to delete nodes before it gives up.
const commandDeleteSlack = 10 * time.Minute

// CommandSource is a node that a command removes.
type CommandSource struct {
	// NodeClaim is the name of its NodeClaim. Required.
	NodeClaim string
	// ClaimUID is the UID of the NodeClaim. If it is set, another NodeClaim of
	// the same name is not touched.
	ClaimUID types.UID
	// Node is the name of its Node, empty if it has none.
	Node string
	// NodeUID is the UID of the Node, used as ClaimUID is.
	NodeUID types.UID
	// Drain bounds the drain: when the node is deleted its termination deadline
	// is brought forward to so long from then, never put off. Nil leaves it to
	// the terminationGracePeriod of the NodeClaim; zero evicts by force.
	Drain *time.Duration
	// DrainBy, if not zero, is the instant by which the drain must have ended,
	// in whole seconds: the earlier of the two holds.
	DrainBy time.Time
	// Bounded says that the NodeClaim has a terminationGracePeriod, so that a
	// terminate-first command needs no bound of its own.
	Bounded bool
}

// CommandReplacement is a node that a command launches.
type CommandReplacement struct {
	// Token is the name of its NodeClaim. Because the name is fixed before the
	// launch, launching twice makes one; it also serves as LaunchRequest.Token.
	Token string
	// NodePool is the pool that it is made from.
	NodePool string
}

// Command is nodes to remove and nodes to launch in their place. NewCommand
// makes it; after that it does not change. Everything in it is in its record,
// which each object that takes part carries.
type Command struct {
	// ID tells commands apart. It is made from all other fields.
	ID string
	// Reason is why.
	Reason v1.DisruptionReason
	// Mode says what goes first.
	Mode CommandMode
	// CreatedAt is when it was decided, in whole seconds.
	CreatedAt time.Time
	// Deadline is when it is given up if its replacements are not initialized,
	// in whole seconds.
	Deadline time.Time
	// Sources are the nodes to remove, by name of the NodeClaim.
	Sources []CommandSource
	// Replacements are the nodes to launch, in the order of the spec.
	Replacements []CommandReplacement
}

// CommandSpec is what a command is made from.
type CommandSpec struct {
	// Reason is why. Required.
	Reason v1.DisruptionReason
	// Mode says what goes first. Default CommandReplaceFirst.
	Mode CommandMode
	// Sources are the nodes to remove, in any order. At least one.
	Sources []CommandSource
	// NodePools has the pool of each node to launch.
	NodePools []string
	// Timeout is how long the replacements may take. Default
	// CommandTimeout(0).
	Timeout time.Duration
}

// CommandTimeout is how long a command may take until its replacements are
// initialized, if the commands in flight remove so many nodes together: 80 ms
// for each, at least 10 minutes and at most an hour.
func CommandTimeout(nodesInFlight int) time.Duration {
	const each, least, most = 80 * time.Millisecond, 10 * time.Minute, time.Hour
	return max(least, min(commandTimes(nodesInFlight, each, most), most))
}

// commandTimes is n times d, or most if that is less.
func commandTimes(n int, d, most time.Duration) time.Duration {
	if n > int(most/d) {
		return most
	}
	return time.Duration(max(n, 0)) * d
}

// NewCommand makes a command that is decided at an instant. The same arguments
// make the same command, whatever the order of the sources. In a
// terminate-first command a source that is not Bounded and has no Drain gets
// DefaultTerminateFirstDrain: without any bound, a pod that cannot be evicted
// would keep the capacity from ever coming back.
//
// The error joins all faults of the spec.
func NewCommand(now time.Time, spec CommandSpec) (Command, error) {
	if err := spec.validate(); err != nil {
		return Command{}, err
	}
	c := Command{
		Reason:    spec.Reason,
		Mode:      cmp.Or(spec.Mode, CommandReplaceFirst),
		CreatedAt: now.UTC().Truncate(time.Second),
	}
	// A deadline is rounded up, so that a short timeout does not become none.
	timeout := cmp.Or(spec.Timeout, CommandTimeout(0))
	c.Deadline = now.UTC().Add(timeout + time.Second - 1).Truncate(time.Second)
	for _, s := range spec.Sources {
		drain := s.Drain
		s.DrainBy = s.DrainBy.UTC().Truncate(time.Second)
		if drain == nil && s.DrainBy.IsZero() && !s.Bounded && c.Mode == CommandTerminateFirst {
			d := DefaultTerminateFirstDrain
			drain = &d
		}
		if drain != nil {
			d := *drain
			s.Drain = &d
		}
		c.Sources = append(c.Sources, s)
	}
	slices.SortFunc(c.Sources, func(a, b CommandSource) int { return cmp.Compare(a.NodeClaim, b.NodeClaim) })
	for _, pool := range spec.NodePools {
		c.Replacements = append(c.Replacements, CommandReplacement{NodePool: pool})
	}
	sum := sha256.Sum256([]byte(CommandRecord{Command: c}.String()))
	c.ID = hex.EncodeToString(sum[:6])
	for i := range c.Replacements {
		c.Replacements[i].Token = commandToken(c.Replacements[i].NodePool, c.ID, i)
	}
	return c, nil
}

// commandToken is a name for a NodeClaim: that of its pool, as far as it fits,
// and what makes it unique.
func commandToken(pool, id string, index int) string {
	suffix := fmt.Sprintf("-%s-%d", id, index)
	const most = 63 // of a label value, as which names of NodeClaims are used
	if len(pool)+len(suffix) > most {
		pool = pool[:most-len(suffix)]
	}
	for len(pool) > 0 && (pool[len(pool)-1] == '-' || pool[len(pool)-1] == '.') {
		pool = pool[:len(pool)-1]
	}
	return pool + suffix
}

// validate finds all faults of a spec.
func (s *CommandSpec) validate() error {
	var errs []error
	if s.Reason == "" {
		errs = append(errs, errors.New("reason: missing; say why the nodes are removed, for example Drifted"))
	}
	switch s.Mode {
	case "", CommandReplaceFirst, CommandTerminateFirst:
	default:
		errs = append(errs, fmt.Errorf("mode: %q is not known; use %s or %s", s.Mode, CommandReplaceFirst, CommandTerminateFirst))
	}
	if n := len(s.Sources); n == 0 || n > CommandMaxSources {
		errs = append(errs, fmt.Errorf("sources: there are %d; a command removes 1 to %d nodes", n, CommandMaxSources))
	}
	if n := len(s.NodePools); n > CommandMaxReplacements {
		errs = append(errs, fmt.Errorf("nodePools: there are %d; a command launches at most %d nodes", n, CommandMaxReplacements))
	}
	if s.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout: %s must not be negative; zero is %s", s.Timeout, CommandTimeout(0)))
	}
	claims, nodes := map[string]bool{}, map[string]bool{}
	for i, src := range s.Sources {
		at := fmt.Sprintf("sources[%d]", i)
		switch {
		case src.NodeClaim == "":
			errs = append(errs, fmt.Errorf("%s.nodeClaim: missing; only nodes with a NodeClaim can be removed", at))
		case claims[src.NodeClaim]:
			errs = append(errs, fmt.Errorf("%s.nodeClaim: %q is listed twice; remove one", at, src.NodeClaim))
		}
		if src.Node != "" && nodes[src.Node] {
			errs = append(errs, fmt.Errorf("%s.node: %q is listed twice; remove one", at, src.Node))
		}
		if src.Drain != nil && *src.Drain < 0 {
			errs = append(errs, fmt.Errorf("%s.drain: %s must not be negative; zero evicts by force, nil sets no bound", at, *src.Drain))
		}
		claims[src.NodeClaim], nodes[src.Node] = true, true
	}
	for i, pool := range s.NodePools {
		if pool == "" {
			errs = append(errs, fmt.Errorf("nodePools[%d]: missing; name the pool of the replacement", i))
		}
	}
	return errors.Join(errs...)
}
