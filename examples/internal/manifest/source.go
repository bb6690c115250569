package manifest

import (
	"errors"
	"io"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// Sources reads the files named, "-" being standard input, or else takes the
// sample. One file that cannot be read does not keep it from reading the
// others; the error joins all failures.
func Sources(names []string, stdin io.Reader, sample []byte) ([]Source, error) {
	if len(names) == 0 {
		return []Source{{Name: "sample.yaml", Data: sample}}, nil
	}
	var errs []error
	var sources []Source
	for _, name := range names {
		data, err := command.ReadFile(name, stdin)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sources = append(sources, Source{Name: name, Data: data})
	}
	return sources, errors.Join(errs...)
}
