package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// part is a piece of a source: the marker that begins a document, if any, and
// the text up to the next.
type part struct {
	marker string // "---", a line that begins with "...", or nothing
	text   []byte
	line   int // of the source on which text begins, from 1
}

// split cuts a text into parts that joined together are the text again.
func split(data []byte) []part {
	var parts []part
	current := part{line: 1}
	start, line := 0, 1
	for at := 0; at < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if isMarker(data[at:end]) {
			current.text = data[start:at]
			parts = append(parts, splitJSON(current)...)
			// What follows --- on its line belongs to the document.
			start, current = at+3, part{marker: "---", line: line}
			if data[at] == '.' {
				start, current = end, part{marker: string(data[at:end]), line: line + 1}
			}
		}
		at = end
	}
	current.text = data[start:]
	return append(parts, splitJSON(current)...)
}

// isMarker tells whether a line begins or ends a YAML document. YAML knows no
// other meaning of such a line, not even inside a block of text.
func isMarker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0
}

// splitJSON cuts a run of JSON values, as jq prints them, into one part each.
func splitJSON(p part) []part {
	if text := bytes.TrimSpace(p.text); len(text) == 0 || text[0] != '{' {
		return []part{p}
	}
	var parts []part
	dec := json.NewDecoder(bytes.NewReader(p.text))
	start, line := 0, p.line
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return []part{p}
		}
		end := int(dec.InputOffset())
		parts = append(parts, part{text: p.text[start:end], line: line})
		line += bytes.Count(p.text[start:end], []byte("\n"))
		start = end
	}
	parts[0].marker = p.marker
	last := &parts[len(parts)-1]
	last.text = p.text[start-len(last.text):]
	return parts
}

// blank tells whether a text holds nothing but blanks, comments and YAML
// directives.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}
