package requirements_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// The tests of the laws run over every requirement that can be built from a
// small stock of expressions, and judge it by a second, plain implementation: a
// set of states is a bit mask over a small universe of states.

const key = "example.com/key"

// state is one state of a label.
type state struct {
	present bool
	value   string
}

func (s state) labels() map[string]string {
	if !s.present {
		return nil
	}
	return map[string]string{key: s.value}
}

// expression is an operator with its values, as in the API.
type expression struct {
	op     corev1.NodeSelectorOperator
	values []string
}

func (e expression) String() string { return fmt.Sprintf("%s %q", e.op, e.values) }

// admits says whether an operator admits a state, by kube-scheduler's definition of the operators.
func (e expression) admits(s state) bool {
	switch e.op {
	case corev1.NodeSelectorOpIn:
		return s.present && slices.Contains(e.values, s.value)
	case corev1.NodeSelectorOpNotIn:
		return !s.present || !slices.Contains(e.values, s.value)
	case corev1.NodeSelectorOpExists:
		return s.present
	case corev1.NodeSelectorOpDoesNotExist:
		return !s.present
	}
	n, err := strconv.ParseInt(s.value, 10, 64)
	if !s.present || err != nil {
		return false
	}
	m, err := strconv.ParseInt(e.values[0], 10, 64)
	if err != nil {
		panic(err)
	}
	switch e.op {
	case corev1.NodeSelectorOpGt:
		return n > m
	case corev1.NodeSelectorOpLt:
		return n < m
	case v1.NodeSelectorOpGte:
		return n >= m
	case v1.NodeSelectorOpLte:
		return n <= m
	}
	panic("unknown operator " + e.op)
}

func (e expression) requirement(t testing.TB) requirements.Requirement {
	t.Helper()
	r, err := requirements.New(key, e.op, e.values...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// universe is a stock of values and of bounds, with the states that tell apart
// every two sets that can be built from it.
type universe struct {
	values []string
	bounds []int64
	states []state
}

func newUniverse(values []string, bounds []int64) universe {
	u := universe{values: values, bounds: bounds, states: []state{{}}}
	add := func(v string) {
		if s := (state{true, v}); !slices.Contains(u.states, s) {
			u.states = append(u.states, s)
		}
	}
	for _, v := range values {
		add(v)
	}
	// Strings that no expression names: two that are not integers, and for
	// each bound and its neighbours a spelling of the integer.
	add("other")
	add("9223372036854775808")
	for _, n := range bounds {
		for _, m := range []int64{n - 1, n, n + 1} { // wraps round at the ends, which is as good as any
			if m < 0 {
				add("-000" + strconv.FormatInt(m, 10)[1:])
			} else {
				add("+000" + strconv.FormatInt(m, 10))
			}
		}
	}
	if len(u.states) > 64 {
		panic("too many states for a mask")
	}
	return u
}

// full has values of every kind: none, a word, integers in several spellings and
// of either sign, one of too many bits.
func full() universe {
	return newUniverse(
		[]string{"", "a", "6", "07", "7", "-3", "9223372036854775809"},
		[]int64{math.MinInt64, -1, 5, 7, math.MaxInt64},
	)
}

// small is small enough to look at all triples.
func small() universe {
	return newUniverse([]string{"", "a", "6", "07"}, []int64{-1, 5, 7})
}

func (u universe) expressions() []expression {
	out := []expression{{op: corev1.NodeSelectorOpExists}, {op: corev1.NodeSelectorOpDoesNotExist}}
	for subset := range 1 << len(u.values) {
		var values []string
		for i, v := range u.values {
			if subset&(1<<i) != 0 {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out = append(out, expression{corev1.NodeSelectorOpIn, values})
		}
		out = append(out, expression{corev1.NodeSelectorOpNotIn, values})
	}
	for _, n := range u.bounds {
		values := []string{strconv.FormatInt(n, 10)}
		for _, op := range []corev1.NodeSelectorOperator{
			corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, v1.NodeSelectorOpGte, v1.NodeSelectorOpLte,
		} {
			out = append(out, expression{op, values})
		}
	}
	return out
}

// mask is a set of states of a universe, one bit each.
type mask uint64

func (u universe) maskOf(e expression) mask {
	var m mask
	for i, s := range u.states {
		if e.admits(s) {
			m |= 1 << i
		}
	}
	return m
}

// judged is a requirement with the states that the plain implementation says it
// admits.
type judged struct {
	requirements.Requirement
	mask mask
}

// closure returns every requirement that some conjunction of expressions gives,
// each once, by its string.
func (u universe) closure(t testing.TB) []judged {
	t.Helper()
	seen := map[string]mask{}
	var base, out []judged
	add := func(j judged) bool {
		if m, ok := seen[j.String()]; ok {
			if m != j.mask {
				t.Fatalf("%q stands for two sets: %b and %b", j, m, j.mask)
			}
			return false
		}
		seen[j.String()] = j.mask
		out = append(out, j)
		return true
	}
	for _, e := range u.expressions() {
		j := judged{e.requirement(t), u.maskOf(e)}
		base = append(base, j)
		add(j)
	}
	for i := 0; i < len(out); i++ {
		for _, b := range base {
			add(judged{out[i].Intersect(b.Requirement), out[i].mask & b.mask})
		}
	}
	return out
}
