package manifest

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

var (
	// helmMark is an action of a template of Helm, fillMark a variable or a directive that
	// Terraform, envsubst and others fill in.
	helmMark = regexp.MustCompile(`\{\{.*?(\}\}|$)`)
	fillMark = regexp.MustCompile(`\$\{[^}]*\}?|%\{[^}]*\}?`)
	// hclBlock is the first line of a block of Terraform's own language.
	hclBlock = regexp.MustCompile(`^(resource|data|module|variable|output|locals|provider|terraform)\b[^:]*\{\s*$`)
	// blockScalar is the end of a line whose value is the text of the lines below it.
	blockScalar = regexp.MustCompile(`(^|[:\s-])[|>][0-9+-]*\s*(#.*)?$`)
)

// mark says how a line of a template that nobody has rendered shows it, "" for other lines.
func mark(line string) string {
	if found := helmMark.FindString(line); found != "" {
		return fmt.Sprintf("is a template that is not rendered: %s; render it, with helm template for instance, and read the result", short(found))
	}
	if found := fillMark.FindString(line); found != "" {
		return fmt.Sprintf("is a template that is not filled in: %s; fill it in, with Terraform, envsubst or Flux for instance, and read the result", short(found))
	}
	if hclBlock.MatchString(line) {
		return "is in the language of Terraform and no manifest; read what it makes, as kubectl get -o yaml prints it"
	}
	return ""
}

// Unrendered is the fault of a source that is a template, at its first line that shows it; nil
// if no line does. Comments, and texts of several lines such as scripts, do not count.
func Unrendered(s Source) *Fault {
	number, below := 0, -1 // lines further in than below are of a text
	for raw := range bytes.Lines(s.Data) {
		number++
		line := strings.TrimRight(string(raw), "\r\n")
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		if text == "" || text[0] == '#' || below >= 0 && indent > below {
			continue
		}
		below = -1
		if message := mark(text); message != "" {
			return &Fault{File: s.Name, Line: number, Message: message}
		}
		if blockScalar.MatchString(text) {
			below = indent
		}
	}
	return nil
}

// rendered puts the one fault that a source is a template in the place of all its faults, if
// one of them comes of that: the source cannot be parsed, or a value that is at fault is one
// to be filled in.
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
			if f.File == s.Name && (unread || f.Line > 0 && f.Line <= len(lines) && mark(string(lines[f.Line-1])) != "") {
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
