// Package textstream divides texts of YAML and JSON into documents exactly as a YAML parser would,
// so that no document of a text is overlooked: a parser for one object reads the first document and
// ignores the others. It also finds the lines of fields and the keys that appear twice, and
// recognises texts that a template engine still has to fill in.
//
// A line ends as YAML defines: with a line feed, a carriage return, both, or one of U+0085, U+2028
// and U+2029. Texts are UTF-8; [UTF8] converts others.
package textstream

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"

	"sigs.k8s.io/yaml"
)

// Document is a part of a text that is more than blanks, comments, directives and markers. Its Text
// is either in the memory of the whole text or in memory that nothing else uses.
type Document struct {
	Line int    // of the whole text, on which Text begins, from 1
	Text []byte // with the marker --- that begins it, except for JSON
	JSON bool   // Text is one valid JSON value
}

// UTF8 returns a text as UTF-8 without a byte order mark. A text that begins with the
// mark of UTF-16, as Windows PowerShell writes it, is decoded; what is not valid in
// it becomes U+FFFD. Any other text is returned as it is, in the same memory.
func UTF8(data []byte) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fromUTF16(data[2:], binary.BigEndian)
	}
	return data
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(data)/2+1)
	for ; len(data) > 1; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	if len(data) > 0 {
		units = append(units, 0xfffd) // half a character
	}
	return []byte(string(utf16.Decode(units)))
}

// Part is a piece of a text. The markers and texts of all parts, joined, are the text.
type Part struct {
	Marker string // that begins the part: ---, a line that begins with ..., or nothing
	Text   []byte // behind the marker, up to the next; the rest of the line of --- is in it
	Line   int    // of the whole text, on which Text begins, from 1
	JSON   bool   // Text is one JSON value, and blanks around it
}

// Single returns the only document of a text as JSON; "null" if there is none. A second document is
// an error, and so is a key that appears twice in a mapping of YAML. JSON keeps such keys.
func Single(data []byte) ([]byte, error) {
	docs := Split(UTF8(data))
	switch {
	case len(docs) == 0:
		return []byte("null"), nil
	case len(docs) > 1:
		return nil, fmt.Errorf("line %d: a second document begins; keep everything in one", docs[1].Line)
	case docs[0].JSON:
		return bytes.TrimSpace(docs[0].Text), nil
	}
	data, err := yaml.YAMLToJSONStrict(docs[0].Text)
	if err != nil {
		return nil, fmt.Errorf("neither YAML nor JSON: %w", err)
	}
	return data, nil
}

// Parts cuts a text in UTF-8 into pieces, in order. In YAML, lines that begin with --- or
// ... mark them; JSON objects and lists may also follow one another without a marker, as
// jq prints them. Whether a part is valid is for a parser to say. It takes time
// proportional to the text.
func Parts(text []byte) []Part { return partsBy(findMarker, text) }

// partsBy divides a text at markers. find returns the position of the next marker of a kind, from a
// given position on.
func partsBy(find func(text []byte, from int, marker string) int, text []byte) (parts []Part) {
	if parts, ok := splitJSON(Part{Line: 1, Text: text}); ok {
		return parts // whatever looks like a marker is within a string
	}
	part, from := Part{Line: 1}, 0
	begin, end := find(text, 0, "---"), find(text, 0, "...")
	for {
		at := min(begin, end)
		part.Text = text[from:at]
		if values, ok := splitJSON(part); ok {
			parts = append(parts, values...)
		} else {
			parts = append(parts, part)
		}
		if at == len(text) {
			return parts
		}
		from = at + len("---")
		if end < begin {
			from = at + lineEnd(text[at:]) // only a comment may follow the dots
			end = find(text, from, "...")
		} else {
			begin = find(text, from, "---")
		}
		marker := text[at:from]
		part = Part{Marker: string(marker), Line: part.Line + countLines(part.Text) + countLines(marker)}
	}
}

// Split cuts a text into its documents, as Parts does. Documents that hold only blanks,
// comments, directives and markers are left out.
func Split(text []byte) (docs []Document) {
	at := 0
	for _, p := range Parts(text) {
		from := at + len(p.Marker)
		at = from + len(p.Text)
		switch {
		case Blank(p.Text):
		case p.JSON:
			value := bytes.TrimLeft(p.Text, " \t\r\n")
			docs = append(docs, Document{Line: p.Line + countLines(p.Text[:len(p.Text)-len(value)]), Text: value, JSON: true})
		case p.Marker == "---":
			docs = append(docs, Document{Line: p.Line, Text: text[from-len(p.Marker) : at]})
		default:
			docs = append(docs, Document{Line: p.Line, Text: p.Text})
		}
	}
	return docs
}

// findMarker returns the position of the next line, from a position on, that consists of a marker
// or begins with it and a blank; the length of the text if there is none. In YAML such a line is
// always a marker, even inside a block of text.
func findMarker(text []byte, from int, marker string) int {
	for {
		i := bytes.Index(text[from:], []byte(marker))
		if i < 0 {
			return len(text)
		}
		at := from + i
		if behind := text[at+3:]; beginsLine(text[:at]) &&
			(len(behind) == 0 || behind[0] == ' ' || behind[0] == '\t' || breakLen(behind) > 0) {
			return at
		}
		from = at + 1
	}
}

// beginsLine tells whether a line begins behind a text.
func beginsLine(before []byte) bool {
	if len(before) == 0 {
		return true
	}
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasSuffix(before, []byte(end)) {
			return true
		}
	}
	return false
}

// breakLen returns the length of the line ending at the start of a text, 0 if there is none.
func breakLen(text []byte) int {
	for _, end := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(text, []byte(end)) {
			return len(end)
		}
	}
	return 0
}

// lineEnd returns the length of the first line of a text, including its line ending.
func lineEnd(text []byte) int {
	for i := range text {
		if n := breakLen(text[i:]); n > 0 {
			return i + n
		}
	}
	return len(text)
}

// countLines counts the ends of lines in a text.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) - bytes.Count(text, []byte("\r\n"))
	for _, end := range []string{"\u0085", "\u2028", "\u2029"} {
		n += bytes.Count(text, []byte(end))
	}
	return n
}

// Blank says whether a text contains only blanks, comments and YAML directives.
func Blank(text []byte) bool {
	for len(text) > 0 {
		n := lineEnd(text)
		line := bytes.Trim(text[:n], " \t\r\n\u0085\u2028\u2029") // no other space is a blank of YAML
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
		text = text[n:]
	}
	return true
}

// splitJSON cuts a part that is a run of JSON objects and lists into one part for each of them. The
// second result is false if the part is anything else. Text after the last value belongs to the
// last part.
func splitJSON(part Part) ([]Part, bool) {
	text := bytes.TrimLeft(part.Text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil, false
	}
	part.JSON = true
	if json.Valid(text) {
		return []Part{part}, true
	}
	var parts []Part
	decoder := json.NewDecoder(bytes.NewReader(part.Text))
	start, line := 0, part.Line
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err == io.EOF {
			break
		} else if err != nil {
			return nil, false
		}
		end := int(decoder.InputOffset())
		parts = append(parts, Part{Text: part.Text[start:end], Line: line, JSON: true})
		line += countLines(part.Text[start:end])
		start = end
	}
	parts[0].Marker = part.Marker
	last := &parts[len(parts)-1]
	last.Text = part.Text[start-len(last.Text):]
	return parts, true
}
