package convert

import (
	"bytes"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// templated holds what stood in double braces in a text. Braces mean mappings to
// YAML, so words that mean nothing take their place while it is worked on.
type templated struct {
	prefix  string // of the words, in the text nowhere else
	actions []string
}

var templateAction = regexp.MustCompile(`\{\{[^\n]*?\}\}`)

// hide replaces template actions by words.
func hide(text []byte) ([]byte, *templated) {
	t := &templated{prefix: "tmpl"}
	if !bytes.Contains(text, []byte("{{")) {
		return text, t
	}
	for bytes.Contains(text, []byte(t.prefix)) {
		t.prefix += "x"
	}
	hidden := templateAction.ReplaceAllFunc(text, func(action []byte) []byte {
		t.actions = append(t.actions, string(action))
		return []byte(t.word(len(t.actions) - 1))
	})
	return hidden, t
}

// thenConvert is what to do with a template once it is rendered.
const thenConvert = "convert the result"

// unfilled is the error of a text that is YAML only once its variables are filled in, with the
// first line that needs it. It is nil if the text is no YAML with its variables filled in.
func unfilled(text []byte) *templateError {
	legible := func(n int) bool {
		_, err := parseYAML(textstream.Filled(text, n))
		return err == nil
	}
	if !bytes.Contains(text, []byte("{")) || !legible(0) {
		return nil
	}
	at := sort.Search(bytes.Count(text, []byte("\n"))+1, func(n int) bool { return !legible(n + 1) })
	for number, line := range strings.Split(string(text), "\n") {
		if message := textstream.Mark(strings.TrimSpace(line), thenConvert); number == at && message != "" {
			return &templateError{at + 1, message}
		}
	}
	return nil
}

// templateError is the fault of a text that is a template, at a line of it.
type templateError struct {
	line    int
	message string
}

func (e *templateError) Error() string { return "it " + e.message }

// word is what stands for an action.
func (t *templated) word(i int) string {
	return t.prefix + strconv.Itoa(i) + "q"
}

// show puts the actions back.
func (t *templated) show(text string) string {
	if t == nil || len(t.actions) == 0 {
		return text
	}
	return t.replace(text, func(i int) string { return t.actions[i] })
}

// replace puts other texts in the places of the words, in one pass, as what is put
// there may look like a word.
func (t *templated) replace(text string, with func(i int) string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, t.prefix)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		number, after, _ := strings.Cut(rest, "q")
		if i := listIndex(number); i >= 0 && i < len(t.actions) && strings.HasPrefix(rest, t.word(i)[len(t.prefix):]) {
			out.WriteString(with(i))
			text = after
			continue
		}
		out.WriteString(t.prefix)
		text = rest
	}
}

// adopt returns a text of another document with words of this one for its
// templating.
func (t *templated) adopt(from *templated, text string) string {
	if from == nil || t == from || !strings.Contains(text, from.prefix) {
		return text
	}
	return from.replace(text, func(i int) string {
		t.actions = append(t.actions, from.actions[i])
		return t.word(len(t.actions) - 1)
	})
}

// unexpanded tells whether a value holds templating: a shell variable, or an
// action that was hidden.
func (t *templated) unexpanded(value string) bool {
	return strings.Contains(value, "${") || strings.Contains(value, "$(") || strings.Contains(value, "{{") ||
		t != nil && len(t.actions) > 0 && strings.Contains(value, t.prefix)
}
