package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Fault is one thing wrong with a manifest.
type Fault struct {
	File     string // name of the Source
	Document int    // counts from 1 within the file; zero for the file as a whole
	Line     int    // counts from 1 within the file; zero if it is not known
	Object   string // what the document holds, such as "Deployment shop/web"; empty if it is not known
	Field    string // path, such as "spec.replicas"; empty for the object as a whole
	Message  string // what is wrong, and what to do about it
}

// Error renders the fault as one line, as a compiler would.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if f.Document > 0 {
		fmt.Fprintf(&b, " (document %d)", f.Document)
	}
	for _, part := range []string{f.Object, f.Field, f.Message} {
		if part != "" {
			b.WriteString(": ")
			b.WriteString(part)
		}
	}
	return b.String()
}

// Faults is the error Read returns: everything wrong with its sources, in the
// order of the sources. It is never empty.
type Faults []*Fault

// alike is the largest number of faults printed one by one that have the same message for objects
// of one kind. All of them are printed if there are at most fewMore others.
const alike, fewMore = 3, 2

// listIndex matches a list index within the path of a field.
var listIndex = regexp.MustCompile(`\[\d+\]`)

// Error renders one fault per line. If many faults have the same message for objects of one kind,
// it renders the first ones, then the number of others and the last object. A controller that
// writes a wrong field writes it wrong in all objects.
func (fs Faults) Error() string {
	groups := map[Fault][]*Fault{}
	for _, f := range fs {
		groups[f.group()] = append(groups[f.group()], f)
	}
	told := map[Fault]int{}
	lines := make([]string, 0, len(fs))
	for _, f := range fs {
		key := f.group()
		same := groups[key]
		told[key]++
		switch {
		case told[key] <= alike || len(same) <= alike+fewMore:
			lines = append(lines, f.Error())
		case told[key] == alike+1:
			last := *same[len(same)-1]
			last.Field = ""
			last.Message = fmt.Sprintf("is the last of %d more with this fault", len(same)-alike)
			lines = append(lines, last.Error())
		}
	}
	return strings.Join(lines, "\n")
}

// group returns the part of a fault that faults summed up together share: the file, the kind of
// object, the field without list indexes, and the message.
func (f *Fault) group() Fault {
	kind, _, _ := strings.Cut(f.Object, " ")
	return Fault{File: f.File, Object: kind, Field: listIndex.ReplaceAllString(f.Field, "[]"), Message: f.Message}
}

// Unwrap lets errors.As find the single faults.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}

// sorted sorts faults by source in the order of reading, then by line.
func (fs Faults) sorted(rank map[string]int) Faults {
	slices.SortStableFunc(fs, func(a, b *Fault) int {
		return cmp.Or(
			cmp.Compare(rank[a.File], rank[b.File]),
			cmp.Compare(a.Document, b.Document),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return fs
}

// place is where an object of the engine's input was read from: an object of the sources, and the
// path within it.
type place struct {
	object *Object
	prefix string
}

// Explain converts an error of provisioning.Prepare, which names objects of the engine's input,
// into Faults, which name their places in the sources. Errors without a known place stay as they
// are. Pods of one workload share their faults, so each of these is reported once.
func (c *Cluster) Explain(err error) error {
	faults, rest := c.locate(err)
	if len(faults) == 0 {
		return err
	}
	return errors.Join(append([]error{faults.sorted(c.ranks)}, rest...)...)
}

// locate divides an error into faults with a place in the sources, and all others.
func (c *Cluster) locate(err error) (faults Faults, rest []error) {
	told := map[string]bool{}
	for _, in := range provisioning.Faults(err) {
		at, known := c.places[strings.ReplaceAll(in.Object, `"`, "")]
		if !known {
			rest = append(rest, in)
			continue
		}
		bare := provisioning.InputError{Detail: in.Detail, Err: in.Err}
		f := at.object.Fault(join(at.prefix, in.Field), "%s", strings.TrimPrefix(bare.Error(), ": "))
		if !told[f.Error()] {
			told[f.Error()] = true
			faults = append(faults, f)
		}
	}
	return faults, rest
}

// andThen says what to do with a template once it is rendered.
const andThen = "read the result"

// rendered replaces all faults of a source by the one fault that it is an unrendered template, if
// one of them is caused by that: the source cannot be parsed, or a faulty value is a placeholder.
func (fs Faults) rendered(sources []Source) (out Faults) {
	instead := map[string]*Fault{}
	for _, s := range sources {
		line, message := textstream.Unrendered(s.Data, andThen)
		lines := bytes.Split(s.Data, []byte("\n"))
		if line > 0 && slices.ContainsFunc(fs, func(f *Fault) bool {
			unread := f.Object == "" && f.Field == ""
			return f.File == s.Name && (unread || f.Line > 0 && f.Line <= len(lines) && textstream.Mark(string(lines[f.Line-1]), andThen) != "")
		}) {
			instead[s.Name] = &Fault{File: s.Name, Line: line, Message: message}
		}
	}
	for _, f := range fs {
		if fault := instead[f.File]; fault == nil {
			out = append(out, f)
		} else if !slices.Contains(out, fault) {
			out = append(out, fault)
		}
	}
	return out
}
