package bootstrap

import (
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"
)

// mimePart is one part of a multipart archive.
type mimePart struct {
	// header are its lines, in order. A folded line contains line breaks.
	header []string
	body   string
}

const (
	typeNodeConfig = "application/node.eks.aws"
	typeShell      = "text/x-shellscript"
	mimeBoundary   = "//"
)

// looksLikeMIME reports whether a text is meant to be an archive.
func looksLikeMIME(text string) bool {
	text = strings.TrimSpace(text)
	for _, start := range []string{"MIME-Version:", "Content-Type:"} {
		if len(text) >= len(start) && strings.EqualFold(text[:len(start)], start) {
			return true
		}
	}
	return false
}

// parseMIME reads a multipart archive as cloud-init and nodeadm do: header lines, an empty line,
// then parts between lines of two dashes and the boundary. Text before the first part and after the
// last is ignored. A delimiter with nothing after it ends the archive too, as in mime/multipart and
// so in Karpenter. Errors have the number of the line and not its text. The text must have no
// carriage returns.
func parseMIME(text string) ([]mimePart, error) {
	p := mimeParser{lines: strings.Split(text, "\n")}
	for p.next < len(p.lines) && strings.TrimSpace(p.lines[p.next]) == "" {
		p.next++
	}
	header, err := p.header()
	if err != nil {
		return nil, err
	}
	boundary, err := boundaryOf(header)
	if err != nil {
		return nil, err
	}
	delimiter, end := "--"+boundary, "--"+boundary+"--"
	found := false
	for p.next < len(p.lines) && !found {
		line := trimRight(p.lines[p.next])
		if line == end {
			return nil, nil
		}
		found = line == delimiter
		p.next++
	}
	if !found {
		return nil, errors.New("no line of two dashes and the boundary begins a part: add it, or correct the boundary")
	}
	var parts []mimePart
	for !p.blank() {
		part, last, err := p.part(delimiter, end)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if last {
			break
		}
	}
	return parts, nil
}

func trimRight(line string) string { return strings.TrimRight(line, " \t") }

// boundaryOf finds the boundary in the header of an archive.
func boundaryOf(header []string) (string, error) {
	value, err := contentType(header)
	if err != nil {
		return "", err
	}
	kind, params, err := mime.ParseMediaType(value)
	if err != nil {
		return "", errors.New(`the Content-Type cannot be read: write it as multipart/mixed; boundary="//", with the quotes`)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		return "", errors.New("the Content-Type is not that of an archive, multipart/mixed: wrap the text as a part of one, or leave the header out")
	}
	boundary := params["boundary"]
	if boundary == "" || boundary != trimRight(boundary) || strings.Contains(boundary, "\n") {
		return "", errors.New(`the Content-Type has no boundary: write it as multipart/mixed; boundary="//"`)
	}
	return boundary, nil
}

// contentType returns the value of the header Content-Type. Without such a header it returns "".
func contentType(header []string) (value string, err error) {
	found := false
	for _, line := range header {
		name, text, _ := strings.Cut(line, ":")
		if !strings.EqualFold(name, "Content-Type") {
			continue
		}
		if found {
			return "", fmt.Errorf("there are two headers Content-Type: remove one")
		}
		found, value = true, strings.Join(strings.Fields(text), " ")
	}
	return value, nil
}

// mimeParser reads lines, the next one being lines[next].
type mimeParser struct {
	lines []string
	next  int
}

// blank reports whether nothing is left but empty lines.
func (p *mimeParser) blank() bool {
	return strings.TrimSpace(strings.Join(p.lines[p.next:], "")) == ""
}

// header reads lines up to an empty one, which it skips.
func (p *mimeParser) header() (header []string, err error) {
	for ; p.next < len(p.lines); p.next++ {
		line := p.lines[p.next]
		switch {
		case line == "":
			p.next++
			return header, nil
		case line[0] == ' ' || line[0] == '\t':
			if len(header) == 0 {
				return nil, fmt.Errorf("line %d: the header begins with a blank: remove the blank, or put an empty line before the text", p.next+1)
			}
			header[len(header)-1] += "\n" + line
		case !headerLine(line):
			return nil, fmt.Errorf("line %d: it is no header: put an empty line between the headers and the text", p.next+1)
		default:
			header = append(header, line)
		}
	}
	return nil, fmt.Errorf("the archive ends within headers: put an empty line and the text after them")
}

// headerLine reports whether a line is a name, a colon and a value.
func headerLine(line string) bool {
	name, _, found := strings.Cut(line, ":")
	if !found || name == "" {
		return false
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] >= 0x7f {
			return false
		}
	}
	return true
}

// part reads up to the next delimiter. The line break before that belongs to it.
func (p *mimeParser) part(delimiter, end string) (part mimePart, last bool, err error) {
	start := p.next
	if part.header, err = p.header(); err != nil {
		return part, false, err
	}
	for body := p.next; p.next < len(p.lines); p.next++ {
		if line := trimRight(p.lines[p.next]); line == delimiter || line == end {
			part.body = strings.Join(p.lines[body:p.next], "\n")
			p.next++
			return part, line == end, nil
		}
	}
	return part, false, fmt.Errorf("line %d: the part that begins here has no end: add a line of two dashes, the boundary and two dashes after the last part", start+1)
}

// writeMIME renders an archive. parseMIME returns the same parts, whatever is in their bodies.
func writeMIME(parts []mimePart) string {
	boundary := freeBoundary(parts)
	var b strings.Builder
	fmt.Fprintf(&b, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=%q\n\n", boundary)
	for _, part := range parts {
		fmt.Fprintf(&b, "--%s\n", boundary)
		for _, line := range part.header {
			b.WriteString(line + "\n")
		}
		b.WriteString("\n" + part.body + "\n")
	}
	fmt.Fprintf(&b, "--%s--\n", boundary)
	return b.String()
}

// freeBoundary returns the customary boundary, or one with a number if a line of a body would end a
// part early with it.
func freeBoundary(parts []mimePart) string {
	boundary := mimeBoundary
	for i := 1; taken(parts, boundary); i++ {
		boundary = mimeBoundary + strconv.Itoa(i)
	}
	return boundary
}

func taken(parts []mimePart, boundary string) bool {
	delimiter := "--" + boundary
	for _, part := range parts {
		if strings.HasPrefix(part.body, delimiter) || strings.Contains(part.body, "\n"+delimiter) {
			return true
		}
	}
	return false
}
