package command

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

// Print writes an answer as json, as yaml, or in any other format as the text for people.
func Print(out io.Writer, format string, answer any, text func(Style) string) error {
	if format != "json" && format != "yaml" {
		_, err := io.WriteString(out, text(StyleFor(out, os.Getenv)))
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(answer); err != nil {
		return err
	}
	data := b.Bytes()
	if format == "yaml" {
		var err error
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
	}
	_, err := out.Write(data)
	return err
}
