package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// write prints a report in the format asked for.
func write(out io.Writer, r *report, format string) error {
	return writeAnswer(out, r, func(style command.Style) string { return drawTable(r, style) }, format)
}

// writeAnswer prints an answer as a table, or as data.
func writeAnswer(out io.Writer, answer any, table func(command.Style) string, format string) error {
	if format == "table" {
		_, err := io.WriteString(out, table(command.StyleFor(out, os.Getenv)))
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
