package manifest

import (
	"bytes"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// andThen says what to do with a template once it is rendered.
const andThen = "read the result"

// Unrendered returns a fault if a source is an unrendered template, at the first line that shows
// it; nil if no line does.
func Unrendered(s Source) *Fault {
	line, message := textstream.Unrendered(s.Data, andThen)
	if line == 0 {
		return nil
	}
	return &Fault{File: s.Name, Line: line, Message: message}
}

// rendered replaces all faults of a source by the one fault that it is a template, if one of them
// is caused by that: the source cannot be parsed, or a faulty value is a placeholder.
func (fs Faults) rendered(sources []Source) (out Faults) {
	instead := map[string]*Fault{}
	for _, s := range sources {
		fault := Unrendered(s)
		if fault == nil {
			continue
		}
		lines := bytes.Split(s.Data, []byte("\n"))
		for _, f := range fs {
			unread := f.Object == "" && f.Field == ""
			if f.File == s.Name && (unread || f.Line > 0 && f.Line <= len(lines) && textstream.Mark(string(lines[f.Line-1]), andThen) != "") {
				instead[s.Name] = fault
			}
		}
	}
	told := map[string]bool{}
	for _, f := range fs {
		if fault := instead[f.File]; fault == nil {
			out = append(out, f)
		} else if !told[f.File] {
			told[f.File] = true
			out = append(out, fault)
		}
	}
	return out
}
