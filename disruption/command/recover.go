package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Recovery is the result of Recover.
type Recovery struct {
	// Commands are the commands in progress, by creation, then by ID. Pass each to Advance with the
	// same input.
	Commands []Command
	// Writes remove marks that belong to no command, at most one for each object, the NodeClaims by
	// name before the Nodes by name.
	Writes []Write
	// Faults joins what is wrong with records that cannot be read or contradict another,
	// in the same order; nil if there are none. Writes clear them.
	Faults error
}

// Recover finds the commands in progress among all NodeClaims and Nodes of the cluster. A
// controller calls it when it starts, and may call it in every pass instead of remembering
// commands. It reads the input once, and once more for each command.
//
// Marks that belong to no command are removed. These are
//
//   - a record that cannot be read, that has the ID of a command but differs from it, or that is
//     of a command in which the object does not take part;
//   - a hold, a disruption reason or a disrupted taint without a record.
//
// They include marks that Karpenter left when it restarted, and taints added by hand. Marks are
// kept on an object that is being deleted, and on a Node whose NodeClaim is, because the Node must
// stay closed while it is drained. The reason of a rebooting node is kept too.
func Recover(v Input) Recovery {
	var out Recovery
	commands := map[string]Command{}
	read := map[string]Record{}
	faults := map[string]error{}
	for _, text := range v.records() {
		if r, err := ParseRecord(text); err != nil {
			faults[text] = err
		} else {
			read[text] = r
		}
	}
	// Of two records with the same ID the smaller text counts, so that the choice depends on
	// nothing else.
	for _, r := range read {
		c, text := r.Command, Record{Command: r.Command}.String()
		if old, ok := commands[c.ID]; !ok || text < (Record{Command: old}).String() {
			commands[c.ID] = c
		}
	}
	for text, r := range read {
		if (Record{Command: r.Command}).String() != (Record{Command: commands[r.Command.ID]}).String() {
			faults[text] = fmt.Errorf("record of a command: another record says otherwise of command %q", r.Command.ID)
		}
	}
	claims, nodes := map[string]bool{}, map[string]bool{} // that take part in a command
	for _, c := range commands {
		l := observe(&c, &v, time.Time{})
		l.parts(claims, nodes)
		if l.live() {
			out.Commands = append(out.Commands, c)
		}
	}
	slices.SortFunc(out.Commands, func(a, b Command) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	s := sweep{out: &out, read: read, faults: faults}
	s.claims(v.Claims, claims)
	s.nodes(v.Nodes, nodes, draining(v.Claims))
	out.Faults = errors.Join(s.found...)
	return out
}

// records returns the texts of all records, each once.
func (v *Input) records() []string {
	var texts []string
	for i := range v.Claims {
		texts = append(texts, v.Claims[i].Record)
	}
	for i := range v.Nodes {
		texts = append(texts, v.Nodes[i].Record)
	}
	slices.Sort(texts)
	return slices.DeleteFunc(slices.Compact(texts), func(text string) bool { return text == "" })
}

// sweep collects the writes that remove marks without a command.
type sweep struct {
	out    *Recovery
	read   map[string]Record
	faults map[string]error
	found  []error
}

// explained reports whether the record of an object is valid and of a command in which the object
// takes part. Otherwise it adds an error to found.
func (s *sweep) explained(kind, name, record string, part map[string]bool) bool {
	if record == "" {
		return false
	}
	err := s.faults[record]
	if err == nil {
		if part[name] {
			return true
		}
		err = fmt.Errorf("record of a command: the %s has no part in command %q", kind, s.read[record].Command.ID)
	}
	s.found = append(s.found, fmt.Errorf("%s %q: annotation %s: %w; it is removed", kind, name, AnnotationKey, err))
	return false
}

func (s *sweep) claims(claims []Claim, part map[string]bool) {
	for _, c := range slices.SortedFunc(slices.Values(claims), func(a, b Claim) int { return cmp.Compare(a.Name, b.Name) }) {
		if c.Deleting && !c.Held || s.explained("nodeclaim", c.Name, c.Record, part) {
			continue
		}
		write := Write{Object: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion, Why: "no command explains it"}
		switch {
		case c.Held:
			write.Kind = WriteUnhold
		case c.Record != "":
			write.Kind = WriteRelease
		case c.Reason != "" && !c.Rebooting:
			write.Kind = WriteClearReason
		default:
			continue
		}
		s.out.Writes = append(s.out.Writes, write)
	}
}

// draining returns the names of the Nodes whose NodeClaim is being deleted.
func draining(claims []Claim) map[string]bool {
	out := map[string]bool{}
	for i := range claims {
		if c := &claims[i]; c.Deleting && c.Node != "" {
			out[c.Node] = true
		}
	}
	return out
}

func (s *sweep) nodes(nodes []Node, part, draining map[string]bool) {
	for _, n := range slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return cmp.Compare(a.Name, b.Name) }) {
		if n.Deleting || draining[n.Name] || s.explained("node", n.Name, n.Record, part) {
			continue
		}
		if n.Tainted || n.Record != "" {
			s.out.Writes = append(s.out.Writes, Write{Kind: WriteUntaint, Object: n.Name,
				UID: n.UID, ResourceVersion: n.ResourceVersion, Why: "no command explains it"})
		}
	}
}

// parts adds the names of the objects that take part to the sets.
func (l *lifecycle) parts(claims, nodes map[string]bool) {
	for i := range l.sources {
		s := &l.sources[i]
		if s.ours {
			claims[s.claim.Name] = true
		}
		if s.nodeOurs {
			nodes[s.node.Name] = true
		}
	}
	for _, r := range l.claims {
		if r != nil {
			claims[r.Name] = true
		}
	}
}
