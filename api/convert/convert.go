package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// Source is a named text to convert.
type Source struct {
	// Name is for notes, such as the name of a file.
	Name string
	// Data is a YAML stream, a JSON text, or several JSON texts in a row. A document is one object, a
	// List, or an array of objects.
	Data []byte
}

// Options supply what manifests do not contain. The zero value leaves a placeholder for the IAM
// role of nodes, and a Note that asks for it.
type Options struct {
	// Role is the IAM role of nodes for classes that name neither a role nor an
	// instance profile. Empty leaves $KARPENTER_NODE_ROLE, as karpenter-convert does.
	Role string
	// InstanceProfile is used instead of Role, and instead of the default in a
	// ConfigMap karpenter-global-settings.
	InstanceProfile string
	// AMIVersion is the version of image aliases, such as v20240807, for classes that
	// took the latest image. Empty is latest, the only version of Windows families.
	AMIVersion string
	// Check also validates NodePools, NodeClaims, EC2NodeClasses and NodeOverlays
	// that need no conversion: each fault is a Note of severity Action. A document
	// of one of Karpenter's groups that cannot be read is a Note of severity Error.
	Check bool
}

// Result is the result of converting all sources.
type Result struct {
	// Outputs are the sources with all objects as v1, in the same order. Their data is UTF-8; an
	// unchanged source keeps its bytes and encoding.
	Outputs []Source
	// Notes are in the order of the sources and their documents.
	Notes []Note
}

// Stream returns all outputs as one YAML stream in UTF-8, in order. Outputs without text are left out.
func (r *Result) Stream() []byte {
	var out []byte
	for _, o := range r.Outputs {
		text := textstream.UTF8(o.Data)
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		if len(out) > 0 && text[0] == '%' {
			out = append(out, "...\n"...) // which must precede a directive
		} else if len(out) > 0 && !bytes.HasPrefix(text, []byte("---")) {
			out = append(out, "---\n"...)
		}
		out = append(out, text...)
	}
	return out
}

// Severity is the importance of a Note. The zero value is no severity.
type Severity int

// The severities, in ascending order.
const (
	// Info is a change that keeps the behaviour, or a document that was left as it is and seems to
	// hold no object to convert.
	Info Severity = iota + 1
	// Warning is a difference in behaviour, or something that was removed.
	Warning
	// Action is something that a person has to complete.
	Action
	// Error is an object that was left as it is, or that contradicts another, or a text that is
	// neither YAML nor JSON.
	Error
)

// String returns info, warning, action or error.
func (s Severity) String() string {
	if s >= Info && s <= Error {
		return [...]string{Info: "info", Warning: "warning", Action: "action", Error: "error"}[s]
	}
	return fmt.Sprintf("Severity(%d)", int(s))
}

// Note reports a setting that was lost, added, not converted, or that has another meaning now.
type Note struct {
	// Source is the name of the Source. It may be empty.
	Source string
	// Line is the line of the source, from 1, of the field, or of the closest field
	// around it that the source has.
	Line int
	// Object is the object as it was, such as "Provisioner default", or empty.
	Object string
	// Field is the path of the field, such as spec.limits.resources: in the source
	// if the field was there, otherwise in the output. It may be empty.
	Field string
	// Severity is the importance of the note.
	Severity Severity
	// Message says what was done and why, or what to do. It is one line.
	Message string
}

// String renders the note as one line, in the form of a compiler's message:
//
//	old.yaml:12: warning: Provisioner default: spec.consolidation: ...
func (n Note) String() string {
	place := fmt.Sprintf("%s:%d", n.Source, n.Line)
	if n.Source == "" {
		place = fmt.Sprintf("line %d", n.Line)
	}
	parts := []string{place, n.Severity.String(), n.Object, n.Field, n.Message}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Worst returns the highest severity among notes, and 0 if there are none.
func Worst(notes []Note) Severity {
	var worst Severity
	for _, n := range notes {
		worst = max(worst, n.Severity)
	}
	return worst
}

// Convert rewrites all sources together. Nil options are the zero value. A text that cannot be read
// or converted is passed on unchanged, with a Note. Convert takes memory in proportion to the
// texts. The caller owns the result.
func Convert(sources []Source, opts *Options) *Result {
	c := &converter{classNames: map[string]int{}}
	if opts != nil {
		c.options = *opts
	}
	files := make([][]*part, len(sources))
	for i, s := range sources {
		files[i] = c.read(s)
	}
	for _, o := range c.objects {
		c.readSettings(o)
		if now, _, _ := o.becomes(); now.Kind == awsv1.EC2NodeClassKind {
			c.classNames[o.name] = 1
		}
	}
	for _, o := range c.objects {
		c.convert(o)
	}
	c.moveKubelets()
	c.reportDuplicates()
	for _, o := range c.objects {
		c.check(o)
	}
	result := &Result{}
	for i, s := range sources {
		result.Outputs = append(result.Outputs, Source{Name: s.Name, Data: written(s.Data, files[i])})
		for _, p := range files[i] {
			result.Notes = append(result.Notes, p.notes...)
		}
	}
	return result
}
