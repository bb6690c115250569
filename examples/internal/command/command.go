// Package command has the common parts of the example programs: reading the command line and files,
// and writing errors and colours.
//
// A program has one function run that declares its flags and calls Run.
package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/spelling"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// The exit codes of all programs.
const (
	OK       = 0
	Failed   = 1 // something broke
	BadInput = 2 // the flags or the input are wrong
)

// ReadFile reads a file, or standard input if the name is "-".
func ReadFile(name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		data, err := os.ReadFile(name)
		if errors.Is(err, syscall.EISDIR) {
			return nil, fmt.Errorf("%s is a directory; name the files in it, one by one", name)
		}
		return data, err
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return data, nil
}

// ErrTold is the error of a program that has written down what is wrong: Run writes no more.
var ErrTold = errors.New("see the output")

// inputError is an error that the input or the flags cause.
type inputError struct{ error }

// Unwrap returns the error itself.
func (e inputError) Unwrap() error { return e.error }

// Input marks an error as caused by the input, for which a program exits with BadInput.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

// Run runs a program: it reads the command line into the flags of a set, calls check, and then do. It
// returns the exit code.
//
// If the user asks for help, Run writes about and the flags to stdout; see help. Faults of flags go
// to stderr, each after the name of the set, and how to list the flags. The lines of an error of do
// go to stderr likewise; see Say. The code is Failed for an error other than one of Input.
func Run(set *flag.FlagSet, args []string, about string, stdout, stderr io.Writer, check func(*Faults), do func() error) int {
	set.SetOutput(io.Discard) // the usage is ours
	set.VisitAll(func(f *flag.Flag) { f.Value = worded{f.Value} })
	var faults Faults
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(stdout, help(set, about))
		return OK
	case err != nil:
		faults = Faults{err.Error()}
	default:
		remedy := ""
		if set.Lookup("f") != nil {
			remedy = "; files are named with -f"
		}
		faults.If(set.NArg() > 0, "unexpected argument %q%s", strings.Join(set.Args(), " "), remedy)
		check(&faults)
	}
	if len(faults) > 0 {
		complain(set, faults, stderr)
		fmt.Fprintf(stderr, "\n%s -h lists the flags.\n", set.Name())
		return BadInput
	}
	err := do()
	if err == nil {
		return OK
	}
	if !errors.Is(err, ErrTold) {
		complain(set, strings.Split(strings.TrimRight(err.Error(), "\n"), "\n"), stderr)
	}
	if errors.As(err, &inputError{}) {
		return BadInput
	}
	return Failed
}

// help returns the first paragraph of about, the flags by name, and the other paragraphs. The usage
// of a flag begins with the name of its value in backquotes, if it has one.
func help(set *flag.FlagSet, about string) string {
	const column = 24
	p := &Page{}
	paragraph := func(text string) {
		p.Add(Wrap(strings.Join(strings.Fields(text), " "), PageWidth, "")...)
		p.Add("")
	}
	describe := func(head, text string) {
		if len(head) > column-2 {
			p.Add(head)
			head = ""
		}
		for _, line := range Wrap(text, PageWidth-column, "") {
			p.Add(fmt.Sprintf("%-*s%s", column, head, line))
			head = ""
		}
	}
	first, others, _ := strings.Cut(about, "\n\n")
	paragraph(first)
	paragraph("usage: " + set.Name() + " [flags]")
	set.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		head := strings.ReplaceAll("  -"+f.Name+" "+value, " =", "=") // -bill=false
		describe(head, strings.TrimPrefix(text, value+" "))
	})
	describe("  -h", "print this")
	if others != "" {
		p.Add("")
		paragraph(others)
	}
	return strings.TrimRight(p.String(), "\n") + "\n"
}

func complain(set *flag.FlagSet, lines []string, stderr io.Writer) {
	for _, line := range lines {
		Say(stderr, set.Name()+": "+line)
	}
}

// Say writes a message. In a file or a pipe the message is one line, so that it can be searched
// for. On a terminal it is broken at blanks to PageWidth columns, with the lines after the first
// indented.
func Say(out io.Writer, message string) {
	if !isTerminal(out) {
		fmt.Fprintln(out, message)
		return
	}
	for _, line := range Wrap(message, PageWidth, "    ") {
		fmt.Fprintln(out, line)
	}
}

// DidYouMean returns a question that ends an error message, or "" if no known name is similar to
// the given one.
func DidYouMean(name string, known []string) string { return spelling.DidYouMean(name, known) }

// Slips counts the typing errors between two names; see spelling.Distance.
func Slips(a, b string) int { return spelling.Distance(a, b) }

// Print writes an answer in a format: json, yaml, or otherwise as text, in colours on a terminal.
func Print(out io.Writer, format string, answer any, text func(coloured bool) string) error {
	if format != "json" && format != "yaml" {
		_, err := io.WriteString(out, text(Coloured(out, os.Getenv)))
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

// A line of progress is shown after the first time, and updated after each second time.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// Progress returns a context whose work shows its progress on a terminal: one line, rewritten in
// place, once a second has passed. The function removes the line; call it before anything else is
// written. If out is no terminal nothing is shown.
func Progress(ctx context.Context, out io.Writer) (context.Context, func()) {
	if !isTerminal(out) {
		return ctx, func() {}
	}
	l := &progressLine{out: out, next: time.Now().Add(progressAfter)}
	return progress.With(ctx, func(e progress.Event) { l.show(e, time.Now()) }), l.clear
}

// progressLine is a line of progress at the end of a terminal.
type progressLine struct {
	out   io.Writer
	next  time.Time // when it is written next
	shown bool
}

func (l *progressLine) show(e progress.Event, now time.Time) {
	if now.Before(l.next) {
		return
	}
	l.next, l.shown = now.Add(progressEvery), true
	text := []rune(e.String())
	if len(text) >= PageWidth {
		text = append(text[:PageWidth-2], '…')
	}
	fmt.Fprintf(l.out, "\r%s\x1b[K", string(text))
}

func (l *progressLine) clear() {
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
		l.shown = false
	}
}

// Coloured reports whether out is a terminal and the environment does not forbid colours. See
// https://no-color.org.
func Coloured(out io.Writer, getenv func(string) string) bool {
	return isTerminal(out) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// isTerminal reports whether out is a character device, which almost always is a terminal.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// PageWidth is the largest width of a text, in columns.
const PageWidth = layout.Width

// Wrap breaks a line into lines of at most width columns, at blanks if possible; a longer word
// stays whole. Lines keep the indent of the first, and those after it are indented by further as
// well.
func Wrap(text string, width int, further string) []string {
	return layout.WrapTo(text, width, further)
}

// Count returns a number with its noun: "1 pod", "2 pods", "3 batches".
func Count(n int, thing string) string { return layout.Count(n, thing) }

// Page is a text that is built line by line.
type Page = layout.Page

// Span renders a duration in days, hours and minutes without zero parts, such as "2d 6h". Days begin
// after 48 hours.
func Span(d time.Duration) string {
	hours, minutes := int64(d/time.Hour), int64(d%time.Hour/time.Minute)
	var parts []string
	if hours >= 48 {
		parts, hours = append(parts, fmt.Sprintf("%dd", hours/24)), hours%24
	}
	if hours > 0 {
		parts = append(parts, fmt.Sprintf("%dh", hours))
	}
	if minutes > 0 {
		parts = append(parts, fmt.Sprintf("%dm", minutes))
	}
	return cmp.Or(strings.Join(parts, " "), d.String())
}
