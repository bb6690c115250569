package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Mode says whether nodes are launched or terminated first.
type Mode string

// The modes.
const (
	// ReplaceFirst launches the replacements, waits until all of them
	// are initialized, and only then deletes. Without replacements it deletes
	// at once.
	ReplaceFirst Mode = "replace-first"
	// TerminateFirst deletes, waits until the machines are gone, and
	// then launches the replacements: for capacity that cannot exist twice,
	// such as a full reservation or a pool at its limit.
	TerminateFirst Mode = "terminate-first"
)

// Limits of a command. The record of a command is an annotation, and all
// annotations of an object together may have 256 KiB.
const (
	// MaxSources is how many nodes one command may remove.
	MaxSources = 200
	// MaxReplacements is how many nodes one command may launch.
	MaxReplacements = 200
)

// deleteSlack is how long after its deadline a command with all its replacements still tries to
// delete nodes before it gives up.
const deleteSlack = 10 * time.Minute

// DefaultDrain bounds the drain of a node of a terminate-first command that has
// no bound of its own.
const DefaultDrain = time.Hour

// Source is a node that a command removes.
type Source struct {
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
	// Pods is the number of pods on the node that needed another node when the command was decided.
	// It matters for the reason Empty: if there are more, the command is undone.
	Pods int
}

// Replacement is a node that a command launches.
type Replacement struct {
	// Token is the name of its NodeClaim. Because the name is fixed before the launch, a second
	// creation fails and leaves one NodeClaim.
	Token string
	// NodePool is the pool whose template the replacement is made from.
	NodePool string
}

// Command is nodes to remove and nodes to launch in their place. New
// makes it; after that it does not change. Everything in it is in its record,
// which each object that takes part carries.
type Command struct {
	// ID identifies the command. It is a hash of all other fields.
	ID string
	// Reason is why the nodes are removed.
	Reason v1.DisruptionReason
	// Mode says whether nodes are launched or terminated first.
	Mode Mode
	// CreatedAt is when it was decided, in whole seconds.
	CreatedAt time.Time
	// Deadline is when the command is undone if its replacements are not initialized, in whole
	// seconds.
	Deadline time.Time
	// Sources are the nodes to remove, by name of the NodeClaim.
	Sources []Source
	// Replacements are the nodes to launch, in the order of the spec.
	Replacements []Replacement

	claims string // packed: see Claims
}

// Spec is the input from which a command is made.
type Spec struct {
	// Reason is why the nodes are removed, as the reason of a condition is written. Required.
	Reason v1.DisruptionReason
	// Mode says whether nodes are launched or terminated first. Default ReplaceFirst.
	Mode Mode
	// Sources are the nodes to remove, in any order. At least one.
	Sources []Source
	// NodePools has the pool of each node to launch.
	NodePools []string
	// Claims are the NodeClaims to launch, one for each of NodePools in the same order, to be kept
	// in the record: see Command.Claims. Their names are ignored. Empty if the program knows by
	// other means what to launch.
	Claims []*v1.NodeClaim
	// Timeout is how long the replacements may take. Default
	// Timeout(0).
	Timeout time.Duration
}

// Timeout returns how long a command may take until its replacements are initialized: 80 ms for
// each node that all commands in progress remove together, at least 10 minutes and at most an hour.
func Timeout(nodesInFlight int) time.Duration {
	const each, least, most = 80 * time.Millisecond, 10 * time.Minute, time.Hour
	return max(least, time.Duration(min(max(nodesInFlight, 0), int(most/each)))*each)
}

