package requirements

import (
	"math"
	"strconv"
)

// noLimit asks appendClauses for every value.
const noLimit = math.MaxInt

// String writes the requirement in the text form that Parse reads; the grammar
// is in the comment of the package. Equal requirements have equal strings and
// others have different ones, so a string can stand for its requirement as a
// map key.
func (r Requirement) String() string {
	// Short texts, which most are, are put together on the stack.
	var buffer [128]byte
	return string(r.append(buffer[:0]))
}

// AppendText appends the text of String to b. The error is always nil; it is
// there for encoding.TextAppender.
func (r Requirement) AppendText(b []byte) ([]byte, error) {
	return r.append(b), nil
}

// MarshalText returns the text of String. The error is always nil; it is there
// for encoding.TextMarshaler.
func (r Requirement) MarshalText() ([]byte, error) {
	return r.append([]byte{}), nil
}

func (r Requirement) append(b []byte) []byte {
	b = r.appendClauses(b, noLimit)
	if r.minValues > 0 {
		b = append(b, " minvalues "...)
		b = strconv.AppendInt(b, int64(r.minValues), 10)
	}
	return b
}

// appendClauses writes what the requirement admits, naming at most limit values
// of a list. With a limit the text is for people and Parse may refuse it.
func (r Requirement) appendClauses(b []byte, limit int) []byte {
	switch r.shape {
	case shapeOnly:
		switch {
		case !r.present:
			return appendToken(append(b, '!'), r.key)
		case len(r.values) == 1:
			b = append(appendToken(b, r.key), " = "...)
			return appendToken(b, r.values[0])
		}
		b = append(appendToken(b, r.key), " in "...)
		return appendList(b, r.values, limit)
	case shapeIntegers:
		b = r.appendBounds(b)
	default:
		if r.present {
			b = appendToken(b, r.key)
		}
	}
	if r.present && len(r.values) == 0 {
		return b
	}
	if r.present {
		b = append(b, ", "...)
	}
	b = append(appendToken(b, r.key), " notin "...)
	return appendList(b, r.values, limit)
}

// appendBounds writes an interval with > and <, which Kubernetes has, except
// that a lower end of zero or less is written with >=: "> -1" reads badly, and
// below the least integer there is none to name.
func (r Requirement) appendBounds(b []byte) []byte {
	lower := r.lo != math.MinInt64 || r.hi == math.MaxInt64
	if lower {
		b = appendToken(b, r.key)
		if r.lo > 0 {
			b = strconv.AppendInt(append(b, " > "...), r.lo-1, 10)
		} else {
			b = strconv.AppendInt(append(b, " >= "...), r.lo, 10)
		}
	}
	if r.hi != math.MaxInt64 {
		if lower {
			b = append(b, ", "...)
		}
		b = append(appendToken(b, r.key), " < "...)
		b = strconv.AppendInt(b, r.hi+1, 10)
	}
	return b
}

func appendList(b []byte, values []string, limit int) []byte {
	b = append(b, '(')
	for i, v := range values {
		if i == limit {
			b = append(b, " and "...)
			b = strconv.AppendInt(b, int64(len(values)-i), 10)
			b = append(b, " more"...)
			break
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendToken(b, v)
	}
	return append(b, ')')
}

// appendToken writes a key or value, in quotes if it would not be read back as
// one token without them.
func appendToken(b []byte, s string) []byte {
	if s == "" {
		return append(b, `""`...)
	}
	for i := 0; i < len(s); i++ {
		if !isBare(s[i]) {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(b, s...)
}

// isBare reports whether a byte may stand in a token without quotes. These are
// the bytes of label keys, label values and integers.
func isBare(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	switch c {
	case '-', '_', '.', '/', '+':
		return true
	}
	return false
}
