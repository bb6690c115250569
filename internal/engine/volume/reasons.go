package volume

import (
	"errors"
	"fmt"
	"strings"
)

// reasons collects why a pod cannot be placed.
type reasons struct{ list []string }

func (r *reasons) add(format string, args ...any) {
	r.list = append(r.list, fmt.Sprintf(format, args...))
}

// err puts all reasons on one line.
func (r *reasons) err() error {
	if len(r.list) == 0 {
		return nil
	}
	return errors.New(strings.Join(r.list, "; "))
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", ", ") }
