package corpus

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

var mode = flag.String("plans", "", "write: rewrite the fingerprints of answers; check: compare all of them; gate: judge their sums against the commit in testdata/plans/base.txt; base: write how many are proven now into that file")

// Case is a problem.
type Case struct {
	// Name identifies the case. It contains no blanks.
	Name string
	// Answer solves the problem. Cases are solved concurrently.
	Answer func() (Answer, error)
}

// Answer is the part of an answer that is recorded.
type Answer struct {
	Value any     // what is hashed
	Cost  float64 // in USD per hour
	Left  int     // how many pods, or nodes, are left over
	Steps int
	// Proven says that nothing better exists, and that the answer itself shows it.
	Proven bool
	// Faults counts the rules that the answer breaks. It is called by the gate alone, because it
	// may take as long as the answer; nil counts none.
	Faults func() int
}

// Check fails the test unless each case has the answer recorded in testdata/file. In the long run
// it solves every n-th case, where n is every; by default half as many, and under the race detector
// a tenth. With -plans=check it solves all cases, and with -plans=write it writes the file.
//
// With -plans=gate it solves all cases, compares their sums with the answers of the commit in
// testdata/plans/base.txt, fails the test if a sum exceeds its bound, and logs a row of the table.
func Check(t *testing.T, file string, every int, cases []Case, bounds Bounds) {
	t.Helper()
	short := filepath.Base(file)
	file = filepath.Join("testdata", file)
	if *mode == "" {
		if runtime.GOARCH != "amd64" {
			t.Skip("the last digits of a sum are those of another processor")
		}
		switch {
		case testlong.UnderRace:
			every *= 10
		case !testlong.On():
			every *= 2
		}
		cases = part(cases, every)
	}
	lines, tally, err := solve(cases)
	if err != nil {
		t.Fatal(err)
	}
	if *mode == "gate" || *mode == "base" {
		gate(t, short, file, lines, tally, bounds)
		return
	}
	if *mode == "write" {
		if err := write(file, lines); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("run make plans to write it: %v", err)
	}
	known := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if found := Differences(known, lines, *mode == "check"); len(found) > 0 {
		t.Errorf("%s: %d of %d answers differ; run make plans if that is meant, and say in the commit what changed\n%s",
			file, len(found), len(lines), strings.Join(found, "\n"))
	}
}

// gate judges all lines of a file against those of another commit.
func gate(t *testing.T, short, file string, lines []string, sums tally, bounds Bounds) {
	t.Helper()
	b, err := readBase()
	if err != nil {
		t.Fatal(err)
	}
	if *mode == "base" {
		b.proven[short] = int(sums.proven.Load())
		if err := b.write(); err != nil {
			t.Fatal(err)
		}
		return
	}
	before, err := b.lines(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"))
	if err != nil {
		t.Fatal(err)
	}
	f := Compare(before, lines)
	f.Faults, f.Proven, f.ProvenBefore = int(sums.faults.Load()), int(sums.proven.Load()), b.proven[short]
	t.Logf("%-15s %s", short, f)
	if len(sums.broken) > 0 {
		t.Errorf("%s: rules are broken in %s", short, strings.Join(sums.broken, ", "))
	}
	for _, broken := range f.Breaks(bounds) {
		t.Errorf("%s: %s", short, broken)
	}
}

func write(file string, lines []string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// part returns every n-th case.
func part(cases []Case, every int) (out []Case) {
	for i := 0; i < len(cases); i += every {
		out = append(out, cases[i])
	}
	return out
}

// tally counts facts that lines do not have.
type tally struct {
	faults, proven *atomic.Int64
	broken         []string // problems whose answer breaks a rule
}

// solve returns the lines of cases, in their order, and the totals over all of them.
func solve(cases []Case) ([]string, tally, error) {
	broken := make([]string, len(cases))
	sums := tally{faults: new(atomic.Int64), proven: new(atomic.Int64)}
	lines, errs := make([]string, len(cases)), make([]error, len(cases))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(cases) {
					return
				}
				answer, err := cases[i].Answer()
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", cases[i].Name, err)
					continue
				}
				lines[i] = Line(cases[i].Name, answer)
				if answer.Proven {
					sums.proven.Add(1)
				}
				if *mode == "gate" && answer.Faults != nil {
					if n := answer.Faults(); n > 0 {
						sums.faults.Add(int64(n))
						broken[i] = cases[i].Name
					}
				}
			}
		})
	}
	wg.Wait()
	sums.broken = slices.DeleteFunc(broken, func(name string) bool { return name == "" })
	return lines, sums, cmp.Or(errs...)
}

// Line returns the line of an answer in the files: the name of the problem, a hash, the cost, the
// number of unplaced pods, and the steps.
func Line(name string, a Answer) string {
	return fmt.Sprintf("%s %08x %.4f %d %d", name, uint32(Hash(a.Value)), a.Cost, a.Left, a.Steps)
}

