package command

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// worded is a flag whose errors say which values are allowed, where package flag says "parse
// error".
type worded struct{ flag.Value }

func (w worded) Set(text string) error {
	err := w.Value.Set(text)
	g, typed := w.Value.(flag.Getter)
	if err == nil || !typed {
		return err
	}
	switch g.Get().(type) {
	case float64:
		return errors.New("must be a number")
	case int:
		return errors.New("must be a whole number")
	case uint64:
		return errors.New("must be a whole number, 0 or more")
	case time.Duration:
		return errors.New("must be a duration such as 90s or 168h")
	case bool:
		return errors.New("must be true or false")
	}
	return err
}

// IsBoolFlag tells package flag whether the flag may be written without a value.
func (w worded) IsBoolFlag() bool {
	b, ok := w.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// Time declares a flag that names an instant.
func Time(set *flag.FlagSet, name string, to *time.Time, usage string) {
	set.Func(name, usage, func(text string) (err error) {
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("must be a time such as 2026-03-02T12:00:00Z")
		}
		return nil
	})
}

// Files declares the flag -f, which names a file of what and may be repeated.
func Files(set *flag.FlagSet, files *[]string, what string) {
	List(set, "f", files, "the file name is empty", "`FILE` read "+what+" from FILE, YAML or JSON, or from standard input if FILE is -; may be repeated. Default: a sample")
}

// List declares a flag that may be repeated. empty is the error for an empty value.
func List(set *flag.FlagSet, name string, to *[]string, empty, usage string) {
	set.Func(name, usage, func(value string) error {
		if value == "" {
			return errors.New(empty)
		}
		*to = append(*to, value)
		return nil
	})
}

// Faults lists what is wrong with flags that could be parsed.
type Faults []string

// If adds a fault if something is wrong.
func (f *Faults) If(wrong bool, format string, args ...any) {
	if wrong {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

// Twice adds a fault for each file that -f names twice.
func (f *Faults) Twice(files []string) {
	for i, name := range files {
		f.If(slices.Contains(files[:i], name), "invalid value %q for flag -f: it is given twice", name)
	}
}

// OneOf adds a fault if the value of a flag is not one of the allowed words.
func OneOf[T ~string](f *Faults, flag string, value T, allowed ...T) {
	text := string(allowed[0])
	for i, word := range allowed[1:] {
		if i == len(allowed)-2 {
			text += " or " + string(word)
		} else {
			text += ", " + string(word)
		}
	}
	f.If(!slices.Contains(allowed, value), "invalid value %q for flag -%s: must be %s", string(value), flag, text)
}

// USD adds a fault if the value of a flag is no amount of money.
func (f *Faults) USD(flag string, value float64) {
	f.If(!(value >= 0) || math.IsInf(value, 0), "invalid value %v for flag -%s: must be an amount of USD per hour, or 0", value, flag)
}

// NotNegative adds a fault if the value of a flag is negative.
func NotNegative[T int | time.Duration](f *Faults, flag string, value T) {
	f.If(value < 0, "invalid value %v for flag -%s: must not be negative", value, flag)
}

// Pair adds a fault if the value of a flag is not two names with a slash between them. An empty value
// is allowed.
func (f *Faults) Pair(flag, value, names string) {
	before, after, _ := strings.Cut(value, "/")
	f.If(value != "" && (before == "" || after == "" || strings.Contains(after, "/")), "invalid value %q for flag -%s: must be %s", value, flag, names)
}

// Choose returns the object of a name, or the only one if the name is empty. The error goes on after
// the name of the input.
func Choose[T interface{ GetName() string }](kind, flag, name string, objects []T) (chosen T, err error) {
	var names []string
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	known := slices.Compact(slices.Sorted(slices.Values(names)))
	list := strings.Join(known, ", ")
	if name == "" && len(known) == 1 {
		name = known[0]
	}
	at := slices.Index(names, name)
	switch {
	case len(names) == 0:
		return chosen, fmt.Errorf("holds no %s; add the one to look at", kind)
	case name == "":
		return chosen, fmt.Errorf("holds %d objects of kind %s; name one of %s with -%s", len(names), kind, list, flag)
	case at < 0:
		return chosen, fmt.Errorf("holds no %s %s; -%s is one of %s", kind, name, flag, list)
	}
	return objects[at], nil
}
