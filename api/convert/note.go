package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says how much a Note matters. The zero value is none of them.
type Severity int

// The severities, the least first.
const (
	// Info is a change that keeps the meaning, or a document that needs none.
	Info Severity = iota + 1
	// Warning is a difference in behaviour, or a setting that is no more.
	Warning
	// Action is something to complete by hand before the result can be used.
	Action
	// Error is an object that could not be converted and was left as it is, or
	// one that contradicts another.
	Error
)

// String returns info, warning, action or error.
func (s Severity) String() string {
	if s >= Info && s <= Error {
		return [...]string{Info: "info", Warning: "warning", Action: "action", Error: "error"}[s]
	}
	return fmt.Sprintf("Severity(%d)", int(s))
}

// Note is a remark on one object.
type Note struct {
	// Source is the name of the Source. It may be empty.
	Source string
	// Document counts the documents of the source that hold anything, from 1.
	Document int
	// Line is the line of the source, from 1, on which the field stands, or the
	// nearest thing that does.
	Line int
	// Object names the object as it was, such as "Provisioner default" or
	// "Deployment shop/web". It is empty for a text that could not be read and
	// for a comment.
	Object string
	// Field is the path of the field, such as spec.limits.resources: as it was in
	// the input if it stood there, otherwise as it is in the output. It is empty
	// if the object as a whole is meant.
	Field string
	// Severity says how much it matters.
	Severity Severity
	// Message says what was done and why, or what to do. It is one line.
	Message string
}

// String renders the note as one line, in the form in which compilers report:
//
//	old.yaml:12: warning: Provisioner default: spec.consolidation: ...
func (n Note) String() string {
	var b strings.Builder
	b.WriteString(n.Source)
	if n.Line > 0 {
		if n.Source == "" {
			b.WriteString("line ")
		} else {
			b.WriteString(":")
		}
		fmt.Fprintf(&b, "%d", n.Line)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(n.Severity.String())
	for _, part := range []string{n.Object, n.Field, n.Message} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	return b.String()
}

// Worst returns the highest severity among notes, and 0 if there are none.
func Worst(notes []Note) Severity {
	var worst Severity
	for _, n := range notes {
		worst = max(worst, n.Severity)
	}
	return worst
}

// place is an object of the input, by the indices of its source and of itself.
type place struct{ source, object int }

// ranked is a note with what it is sorted by.
type ranked struct {
	source, object int // indices of the input
	note           Note
}

// sorted puts notes in the order of the input. Those of one object stay in the
// order in which they were made, which is that of the fields by and large.
func sorted(all []ranked) []Note {
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(
			cmp.Compare(a.source, b.source),
			cmp.Compare(a.note.Document, b.note.Document),
			cmp.Compare(a.object, b.object),
		)
	})
	var notes []Note
	for _, r := range all {
		if len(notes) == 0 || notes[len(notes)-1] != r.note {
			notes = append(notes, r.note)
		}
	}
	return notes
}