// Differences lists the lines that have changed or are new. If all says that lines are all lines of
// the file, it also lists those that have disappeared.
func Differences(known, lines []string, all bool) (out []string) {
	was := map[string]string{}
	for _, l := range known {
		was[name(l)] = l
	}
	for _, l := range lines {
		switch before, ok := was[name(l)]; {
		case !ok:
			out = append(out, "+ "+l)
		case before != l:
			out = append(out, difference(before, l))
		}
		delete(was, name(l))
	}
	if all {
		for _, l := range known {
			if _, ok := was[name(l)]; ok {
				out = append(out, "- "+l)
			}
		}
	}
	return out
}

func name(line string) string { return line[:max(strings.IndexByte(line, ' '), 0)] }

// difference describes how one line differs from another.
func difference(before, now string) string {
	a, b := strings.Fields(before), strings.Fields(now)
	if len(a) != 5 || len(b) != 5 {
		return fmt.Sprintf("%s, was %s", now, before)
	}
	var what []string
	for i, column := range []string{"", "", "cost", "left over", "steps"} {
		if column != "" && a[i] != b[i] {
			what = append(what, fmt.Sprintf("%s %s -> %s", column, a[i], b[i]))
		}
	}
	if len(what) == 0 {
		what = []string{"the same figures, but another answer"}
	}
	return b[0] + ": " + strings.Join(what, ", ")
}

// Hash returns a number over all that is exported in a value.
func Hash(v any) uint64 {
	h := &hasher{Hash64: fnv.New64a(), known: map[reference]uint64{}}
	h.value(reflect.ValueOf(v))
	return h.Sum64()
}

// hasher writes values into a hash. What several parts of an answer point to is
// written once.
type hasher struct {
	hash.Hash64
	known map[reference]uint64
}

// reference is memory that values may share.
type reference struct {
	at   uintptr
	size int
	kind reflect.Type
}

func (h *hasher) text(s string) {
	h.number(uint64(len(s)))
	_, _ = h.Write([]byte(s)) // a hash returns no error
}

func (h *hasher) number(n uint64) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, n))
}

// givenUp is the type of the preferences that nodes do not satisfy. The rest of a plan determines
// them, so they are not hashed.
const givenUp = "[]provisioning.GivenUpPreference"

func (h *hasher) value(v reflect.Value) {
	if !v.IsValid() {
		h.text("nil")
		return
	}
	if h.whole(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		h.pointer(v)
	case reflect.Slice, reflect.Array:
		h.list(v)
	case reflect.Map:
		h.table(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.String() != givenUp {
				h.value(v.Field(i))
			}
		}
	case reflect.String:
		h.text(v.String())
	case reflect.Float32, reflect.Float64:
		h.number(math.Float64bits(v.Float()))
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		h.text(fmt.Sprint(v.Interface()))
	default:
		panic(fmt.Sprintf("corpus: no hash of %s", v.Type()))
	}
}

// whole hashes values that have a form of their own: of objects the name, and of types without
// exported fields the text.
func (h *hasher) whole(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Interface {
		return false
	}
	switch x := v.Interface().(type) {
	case metav1.Object:
		h.text(x.GetNamespace() + "/" + x.GetName())
	case *cloudprovider.InstanceType:
		h.text(x.Name)
	case json.Marshaler:
		text, err := x.MarshalJSON()
		if err != nil {
			panic(fmt.Sprintf("corpus: %v", err))
		}
		h.text(string(text))
	case error:
		h.text(x.Error())
	case fmt.Stringer:
		if v.Kind() != reflect.Struct || exports(v.Type()) {
			return false
		}
		h.text(x.String())
	default:
		return false
	}
	return true
}

// exports says whether a struct has an exported field.
func exports(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

// pointer writes what is pointed to: once in full, and after that its hash.
func (h *hasher) pointer(v reflect.Value) {
	if v.IsNil() {
		h.text("nil")
		return
	}
	if v.Kind() == reflect.Interface {
		h.value(v.Elem())
		return
	}
	h.once(reference{v.Pointer(), 1, v.Type()}, func(part *hasher) { part.value(v.Elem()) })
}

func (h *hasher) list(v reflect.Value) {
	each := func(part *hasher) {
		part.number(uint64(v.Len()))
		for i := range v.Len() {
			part.value(v.Index(i))
		}
	}
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		h.once(reference{v.Pointer(), v.Len(), v.Type()}, each)
		return
	}
	each(h)
}

// once writes the hash of a part, which is worked out the first time.
func (h *hasher) once(at reference, write func(part *hasher)) {
	sum, known := h.known[at]
	if !known {
		part := &hasher{Hash64: fnv.New64a(), known: h.known}
		write(part)
		sum = part.Sum64()
		h.known[at] = sum
	}
	h.number(sum)
}

// table writes a map by its keys, in order.
func (h *hasher) table(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return strings.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
	})
	h.number(uint64(len(keys)))
	for _, k := range keys {
		h.text(fmt.Sprint(k.Interface()))
		h.value(v.MapIndex(k))
	}
}
