package resources

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Parse reads a list from its text form: "name=quantity" pairs separated by
// commas, in any order, with blanks allowed around names and quantities.
//
//	cpu=2, memory=8Gi, pods=29
//
// A name consists of letters, digits and the characters "-", "_", "." and "/".
// A quantity is written and rounded as in Kubernetes manifests (500m, 1.5Gi,
// 2e3); see FromResourceList. Blank text gives the empty list, and
// Parse(l.String()) gives l for every list of such names. The error lists every
// fault in the text; one for an amount outside int64 wraps ErrOverflow.
func Parse(text string) (List, error) {
	if strings.TrimSpace(text) == "" {
		return List{}, nil
	}
	var entries []entry
	var faults []error
	seen := make(map[string]bool)
	for pair := range strings.SplitSeq(text, ",") {
		e, err := parsePair(strings.TrimSpace(pair))
		switch {
		case err != nil:
			faults = append(faults, err)
		case seen[string(e.name)]:
			faults = append(faults, fmt.Errorf("resource %s: listed twice; keep one of the amounts", e.name))
		default:
			seen[string(e.name)] = true
			entries = append(entries, e)
		}
	}
	if len(faults) > 0 {
		return List{}, errors.Join(faults...)
	}
	return sorted(entries), nil
}

// MustParse is Parse for constants in tests and examples. It panics if text is
// not valid.
func MustParse(text string) List {
	l, err := Parse(text)
	if err != nil {
		panic("resources.MustParse: " + err.Error())
	}
	return l
}

func parsePair(pair string) (entry, error) {
	name, value, found := strings.Cut(pair, "=")
	if !found {
		return entry{}, fmt.Errorf("%q: no %q in it; write name=quantity, as in cpu=2", pair, "=")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !validName(name) {
		return entry{}, nameFault(name)
	}
	amount, err := parseAmount(corev1.ResourceName(name), value)
	return entry{corev1.ResourceName(name), amount}, err
}

// maxQuantityText bounds the text of a quantity. 64 characters hold any amount
// in any notation; without a bound, and one on the exponent, a few characters
// could ask ParseQuantity for a number of a billion digits.
const maxQuantityText = 64

func parseAmount(name corev1.ResourceName, value string) (int64, error) {
	overflow := func() error {
		return fmt.Errorf("resource %s: %s: %w; the amount in %s must fit in a signed 64-bit integer",
			name, value, ErrOverflow, unitOf(name))
	}
	if len(value) > maxQuantityText {
		return 0, fmt.Errorf("resource %s: quantity of %d characters; use at most %d", name, len(value), maxQuantityText)
	}
	if exponentDigits(value) > 3 {
		return 0, fmt.Errorf("resource %s: %q has an exponent of more than 3 digits; write the amount out", name, value)
	}
	q, err := resource.ParseQuantity(value)
	if err != nil {
		return 0, fmt.Errorf("resource %s: %q is not a quantity; write a number with an optional suffix, as in 500m, 2 or 8Gi", name, value)
	}
	amount, ok := amountOf(name, q)
	// ParseQuantity caps quantities with a binary suffix at the end of int64 without an error. No
	// quantity that is not capped has that amount and a binary suffix.
	capped := strings.HasSuffix(value, "i") && (amount == math.MaxInt64 || amount == -math.MaxInt64)
	if !ok || capped {
		return 0, overflow()
	}
	return amount, nil
}

// exponentDigits counts the digits after an "e" or "E", as in 2e30.
func exponentDigits(value string) int {
	i := strings.LastIndexAny(value, "eE")
	if i < 0 {
		return 0
	}
	return len(strings.TrimLeft(value[i+1:], "+-"))
}

func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '/' {
			return false
		}
	}
	return name != ""
}

func nameFault(name string) error {
	return fmt.Errorf("resource %q: not a resource name; use letters, digits, \"-\", \"_\", \".\" and \"/\", as in nvidia.com/gpu", name)
}

// String returns the canonical text form: "name=amount" sorted by name and
// joined by ", ", each amount as Format writes it. The empty list gives "".
func (l List) String() string {
	if len(l.entries) == 0 {
		return ""
	}
	return string(l.append(make([]byte, 0, 24*len(l.entries))))
}

func (l List) append(b []byte) []byte {
	for i, e := range l.entries {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, e.name...)
		b = append(b, '=')
		b = appendAmount(b, e.name, e.amount)
	}
	return b
}

// MarshalText returns the text form of l; see String. It never fails.
func (l List) MarshalText() ([]byte, error) {
	return l.append(nil), nil
}

// UnmarshalText sets l to the list that text describes; see Parse. On error l
// is left as it was.
func (l *List) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// Format writes an amount of name in the notation of Kubernetes manifests:
//
//	cpu      whole CPUs where exact, otherwise milli-CPU: "2", "1500m"
//	bytes    the largest binary suffix that is exact: "8Gi", "1536Mi", "1000"
//	others   a plain number: "29"
//
// The same amount is always written the same way.
func Format(name corev1.ResourceName, amount int64) string {
	var buf [24]byte
	return string(appendAmount(buf[:0], name, amount))
}

func appendAmount(b []byte, name corev1.ResourceName, amount int64) []byte {
	switch {
	case isCPU(name):
		if amount%1000 == 0 {
			return strconv.AppendInt(b, amount/1000, 10)
		}
		return append(strconv.AppendInt(b, amount, 10), 'm')
	case isBytes(name):
		const suffixes = "KMGTPE"
		step := 0
		// The least int64 is a round -8Ei, which ParseQuantity does not read.
		for step < len(suffixes) && amount != 0 && amount != math.MinInt64 && amount%1024 == 0 {
			amount /= 1024
			step++
		}
		b = strconv.AppendInt(b, amount, 10)
		if step > 0 {
			b = append(b, suffixes[step-1], 'i')
		}
		return b
	}
	return strconv.AppendInt(b, amount, 10)
}
