package requirements

import (
	"fmt"
	"strconv"
)

// Parse reads the text form of a Set; the grammar is in the comment of the
// package. Several clauses on one key are intersected. Text without a clause is
// the empty Set, which admits everything. For every Set s, Parse(s.String()) is
// Equal to s.
//
// The error, if any, is a *SyntaxError for the first fault in the text. The Set
// is then empty.
func Parse(text string) (Set, error) {
	p := parser{text: text}
	p.next()
	if p.token.kind == endToken {
		return Set{}, nil
	}
	var reqs []Requirement
	for {
		r, err := p.clause()
		if err != nil {
			return Set{}, err
		}
		reqs = append(reqs, r)
		if p.token.kind == endToken {
			return NewSet(reqs...), nil
		}
		if !p.accept(",") {
			return Set{}, p.fail(`"," or the end of the text`)
		}
	}
}

// MustParse is Parse for texts that are known to be valid, as in tests and tables. It panics if the
// text is invalid.
func MustParse(text string) Set {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

// SyntaxError says where and why Parse gave up.
type SyntaxError struct {
	// Text is the text that was parsed.
	Text string
	// Offset is where in Text the fault begins, in bytes from zero.
	Offset int
	// Found describes the text at Offset, such as `"("` or "the end of the text".
	Found string
	// Want describes the text that is allowed there.
	Want string
}

// Error names the position, counted in bytes from zero, what was found there and what is allowed.
// For a long text it shows only the part around the fault.
func (e *SyntaxError) Error() string {
	const around = 40
	from, to := max(e.Offset-around, 0), min(e.Offset+around, len(e.Text))
	before, after := "", ""
	if from > 0 {
		before = "..."
	}
	if to < len(e.Text) {
		after = "..."
	}
	return fmt.Sprintf("requirements: byte %d of %q: found %s, want %s",
		e.Offset, before+e.Text[from:to]+after, e.Found, e.Want)
}

// parser is a recursive descent parser with one token of lookahead.
type parser struct {
	text  string
	at    int // where the next token is looked for
	token token
}

// clause reads one clause, its key and all that follows up to the comma.
func (p *parser) clause() (Requirement, error) {
	if p.accept("!") {
		key, err := p.word("a label key")
		if err != nil {
			return Requirement{}, err
		}
		return p.minValues(DoesNotExist(key))
	}
	key, err := p.word(`a label key or "!"`)
	if err != nil {
		return Requirement{}, err
	}
	r, err := p.condition(key)
	if err != nil {
		return Requirement{}, err
	}
	return p.minValues(r)
}

// condition reads the operator and its operands. No operator means Exists.
func (p *parser) condition(key string) (Requirement, error) {
	switch {
	case p.accept("=="), p.accept("="):
		v, err := p.word("a value")
		return In(key, v), err
	case p.accept("!="):
		v, err := p.word("a value")
		return NotIn(key, v), err
	case p.accept("in"):
		values, err := p.list()
		return In(key, values...), err
	case p.accept("notin"):
		values, err := p.list()
		return NotIn(key, values...), err
	case p.accept(">="):
		n, err := p.integer()
		return Gte(key, n), err
	case p.accept(">"):
		n, err := p.integer()
		return Gt(key, n), err
	case p.accept("<="):
		n, err := p.integer()
		return Lte(key, n), err
	case p.accept("<"):
		n, err := p.integer()
		return Lt(key, n), err
	case p.token.kind == endToken, p.token.is(","), p.token.is("minvalues"):
		return Exists(key), nil
	}
	return Requirement{}, p.fail(`one of = == != in notin < <= > >= minvalues, "," or the end of the text`)
}

// minValues reads the minimum of values that may close a clause.
func (p *parser) minValues(r Requirement) (Requirement, error) {
	if !p.accept("minvalues") {
		return r, nil
	}
	n, ok := parseInteger(p.token.value)
	if p.token.kind != wordToken || !ok || n < 1 || int64(int(n)) != n {
		return Requirement{}, p.fail("a whole number from 1 up")
	}
	p.next()
	return r.WithMinValues(int(n)), nil
}

// list reads values in parentheses, possibly none.
func (p *parser) list() ([]string, error) {
	if !p.accept("(") {
		return nil, p.fail(`"("`)
	}
	if p.accept(")") {
		return nil, nil
	}
	var values []string
	for {
		v, err := p.word("a value")
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if p.accept(")") {
			return values, nil
		}
		if !p.accept(",") {
			return nil, p.fail(`"," or ")"`)
		}
	}
}

func (p *parser) word(want string) (string, error) {
	if p.token.kind != wordToken && p.token.kind != quotedToken {
		return "", p.fail(want)
	}
	s := p.token.value
	p.next()
	return s, nil
}

func (p *parser) integer() (int64, error) {
	n, ok := parseInteger(p.token.value)
	if p.token.kind != wordToken || !ok {
		return 0, p.fail("a whole number of at most 64 bits")
	}
	p.next()
	return n, nil
}

// accept moves past the token if it is the one given.
func (p *parser) accept(text string) bool {
	if !p.token.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) fail(want string) error {
	found := "the end of the text"
	switch p.token.kind {
	case endToken:
	case brokenToken:
		found = "an unfinished or malformed quoted string"
	default:
		found = strconv.Quote(p.text[p.token.offset:p.at])
	}
	return &SyntaxError{Text: p.text, Offset: p.token.offset, Found: found, Want: want}
}
