package volume

import (
	"errors"
	"fmt"
	"strings"
)

// Fault is one entry of Objects that cannot be used.
type Fault struct {
	Object string // the entry, such as Claims[3]
	Field  string // path of the field at fault, if one is
	Detail string // what is wrong with it and what would be right
}

// Error renders the fault on one line.
func (f *Fault) Error() string {
	if f.Field == "" {
		return f.Object + ": " + f.Detail
	}
	return f.Object + ": " + f.Field + ": " + f.Detail
}

// faults collects the faults of Objects.
type faults struct{ list []error }

func (f *faults) add(list string, i int, field, format string, args ...any) {
	f.list = append(f.list, &Fault{
		Object: fmt.Sprintf("%s[%d]", list, i),
		Field:  field,
		Detail: fmt.Sprintf(format, args...),
	})
}

func (f *faults) err() error { return errors.Join(f.list...) }

// reasons collects why a pod cannot be scheduled.
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

// oneLine is the text of an error without line breaks.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", ", ") }
