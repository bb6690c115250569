package v1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// name checks a qualified name: the key of a label or taint, or the value of a
// taint. The schema looks at its form alone, the run time at its length too.
func (v *validator) name(path *field.Path, text, what string) {
	if v.schemaOnly && hasNameForm(text) {
		return
	}
	for _, msg := range validation.IsQualifiedName(text) {
		v.add(field.Invalid(path, text, what+msg))
	}
}

// hasNameForm reports whether the text is a name with an optional prefix and
// slash: the name of letters, digits and -_. and the prefix of labels of small
// letters, digits and - with dots between, each of them beginning and ending
// with a letter or digit.
func hasNameForm(text string) bool {
	const digits, small, capital = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	prefix, name, ok := strings.Cut(text, "/")
	if !ok {
		return isWord(text, digits+small+capital, "-_.")
	}
	for _, label := range strings.Split(prefix, ".") {
		if !isWord(label, digits+small, "-") {
			return false
		}
	}
	return isWord(name, digits+small+capital, "-_.")
}

// isWord reports whether the text has only the given characters and neither
// begins nor ends with an inner one. It must not be empty.
func isWord(text, outer, inner string) bool {
	return text != "" && strings.Trim(text, outer+inner) == "" && strings.Trim(text, inner) == text
}
