package command

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Files declares the flag -f, which names a file and may be repeated; see
// Duplicates.
func Files(set *flag.FlagSet, files *[]string) { List(set, "f", files, "the file name is empty") }

// List declares a flag that may be repeated. An empty value is refused in the words
// given.
func List(set *flag.FlagSet, name string, to *[]string, empty string) {
	set.Func(name, "", func(value string) error {
		if value == "" {
			return errors.New(empty)
		}
		*to = append(*to, value)
		return nil
	})
}

// Duplicates lists the files that -f names twice.
func Duplicates(files []string) (faults []string) {
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			faults = append(faults, fmt.Sprintf("invalid value %q for flag -f: it is given twice", name))
		}
	}
	return faults
}

// OneOf is the fault of a flag that is none of the words allowed.
func OneOf[T ~string](flag string, value T, allowed ...T) []string {
	if slices.Contains(allowed, value) {
		return nil
	}
	text := string(allowed[0])
	for i, word := range allowed[1:] {
		if i == len(allowed)-2 {
			text += " or " + string(word)
		} else {
			text += ", " + string(word)
		}
	}
	return []string{fmt.Sprintf("invalid value %q for flag -%s: must be %s", string(value), flag, text)}
}

// USD is the fault of a flag that is no amount of money.
func USD(flag string, value float64) []string {
	if value >= 0 && !math.IsInf(value, 0) {
		return nil
	}
	return []string{fmt.Sprintf("invalid value %v for flag -%s: must be an amount of USD per hour, or 0", value, flag)}
}

// NotNegative is the fault of a flag that is below zero.
func NotNegative(flag string, value int) []string {
	if value >= 0 {
		return nil
	}
	return []string{fmt.Sprintf("invalid value %d for flag -%s: must not be negative", value, flag)}
}

// Pair is the fault of a flag that is not two names with a slash between; it may be empty.
func Pair(flag, value, names string) []string {
	before, after, found := strings.Cut(value, "/")
	if value == "" || found && before != "" && after != "" && !strings.Contains(after, "/") {
		return nil
	}
	return []string{fmt.Sprintf("invalid value %q for flag -%s: must be %s", value, flag, names)}
}
