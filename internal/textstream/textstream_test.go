package textstream_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blanks, comments, directives and markers", "\n# a\n%YAML 1.2\n---\n  \n...\n---", ""},
		{"one", "a: 1\n", "1:a: 1|"},
		{"two", "a: 1\n---\nb: 2\n", "1:a: 1|2:---/b: 2|"},
		{"a value beside the marker", "a: 1\n--- {b: 2}\n", "1:a: 1|2:--- {b: 2}|"},
		{"dots", "a: 1\n... # over\nb: 2\n", "1:a: 1|3:b: 2|"},
		{"no marker", "a: ---\nb: x---\n c: 1\n----\n---x\n --- \n", "1:a: ---/b: x---/ c: 1/----/---x/ ---|"},
		{"carriage returns alone", "a: 1\r---\rb: 2\r", "1:a: 1|2:---/b: 2|"},
		{"of Windows", "a: 1\r\n---\r\nb: 2\r\n", "1:a: 1|2:---/b: 2|"},
		{"rare ends of lines", "a: 1\u0085---\u2028b: 2\u2029---\nc: 3", "1:a: 1|2:---\u2028b: 2|4:---/c: 3|"},
		{"JSON values", "{\"a\": 1}\n\n{\"b\": 2} [3]", `1:{"a": 1}|3:{"b": 2}|3:[3]|`},
		{"JSON between markers", "---\n{\"a\": 1}\n---\n{\"b\": 2}\n", `2:{"a": 1}|4:{"b": 2}|`},
		{"no JSON", "{a: 1}\n", "1:{a: 1}|"},
		{"a marker within JSON", "{\"a\": \"\u2028--- \"}", "1:{\"a\": \"\u2028--- \"}|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, d := range textstream.Split([]byte(tt.text)) {
				text := strings.NewReplacer("\r\n", "/", "\n", "/", "\r", "/").Replace(strings.TrimSpace(string(d.Text)))
				got += fmt.Sprintf("%d:%s|", d.Line, text)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// What is left out of documents is in the parts, and each knows its line.
func TestParts(t *testing.T) {
	got := ""
	for _, p := range textstream.Parts([]byte("# a\n---\na: 1\n... # over\n{\"a\": 1}\n\n{\"b\": 2}\n--- # c")) {
		got += fmt.Sprintf("%d %q %q %t|", p.Line, p.Marker, p.Text, p.JSON)
	}
	require.Equal(t, `1 "" "# a\n" false|2 "---" "\na: 1\n" false|5 "... # over\n" "{\"a\": 1}" true|`+
		`5 "" "\n\n{\"b\": 2}\n" true|8 "---" " # c" false|`, got)
}

func TestUTF8(t *testing.T) {
	const text = "a: ü\r\n---\r\nb: 😀"
	for _, tt := range []struct {
		name string
		in   []byte
	}{
		{"no mark", []byte(text)},
		{"UTF-8", []byte("\xef\xbb\xbf" + text)},
		{"UTF-16, low byte first", encode(text, binary.LittleEndian)},
		{"UTF-16, high byte first", encode(text, binary.BigEndian)},
	} {
		require.Equal(t, text, string(textstream.UTF8(tt.in)), tt.name)
	}
	require.Equal(t, "a\ufffd", string(textstream.UTF8([]byte("\xff\xfea\x00b"))), "half a character")
	require.Equal(t, "\ufffd", string(textstream.UTF8([]byte("\xfe\xff\xd8\x00"))), "half a pair")
}

func encode(text string, order binary.AppendByteOrder) []byte {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// FuzzSplit checks that a parser that reads the whole text finds as many documents that
// hold something as there are parts, wherever it can read all of it.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		"", "a: 1\n---\nb: 2\n", "--- a\n...\n--- b", "a\r---\rb", "{\"a\": 1}\n{}", "a: |\n  x\n---\n- b", "%YAML 1.2\n---\na: 1",
		"\u2028---\u2029a", "\"a\n --- \"", "# c\n--- # d\n...", "a: \"\u2028---\"", "\ufeffa: 1", "---\n---\nnull\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := textstream.UTF8(data)
		var joined []byte
		for _, p := range textstream.Parts(text) {
			joined = append(append(joined, p.Marker...), p.Text...)
		}
		if !bytes.Equal(joined, text) {
			t.Fatalf("%q: parts joined are %q", text, joined)
		}
		parts := textstream.Split(text)
		values, ok := documents(text)
		if !ok {
			return // a parser refuses it, or JSON values follow one another
		}
		found := 0
		for _, d := range parts {
			inside, ok := documents(d.Text)
			if !ok || inside > 1 {
				t.Fatalf("%q: part %q holds %d documents, %t", text, d.Text, inside, ok)
			}
			found += inside
		}
		if found != values {
			t.Fatalf("%q: %d documents in parts, %d in all", text, found, values)
		}
	})
}

