package textstream

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	// helmMark matches an action of a Helm template. fillMark matches a variable or a directive
	// that Terraform, envsubst and others replace.
	helmMark = regexp.MustCompile(`\{\{.*?(\}\}|$)`)
	fillMark = regexp.MustCompile(`[$%]\{[^}]*\}?`)
	// hclBlock matches the first line of a block of Terraform's own language.
	hclBlock = regexp.MustCompile(`^(resource|data|module|variable|output|locals|provider|terraform)\b[^:]*\{\s*$`)
	// blockScalar matches the end of a line whose value is the text of the lines below it.
	blockScalar = regexp.MustCompile(`(^|[:\s-])[|>][0-9+-]*\s*(#.*)?$`)
	// ownLine matches a line that consists of an action or a directive. control matches a comment
	// with an action that begins or ends a part of a template, because template engines process
	// comments too.
	ownLine = regexp.MustCompile(`^(\{\{[^}].*\}\}|%\{.*)$`)
	control = regexp.MustCompile(`^#+\s*(\{\{-?\s*(if|else|end|range|with|define|block|template|include)\b.*\}\}|%\{\s*(if|else|endif|for|endfor)\b.*\})`)
)

// longestMark is the largest length of a quoted mark in a message.
const longestMark = 40

// Mark returns a message if a line shows that the text is an unrendered template, and "" for other
// lines. The message quotes the mark and says what to do: first render the template, then do what
// the argument then says, such as "read the result".
func Mark(line, then string) string {
	if found := helmMark.FindString(line); found != "" {
		return fmt.Sprintf("is a template that is not rendered: %s; render it, with helm template for instance, and %s", shortMark(found), then)
	}
	if found := fillMark.FindString(line); found != "" {
		return fmt.Sprintf("is a template that is not filled in: %s; fill it in, with Terraform, envsubst or Flux for instance, and %s", shortMark(found), then)
	}
	if hclBlock.MatchString(line) {
		return "is in the language of Terraform and no manifest; read what it makes, as kubectl get -o yaml prints it"
	}
	return ""
}

func shortMark(text string) string {
	if len(text) <= longestMark {
		return text
	}
	end := longestMark
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// Unrendered returns the first line of a text, from 1, that shows that the text is a template, with
// the message of Mark; 0 if there is no such line. Values of several lines, such as scripts, are
// ignored. Comments count only if they begin or end a part of a template.
func Unrendered(text []byte, then string) (line int, message string) {
	for number, line := range lines(text) {
		if line[0] == '#' && !control.MatchString(line) {
			continue
		}
		if message := Mark(line, then); message != "" {
			return number, message
		}
	}
	return 0, ""
}

// Shaped returns the first line of a text, from 1, with an action or a directive that adds or
// removes lines, with the message of Mark; 0 if there is no such line. The content of such a text
// is known only once it is rendered, whereas a variable within a line is a value like any other.
func Shaped(text []byte, then string) (line int, message string) {
	for number, line := range lines(text) {
		if ownLine.MatchString(line) || control.MatchString(line) {
			return number, Mark(line, then)
		}
	}
	return 0, ""
}

// Filled returns a text with each action, variable and directive replaced by a word.
func Filled(text []byte) []byte {
	return fillMark.ReplaceAllLiteral(helmMark.ReplaceAllLiteral(text, []byte("x")), []byte("x"))
}

// Comments yields the comments of a YAML text that are alone on their line, with line numbers from
// 1.
func Comments(text []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for number, line := range lines(text) {
			if line[0] == '#' && !yield(number, line) {
				return
			}
		}
	}
}

// lines yields the lines of a text that have content, with line numbers from 1 and without
// surrounding blanks. It leaves out lines that are the value of a block scalar.
func lines(text []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number, below := 0, -1 // lines further in than below are of a block scalar
		for len(text) > 0 {
			number++
			end := lineEnd(text)
			whole := strings.TrimRight(string(text[:end]), " \t\r\n")
			text = text[end:]
			line := strings.TrimLeft(whole, " ")
			indent := len(whole) - len(line)
			if line == "" || below >= 0 && indent > below {
				continue
			}
			below = -1
			if line[0] != '#' && blockScalar.MatchString(line) {
				below = indent
			}
			if !yield(number, line) {
				return
			}
		}
	}
}
