package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Never is the text of a NillableDuration that turns its feature off.
const Never = "Never"

// NillableDuration is a duration that can also be "Never", or not set at all.
//
// The three states are
//
//	unset  Duration nil, Raw nil      the zero value; the field was left out
//	Never  Duration nil, Raw not nil
//	a time Duration not nil
//
// A decision reads only Duration: nil means never. The difference between unset and Never matters
// only to Default, which sets the first and keeps the second. (Karpenter's type has no unset state;
// there a zero value is written as Never.)
//
// Raw keeps the text that was read, so that the object is written back byte
// for byte: 90m stays 90m and does not become 1h30m0s.
type NillableDuration struct {
	// Duration is the length of time, nil for Never and for unset.
	*time.Duration
	// Raw is the JSON text that was read, with its quotes. It is written only if it agrees with
	// Duration, so a program that sets Duration need not clear it.
	Raw []byte
}

// NewDuration returns a NillableDuration of the given length.
func NewDuration(d time.Duration) NillableDuration {
	return NillableDuration{Duration: &d}
}

// NeverDuration returns the NillableDuration that is "Never".
func NeverDuration() NillableDuration {
	return NillableDuration{Raw: []byte(`"` + Never + `"`)}
}

// ParseNillableDuration reads "Never" or the text of a Go duration, and keeps the text. It is as
// lenient as decoding: "1.5h" and "-1m" are accepted here and refused by validation.
func ParseNillableDuration(text string) (NillableDuration, error) {
	raw, err := json.Marshal(text)
	if err != nil {
		return NillableDuration{}, err
	}
	d, err := parseRaw(raw)
	if err != nil {
		return NillableDuration{}, err
	}
	d.Raw = raw
	return d, nil
}

// MustParseNillableDuration is ParseNillableDuration, but panics on a fault. Use it in tests and
// for constants in code.
func MustParseNillableDuration(text string) NillableDuration {
	d, err := ParseNillableDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

// IsZero reports whether the duration is unset. It makes the json option
// omitzero leave the field out.
func (d NillableDuration) IsZero() bool {
	return d.Duration == nil && d.Raw == nil
}

// IsNever reports whether the duration was set to Never. It is false for an
// unset one.
func (d NillableDuration) IsNever() bool {
	return d.Duration == nil && d.Raw != nil
}

// Equal reports whether both are unset, both Never, or both the same length of
// time. The text does not count: 60m equals 1h.
func (d NillableDuration) Equal(o NillableDuration) bool {
	if d.Duration == nil || o.Duration == nil {
		return d.Duration == o.Duration && d.IsZero() == o.IsZero()
	}
	return *d.Duration == *o.Duration
}

// String returns the text as it would be written, without quotes: the text
// that was read, or the Go form of the duration, or "Never". Unset is "".
func (d NillableDuration) String() string {
	if d.IsZero() {
		return ""
	}
	var text string
	if raw, ok := d.validRaw(); ok && json.Unmarshal(raw, &text) == nil {
		return text
	}
	if d.Duration != nil {
		return d.Duration.String()
	}
	return Never
}

// MarshalJSON writes Raw if it agrees with Duration, else the Go form of the
// duration, else "Never". An unset duration that is not left out is written as
// null, which reads back as unset.
func (d NillableDuration) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	if raw, ok := d.validRaw(); ok {
		return bytes.Clone(raw), nil
	}
	return json.Marshal(d.String())
}

// UnmarshalJSON reads a JSON string as ParseNillableDuration does, and null as
// unset. On a fault the receiver is unchanged.
func (d *NillableDuration) UnmarshalJSON(data []byte) error {
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		*d = NillableDuration{}
		return nil
	}
	parsed, err := parseRaw(data)
	if err != nil {
		return err
	}
	parsed.Raw = bytes.Clone(bytes.TrimSpace(data))
	*d = parsed
	return nil
}

// validRaw returns Raw if it is a JSON string that means the same as Duration.
// Both fields are exported, so a program may have changed one of them.
func (d NillableDuration) validRaw() ([]byte, bool) {
	if d.Raw == nil {
		return nil, false
	}
	parsed, err := parseRaw(d.Raw)
	if err != nil {
		return nil, false
	}
	if d.Duration == nil || parsed.Duration == nil {
		return d.Raw, d.Duration == parsed.Duration
	}
	return d.Raw, *d.Duration == *parsed.Duration
}

// parseRaw reads a JSON string and leaves Raw for the caller to set.
func parseRaw(raw []byte) (NillableDuration, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return NillableDuration{}, fmt.Errorf("%s is not a string; write a duration such as \"720h\" or \"Never\"", raw)
	}
	if text == Never {
		return NillableDuration{}, nil
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		return NillableDuration{}, fmt.Errorf("%q is not a duration; write one such as \"720h\" or \"1h30m\", or \"Never\"", text)
	}
	return NewDuration(length), nil
}