// documents counts those that hold something.
func documents(text []byte) (n int, ok bool) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if err == io.EOF {
			return n, true
		}
		if err != nil {
			return n, false
		}
		if len(node.Content) > 0 && node.Content[0].Tag != "!!null" {
			n++
		}
	}
}

// Keys are equal if they are equal as texts in JSON, to which YAML is converted.
func TestDuplicates(t *testing.T) {
	for text, want := range map[string]string{
		"a: {b: 1, c: 2, b: 3, b: 4}\nd: [0, {e: 1, e: 2}]\n": "[{[a b] false} {[d 1 e] false}]",
		"{1: a, \"1\": b}":                                 "[{[1] true}]",
		"{1: a, 0x1: b, 1.0: c}":                           "[{[1] false}]",
		"{1.0: a, '1': b, 1.5: c, 1.50: d}":                "[{[1] true} {[1.5] false}]",
		"{yes: a, 'yes': b, On: c}":                        "[{[true] false}]",
		"{off: a, 'false': b}":                             "[{[false] true}]",
		"{~: a, '~': b, 2026-01-01: c}":                    "[{[~] true}]",
		"a: &a {b: 1}\nc: {<<: *a, <<: *a, b: 2}\nd: *a\n": "[]",
		"- {a: 1}\n- {\"a\": 1, a: 2}\n":                   "[{[1 a] false}]",
	} {
		root, err := textstream.Parse([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, fmt.Sprint(textstream.Duplicates(root)), text)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "it holds no value",
		"# a\n":            "it holds no value",
		"a: [":             "yaml: line 1: did not find expected node content",
		"{a: 1}\n{b: 2}\n": "the document goes on behind its first value; begin each object with a line of ---",
	} {
		_, err := textstream.Parse([]byte(text))
		require.EqualError(t, err, want, text)
	}
}

// A path that ends early leads to its last step that is there. Of equal keys the last counts.
func TestFind(t *testing.T) {
	root, err := textstream.Parse([]byte("a:\n  x.y/z: 1\n  b:\n  - c\n  - d: &d {e: 1}\nf: *d\na:\n  g: 2\n  x.y/z: 3\n"))
	require.NoError(t, err)
	for path, want := range map[string]string{
		"": "1 found", "a": "7 found", "a.g": "8 found", "a[x.y/z]": "9 found", "a.b": "7", "f": "6 found", "f.e": "5 found", "f.e.g": "5", "h": "1", "[0]": "1",
	} {
		value, line := textstream.Find(root, path)
		got := fmt.Sprint(line)
		if value != nil {
			got += " found"
		}
		require.Equal(t, want, got, path)
	}
	line := textstream.Document{Line: 10, Text: []byte("a:\n- b\n- c\n")}.Lines()
	require.Equal(t, []int{10, 11, 12, 10}, []int{line("a"), line("a[0]"), line("a[1]"), line("b")})
	require.Equal(t, 10, textstream.Document{Line: 10, Text: []byte(`{"a":` + "\n" + `"\ud83d\ude00"}`)}.Lines()("a"), "YAML has no surrogates")
}
