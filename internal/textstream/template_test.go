package textstream_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// What shows a template, and what of that decides which lines there are.
func TestTemplates(t *testing.T) {
	for text, want := range map[string]struct{ shows, shapes int }{
		"a: 1\nb: ${X}\n":                       {2, 0},
		"a: 1\nb: {{ .X }}\n":                   {2, 0},
		"b: ${X}\n  {{- if .Y }}\n":             {1, 2},
		"a:\n%{ for x in y ~}\n- ${x}\n":        {2, 2},
		"a: 1\n#{{ if .Y }}\n":                  {2, 2},
		"a: 1\n# {{- end }}\n":                  {2, 2},
		"a: 1\n  # %{ endfor }\n":               {2, 2},
		"# {{ a word }} and ${HOME}\na: 1\n":    {0, 0},
		"a: |\n  {{ if .X }}\n  ${HOME}\nb: 1":  {0, 0},
		"a: |\n  echo\n{{- if .X }}\nb: 1":      {3, 3},
		"# b: |\n  {{ if .X }}\n":               {2, 2},
		"{{}: a}\n":                             {1, 0},
		"resource \"a\" \"b\" {\n  c = ${d}\n}": {1, 0},
	} {
		shows, message := textstream.Unrendered([]byte(text), "go on")
		require.Equal(t, want.shows, shows, text)
		require.Equal(t, want.shows > 0, message != "", text)
		shapes, message := textstream.Shaped([]byte(text), "go on")
		require.Equal(t, want.shapes, shapes, text)
		require.Equal(t, want.shapes > 0, message != "", text)
	}
	_, message := textstream.Unrendered([]byte("a: ${"+string(make([]byte, 50))+"}"), "go on")
	require.Contains(t, message, "...; fill it in, with Terraform, envsubst or Flux for instance, and go on")
	require.Equal(t, "a: x\nb: xs", string(textstream.Filled([]byte("a: ${x}\nb: {{ .Y }}s"))))
}
