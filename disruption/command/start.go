package command

import (
	"errors"
	"fmt"
	"time"
)

// Start returns the first writes of a command, which record the NodeClaims to remove. If at least
// one of them succeeds, Advance does the rest; if none does, nothing has changed and Advance
// reports Finished.
//
// The error joins all obstacles: a NodeClaim or Node that is missing, being deleted or already part
// of a command, and a replacement whose name is taken.
func Start(c Command, v Input) ([]Write, error) {
	l := observe(&c, &v, time.Time{})
	var errs []error
	for i := range l.sources {
		if err := l.obstacle(&l.sources[i]); err != nil {
			errs = append(errs, fmt.Errorf("command %s: nodeclaim %q: %w", c.ID, l.sources[i].NodeClaim, err))
		}
	}
	for i, r := range l.claims {
		if r != nil {
			errs = append(errs, fmt.Errorf("command %s: replacement %q exists already; the command was started before", c.ID, c.Replacements[i].Token))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	l.recordAll()
	return l.p.Writes, nil
}

// obstacle returns why a node cannot be removed, nil if it can.
func (l *lifecycle) obstacle(s *sourceState) error {
	switch {
	case s.claim == nil:
		return errors.New("it does not exist, or another of its name does; decide again")
	case s.claim.Deleting:
		return errors.New("it is being deleted already; decide again without it")
	case s.claim.Rebooting:
		return errors.New("its node is being rebooted; wait until that is over")
	case s.ours || s.nodeOurs:
		return errors.New("this command was started before; call Advance")
	case s.taken:
		return errors.New("it takes part in another command; wait until that is finished")
	case s.Node != "" && s.node == nil:
		return fmt.Errorf("its node %q does not exist, or another of its name does; decide again", s.Node)
	case s.node != nil && s.node.Deleting:
		return fmt.Errorf("its node %q is being deleted already; decide again without it", s.Node)
	}
	return nil
}