// New makes a command that was decided at now. The same arguments make the same command, whatever
// the order of the sources. In a terminate-first command a source that is not Bounded and has no
// Drain gets DefaultDrain: without a bound, a pod that cannot be evicted would hold the capacity
// forever.
//
// The error joins one for each fault of the spec.
func New(now time.Time, spec Spec) (Command, error) {
	if err := spec.validate(); err != nil {
		return Command{}, err
	}
	c := Command{
		Reason:    spec.Reason,
		Mode:      cmp.Or(spec.Mode, ReplaceFirst),
		CreatedAt: now.UTC().Truncate(time.Second),
	}
	// A deadline is rounded up, so that a short timeout does not become none.
	timeout := cmp.Or(spec.Timeout, Timeout(0))
	c.Deadline = now.UTC().Add(timeout).Add(time.Second - 1).Truncate(time.Second)
	for _, s := range spec.Sources {
		s.DrainBy = s.DrainBy.UTC().Truncate(time.Second)
		switch {
		case s.Drain != nil:
			s.Drain = new(*s.Drain) // not the caller's
		case s.DrainBy.IsZero() && !s.Bounded && c.Mode == TerminateFirst:
			s.Drain = new(DefaultDrain)
		}
		c.Sources = append(c.Sources, s)
	}
	slices.SortFunc(c.Sources, func(a, b Source) int { return cmp.Compare(a.NodeClaim, b.NodeClaim) })
	for _, pool := range spec.NodePools {
		c.Replacements = append(c.Replacements, Replacement{NodePool: pool})
	}
	claims, err := claimsText(spec.Claims)
	if err != nil {
		return Command{}, fmt.Errorf("claims: %w", err)
	}
	sum := sha256.Sum256(append([]byte(Record{Command: c}.String()), claims...))
	c.ID = hex.EncodeToString(sum[:6])
	for i := range c.Replacements {
		c.Replacements[i].Token = c.Token(c.Replacements[i].NodePool, i)
	}
	c.keepClaims(claims)
	return c, nil
}

// Token returns a name for a NodeClaim that is launched for the command: the name of its pool,
// shortened if necessary, and a unique suffix. For an entry of Replacements, index is its index
// there.
func (c Command) Token(pool string, index int) string {
	suffix := fmt.Sprintf("-%s-%d", c.ID, index)
	const most = 63 // of a label value, as which names of NodeClaims are used
	if len(pool)+len(suffix) > most {
		pool = pool[:most-len(suffix)]
	}
	for len(pool) > 0 && (pool[len(pool)-1] == '-' || pool[len(pool)-1] == '.') {
		pool = pool[:len(pool)-1]
	}
	return pool + suffix
}

// conditionReason matches the reason of a condition, of at most maxReason bytes. The API server
// refuses any other.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

const maxReason = 1024

// validate finds all faults of a spec.
func (s *Spec) validate() error {
	var errs []error
	if s.Reason == "" {
		errs = append(errs, errors.New("reason: missing; say why the nodes are removed, for example Drifted"))
	} else if len(s.Reason) > maxReason || !conditionReason.MatchString(string(s.Reason)) {
		errs = append(errs, fmt.Errorf("reason: %.40q cannot be the reason of a condition; use up to %d letters, digits, '_', ',' and ':', "+
			"with a letter first and no ',' or ':' at the end", s.Reason, maxReason))
	}
	switch s.Mode {
	case "", ReplaceFirst, TerminateFirst:
	default:
		errs = append(errs, fmt.Errorf("mode: %q is not known; use %s or %s", s.Mode, ReplaceFirst, TerminateFirst))
	}
	if n := len(s.Sources); n == 0 || n > MaxSources {
		errs = append(errs, fmt.Errorf("sources: there are %d; a command removes 1 to %d nodes", n, MaxSources))
	}
	if n := len(s.NodePools); n > MaxReplacements {
		errs = append(errs, fmt.Errorf("nodePools: there are %d; a command launches at most %d nodes", n, MaxReplacements))
	}
	if s.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout: %s must not be negative; zero is %s", s.Timeout, Timeout(0)))
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
		if src.Pods < 0 {
			errs = append(errs, fmt.Errorf("%s.pods: %d must not be negative", at, src.Pods))
		}
		if src.Drain != nil && *src.Drain < 0 {
			errs = append(errs, fmt.Errorf("%s.drain: %s must not be negative; zero evicts by force, nil sets no bound", at, *src.Drain))
		}
		claims[src.NodeClaim], nodes[src.Node] = true, true
	}
	if n := len(s.Claims); n > 0 && n != len(s.NodePools) {
		errs = append(errs, fmt.Errorf("claims: there are %d for %d nodePools; give one for each, or none", n, len(s.NodePools)))
	}
	for i, claim := range s.Claims {
		if claim == nil {
			errs = append(errs, fmt.Errorf("claims[%d]: missing; give one for each of nodePools, or none", i))
		}
	}
	for i, pool := range s.NodePools {
		if pool == "" {
			errs = append(errs, fmt.Errorf("nodePools[%d]: missing; name the pool of the replacement", i))
		}
	}
	return errors.Join(errs...)
}

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
