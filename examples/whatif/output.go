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
	if format == "table" {
		_, err := io.WriteString(out, drawTable(r, command.StyleFor(out, os.Getenv)))
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
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
