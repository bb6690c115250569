package launchtemplate

import (
	"context"
	"maps"
	"strconv"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// TurnKey is the tag of templates that only one process launches by: the number of
// its turn among those that launch for the cluster.
const TurnKey = "dovetail/turn"

// OfTurn returns the template with the same content for one turn. Its name is another
// one than that of t, and than those for other turns.
func (t Template) OfTurn(turn string) Template {
	t.Name = nameOf([]byte(t.Name + " " + turn))
	t.Tags = maps.Clone(t.Tags)
	t.Tags[TurnKey] = turn
	return t
}

// EndTurns deletes the templates of all turns, so that a call by one of them that
// EC2 has not carried out yet fails. ended says that there were any, others what Others
// says; turn is for the caller, and higher than theirs. After an error turns may have ended
// or not; repeat.
func (s *Store) EndTurns(ctx context.Context, now time.Time) (turn string, ended, others bool, err error) {
	highest := now.UnixNano()
	var names []string
	err = s.each(ctx, nil, func(name string, t *ec2types.LaunchTemplate) {
		others = others || s.foreign(name)
		for _, tag := range t.Tags {
			if value(tag.Key) == TurnKey {
				names = append(names, name)
				if n, err := strconv.ParseInt(value(tag.Value), 10, 64); err == nil && n >= highest {
					highest = n + 1
				}
			}
		}
	})
	if err != nil {
		return "", false, false, err
	}
	if _, err := s.delete(ctx, names); err != nil {
		return "", false, false, err
	}
	return strconv.FormatInt(highest, 10), len(names) > 0, others, context.Cause(ctx)
}

// Others reports whether EC2 lists a template of the cluster that this process has not
// made: another process may have launched by it.
func (s *Store) Others(ctx context.Context) (others bool, err error) {
	err = s.each(ctx, nil, func(name string, _ *ec2types.LaunchTemplate) { others = others || s.foreign(name) })
	return others, err
}

func (s *Store) foreign(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.made[name]
}
