package scenario

import (
	"errors"
	"fmt"
	"strings"
)

// File is a text of scenarios.
type File struct {
	// Intent is the opening paragraph, on one line.
	Intent string
	// Cases are in the order of the text. There is at least one.
	Cases []Case
}

// Case is one problem with the outcome that is expected of it.
type Case struct {
	// Title tells the case from others of the file; "" if it is the only one.
	Title string
	// World has the declared objects, made separately for each case.
	World *World
	// Want is the expected outcome as it stands in the text, without the line
	// break at the end.
	Want string

	before string // the text from the end of the former case to the outcome
}

// separator stands between declarations and outcome.
const separator = "----"

// Parse reads a text. The error joins all faults, each with its line.
func Parse(text string) (*File, error) {
	p := parser{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	f := &File{Intent: p.intent()}
	if !strings.HasSuffix(f.Intent, ".") {
		return nil, errors.New("line 1: the file must open with a sentence that says what it is about")
	}
	common := p.declarations()
	for first := true; first || p.at < len(p.lines); first = false {
		c := Case{}
		blocks := common
		if title, ok := p.title(); ok {
			c.Title = title
			blocks = append(blocks[:len(blocks):len(blocks)], p.declarations()...)
		} else if !first {
			return nil, fmt.Errorf("line %d: a case must begin with a line \"case TITLE\"", p.at+1)
		}
		c.before = p.taken()
		c.Want = p.outcome()
		world, err := build(blocks)
		if err != nil {
			p.errs = append(p.errs, err)
		}
		c.World = world
		f.Cases = append(f.Cases, c)
	}
	if err := errors.Join(p.errs...); err != nil {
		return nil, err
	}
	return f, nil
}

// Update returns the text with other outcomes, one for each case.
func (f *File) Update(outcomes []string) string {
	var b strings.Builder
	for i, c := range f.Cases {
		if i > 0 && !strings.HasPrefix(c.before, "\n") {
			b.WriteString("\n")
		}
		b.WriteString(c.before)
		b.WriteString(separator + "\n")
		b.WriteString(strings.Trim(outcomes[i], "\n") + "\n")
	}
	return b.String()
}

// block is a declaration: its own line and the indented lines below.
type block struct {
	line
	properties []line
}

// line is a line that says something: its first word and the rest.
type line struct {
	number     int // from 1
	word, rest string
}

func newLine(number int, text string) line {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	return line{number: number, word: word, rest: strings.TrimSpace(rest)}
}

func (l line) fault(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", l.number, fmt.Errorf(format, args...))
}

// parser walks over the lines of a text.
type parser struct {
	lines []string
	at    int // the line to read next
	from  int // the first line that was not taken
	errs  []error
}

// intent reads the opening paragraph.
func (p *parser) intent() string {
	var words []string
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) != "" && !ends(p.lines[p.at]) {
		words = append(words, strings.Fields(p.lines[p.at])...)
		p.at++
	}
	return strings.Join(words, " ")
}

const caseWord = "case "

// ends says whether a line ends what stands before it.
func ends(line string) bool {
	return strings.HasPrefix(line, separator) || strings.HasPrefix(line, caseWord)
}

// title reads the line that begins a case, if one is next.
func (p *parser) title() (string, bool) {
	if p.at == len(p.lines) || !strings.HasPrefix(p.lines[p.at], caseWord) {
		return "", false
	}
	p.at++
	return strings.TrimSpace(p.lines[p.at-1][len(caseWord):]), true
}

// declarations reads blocks up to the outcome or the next case.
func (p *parser) declarations() []block {
	var blocks []block
	for ; p.at < len(p.lines); p.at++ {
		text := p.lines[p.at]
		if ends(text) {
			break
		}
		trimmed := strings.TrimSpace(text)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		l := newLine(p.at+1, text)
		switch {
		case text[0] != ' ':
			blocks = append(blocks, block{line: l})
		case len(blocks) == 0:
			p.errs = append(p.errs, l.fault("%q stands below no declaration", trimmed))
		default:
			last := &blocks[len(blocks)-1]
			last.properties = append(last.properties, l)
		}
	}
	return blocks
}

// taken returns the text read since it was last called.
func (p *parser) taken() string {
	text := strings.TrimRight(strings.Join(p.lines[p.from:p.at], "\n"), "\n")
	p.from = p.at
	if text == "" {
		return ""
	}
	return text + "\n"
}

// outcome reads what is expected, up to the next case. A case without one gets
// it by an update.
func (p *parser) outcome() string {
	if p.at == len(p.lines) || !strings.HasPrefix(p.lines[p.at], separator) {
		return ""
	}
	p.at++
	start := p.at
	for p.at < len(p.lines) && !strings.HasPrefix(p.lines[p.at], caseWord) {
		p.at++
	}
	end := p.at
	for end > start && strings.TrimSpace(p.lines[end-1]) == "" {
		end--
	}
	p.from = end // blank lines lead over to the next case
	return strings.Join(p.lines[start:end], "\n")
}
