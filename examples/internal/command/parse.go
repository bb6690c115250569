package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// Parse reads a command line into the flags of a set, and asks check for what is
// wrong with flags that could be read. If anything is, it writes every fault after
// the name of the set to stderr, and where the flags are listed; if the user asked
// for help, the usage to stdout. Then ok is false, and the program ends with the
// code.
func Parse(set *flag.FlagSet, args []string, usage string, stdout, stderr io.Writer, check func() []string) (code int, ok bool) {
	set.SetOutput(io.Discard) // the usage is ours
	set.VisitAll(func(f *flag.Flag) { f.Value = worded{f.Value} })
	var faults []string
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return OK, false
	case err != nil:
		faults = []string{err.Error()}
	default:
		faults = check()
	}
	if len(faults) == 0 {
		return OK, true
	}
	for _, fault := range faults {
		Say(stderr, set.Name()+": "+fault)
	}
	fmt.Fprintf(stderr, "\n%s -h lists the flags.\n", set.Name())
	return BadInput, false
}

// worded is a flag that says what it wants, where package flag says "parse error".
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

// IsBoolFlag lets a flag stand without a value, as package flag asks.
func (w worded) IsBoolFlag() bool {
	b, ok := w.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// Arguments is the fault of arguments that are no flags; files tells how files are
// named, and is empty if the program reads none.
func Arguments(set *flag.FlagSet, files string) []string {
	if set.NArg() == 0 {
		return nil
	}
	fault := fmt.Sprintf("unexpected argument %q", strings.Join(set.Args(), " "))
	if files != "" {
		fault += "; files are named with " + files
	}
	return []string{fault}
}
