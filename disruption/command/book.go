package command

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// StartsWithin is for how long a Book retries the first writes of a command none of which succeeded.
// After that the cluster may have changed too much for the decision.
const StartsWithin = 10 * time.Second

// Book stores facts about the commands of this process that no object records: which replacements
// it has seen created, so that a lost one is not created again; and whether any write of the command
// has succeeded yet. Recover finds the commands themselves in each pass. A Book may be lost:
// commands of another process are continued in the same way. The zero value is empty. It is not
// safe for concurrent use.
type Book struct {
	begun map[string]*entry
}

// entry is a command that this process began.
type entry struct {
	Prepared
	at      time.Time
	created []string
	stands  bool // in the objects
	failed  bool
}

// Round is the next writes of all commands at one time.
type Round struct {
	// Writes are the next writes, by command and in the order of Progress.Writes. Writes of different
	// commands are independent.
	Writes []Write
	// Undone are the commands of this process that are being undone, each once.
	Undone []Undoing
	// Finished are the sorted IDs of the commands of this process that ended: carried out, undone,
	// or given up because none of their first writes succeeded.
	Finished []string
}

// Undoing is a command that is being undone.
type Undoing struct {
	Command Command
	// Why is the Progress.Failure of the command.
	Why Failure
}

// Begin stores a command in the book and returns the writes and the error of Start.
func (b *Book) Begin(now time.Time, p Prepared, v Input) ([]Write, error) {
	writes, err := Start(p.Command, v)
	if err != nil {
		return nil, err
	}
	if b.begun == nil {
		b.begun = map[string]*entry{}
	}
	b.begun[p.Command.ID] = &entry{Prepared: p, at: now}
	return writes, nil
}

// Advance calls Advance for all commands that Recover found in the input. A command is undone if its
// record has no NodeClaims, this process did not begin it, and it lacks a replacement, because it
// is unknown what to launch. A command that this process began and that is not in found has ended;
// but if none of its records was ever seen, Start is repeated until StartsWithin has passed. If now
// is before the command began, because a clock was set back, StartsWithin is counted from now. A
// command that began at now is skipped: the input is older.
func (b *Book) Advance(now time.Time, found []Command, v Input) Round {
	var out Round
	live := map[string]bool{}
	there := map[string]bool{}
	for i := range v.Claims {
		there[v.Claims[i].Name] = true
	}
	for _, c := range found {
		live[c.ID] = true
		e, view := b.begun[c.ID], v
		if e != nil {
			e.stands = true
			for _, r := range c.Replacements {
				if there[r.Token] && !slices.Contains(e.created, r.Token) {
					e.created = append(e.created, r.Token)
				}
			}
			view.Created = e.created
		} else if len(c.Claims()) == 0 && slices.ContainsFunc(c.Replacements, func(r Replacement) bool { return !there[r.Token] }) {
			view.Cancel = "what it was to launch was lost with the process that began it"
		}
		progress := Advance(now, c, view)
		if e != nil && progress.Failure != "" && !e.failed {
			e.failed = true
			out.Undone = append(out.Undone, Undoing{c, progress.Failure})
		}
		out.Writes = append(out.Writes, progress.Writes...)
	}
	for _, id := range slices.Sorted(maps.Keys(b.begun)) {
		e := b.begun[id]
		if live[id] || e.at.Equal(now) {
			continue
		}
		if now.Before(e.at) {
			e.at = now
		}
		if !e.stands && now.Sub(e.at) < StartsWithin {
			if writes, err := Start(e.Command, v); err == nil {
				out.Writes = append(out.Writes, writes...)
				continue
			}
		}
		delete(b.begun, id)
		out.Finished = append(out.Finished, id)
	}
	return out
}

// Claim returns, for a write of kind WriteCreate, the NodeClaim to create, its pods if they are known
// (Prepared.Pods), and the command that launches it: one that this process began, or else one of
// found. The NodeClaim is nil for any other write, and if it is unknown what to launch.
func (b *Book) Claim(now time.Time, s Write, found []Command) (*v1.NodeClaim, []*corev1.Pod, Command) {
	candidates := slices.SortedFunc(maps.Values(b.begun), func(x, y *entry) int { return cmp.Compare(x.Command.ID, y.Command.ID) })
	for _, c := range found {
		if b.begun[c.ID] == nil {
			candidates = append(candidates, &entry{Prepared: Prepared{Command: c}})
		}
	}
	for _, e := range candidates {
		claim := e.Prepared.Claim(now, s)
		if claim == nil {
			continue
		}
		i := slices.IndexFunc(e.Command.Replacements, func(r Replacement) bool { return r.Token == s.Object })
		if i < len(e.Pods) {
			return claim, e.Pods[i], e.Command
		}
		return claim, nil, e.Command
	}
	return nil, nil, Command{}
}
