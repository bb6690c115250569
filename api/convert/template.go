package convert

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// templated holds what stood in double braces in a text. Braces mean mappings to
// YAML, so words that mean nothing take their place while it is worked on.
type templated struct {
	prefix  string // of the words, in the text nowhere else
	actions []string
}

var templateAction = regexp.MustCompile(`\{\{[^\n]*?\}\}`)

// hide replaces template actions by words. It reports false if an action has a
// line of its own: such lines make or leave out whole fields, so that what the
// text says is known only once the template is expanded.
func hide(text []byte) ([]byte, *templated, bool) {
	t := &templated{prefix: "tmpl"}
	if !bytes.Contains(text, []byte("{{")) {
		return text, t, true
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("{{")) && bytes.HasSuffix(line, []byte("}}")) &&
			!bytes.HasPrefix(line, []byte("{{}")) {
			return text, t, false
		}
	}
	for bytes.Contains(text, []byte(t.prefix)) {
		t.prefix += "x"
	}
	hidden := templateAction.ReplaceAllFunc(text, func(action []byte) []byte {
		t.actions = append(t.actions, string(action))
		return []byte(t.word(len(t.actions) - 1))
	})
	return hidden, t, true
}

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
