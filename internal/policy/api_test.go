package policy

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkAPI compares the exported declarations of each public package with its
// file under api, in which a change shows up in review. With -update it writes
// the files instead.
func checkAPI(m *module) (found []finding) {
	dir := filepath.Join(m.settings, "api")
	expected := map[string]bool{}
	for _, p := range m.packages {
		name := filepath.Join(dir, strings.ReplaceAll(p.rel, "/", "_")+".txt")
		if !p.public() {
			continue
		}
		expected[name] = true
		if len(p.faults) > 0 {
			continue // not before it compiles
		}
		got := declarations(p.types)
		if m.updating() {
			if err := writeFile(name, strings.Join(got, "\n")+"\n"); err != nil {
				found = append(found, finding{file: m.within(name), message: err.Error()})
			}
			continue
		}
		file, line := m.at(p.start())
		want, err := os.ReadFile(name)
		if err != nil {
			found = append(found, finding{file: file, line: line, subject: p.rel,
				message: m.within(name) + " is missing: run \"go test ./internal/policy -update\""})
			continue
		}
		for _, change := range compare(strings.FieldsFunc(string(want), func(r rune) bool { return r == '\n' }), got) {
			found = append(found, finding{file: file, line: line, subject: p.rel, message: change +
				": if that is meant, run \"go test ./internal/policy -update\" and note it in the CHANGELOG"})
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		found = append(found, finding{file: m.within(dir), message: err.Error()})
	}
	for _, name := range files {
		if expected[name] {
			continue
		}
		if m.updating() {
			err = os.Remove(name)
		} else {
			err = fmt.Errorf("no public package has this API: delete the file")
		}
		if err != nil {
			found = append(found, finding{file: m.within(name), line: 1, subject: m.within(name), message: err.Error()})
		}
	}
	return found
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// compare lists lines that went and lines that came. Both sides are sorted.
func compare(want, got []string) (changes []string) {
	for _, w := range want {
		if _, ok := slices.BinarySearch(got, w); !ok {
			changes = append(changes, "gone: "+w)
		}
	}
	for _, g := range got {
		if _, ok := slices.BinarySearch(want, g); !ok {
			changes = append(changes, "new: "+g)
		}
	}
	return changes
}

// declarations renders what a package exports, one declaration a line, sorted.
func declarations(p *types.Package) (lines []string) {
	r := &renderer{qualify: func(q *types.Package) string {
		if q == p {
			return ""
		}
		return q.Path()
	}}
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.Const:
			r.add("const %s %s = %s", name, r.text(obj.Type()), obj.Val().ExactString())
		case *types.Var:
			r.add("var %s %s", name, r.text(obj.Type()))
		case *types.Func:
			r.add("func %s%s", name, r.signature(obj.Signature()))
		case *types.TypeName:
			r.typeName(obj)
		}
	}
	slices.Sort(r.lines)
	return r.lines
}

// renderer writes declarations.
type renderer struct {
	qualify types.Qualifier
	lines   []string
}

func (r *renderer) add(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *renderer) text(t types.Type) string { return types.TypeString(t, r.qualify) }

// typeName renders a type and its exported fields and methods, those reached
// by embedding included.
func (r *renderer) typeName(obj *types.TypeName) {
	name := obj.Name()
	if obj.IsAlias() {
		r.add("type %s = %s", name, r.text(types.Unalias(obj.Type())))
		return
	}
	named := obj.Type().(*types.Named)
	switch t := named.Underlying().(type) {
	case *types.Struct:
		r.add("type %s struct", r.text(named))
		r.fields(name, t)
	case *types.Interface:
		r.interfaceType(name, t)
		return
	default:
		r.add("type %s %s", r.text(named), r.text(t))
	}
	value := types.NewMethodSet(named)
	pointer := types.NewMethodSet(types.NewPointer(named))
	for m := range pointer.Methods() {
		fn := m.Obj().(*types.Func)
		if !fn.Exported() {
			continue
		}
		receiver := name
		if value.Lookup(fn.Pkg(), fn.Name()) == nil {
			receiver = "*" + name
		}
		r.add("method (%s) %s%s", receiver, fn.Name(), r.signature(fn.Signature()))
	}
}

func (r *renderer) fields(name string, t *types.Struct) {
	for i := range t.NumFields() {
		f := t.Field(i)
		if !f.Exported() {
			continue
		}
		kind := "field"
		if f.Embedded() {
			kind = "embedded"
		}
		wire := ""
		// Among the tags, only json decides what is read and written.
		if tag, ok := reflect.StructTag(t.Tag(i)).Lookup("json"); ok {
			wire = fmt.Sprintf(" json:%q", tag)
		}
		r.add("%s %s.%s %s%s", kind, name, f.Name(), r.text(f.Type()), wire)
	}
}

func (r *renderer) interfaceType(name string, t *types.Interface) {
	sealed := ""
	for fn := range t.Methods() {
		if !fn.Exported() {
			sealed = " (sealed)"
			continue
		}
		r.add("method (%s) %s%s", name, fn.Name(), r.signature(fn.Signature()))
	}
	r.add("type %s interface%s", name, sealed)
}

// signature renders parameters and results without their names, which callers
// do not depend on.
func (r *renderer) signature(s *types.Signature) string {
	params := typeParams(s, r)
	plain := types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	return params + strings.TrimPrefix(r.text(plain), "func")
}

func typeParams(s *types.Signature, r *renderer) string {
	if s.TypeParams().Len() == 0 {
		return ""
	}
	var params []string
	for p := range s.TypeParams().TypeParams() {
		params = append(params, p.Obj().Name()+" "+r.text(p.Constraint()))
	}
	return "[" + strings.Join(params, ", ") + "]"
}

func unnamed(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range t.Variables() {
		vars = append(vars, types.NewParam(0, v.Pkg(), "", v.Type()))
	}
	return types.NewTuple(vars...)
}

// TestDeclarations renders a package that uses every form of declaration.
func TestDeclarations(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("testdata", "faulty"))
	require.NoError(t, err)
	m, err := loadModule(root, root)
	require.NoError(t, err)
	i := slices.IndexFunc(m.packages, func(p *pkg) bool { return p.rel == "budgets" })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, []string{
		`const First Level = 1`,
		`const Long untyped string = "a constant that is long enough for a shortened rendering to lose the end of it"`,
		`embedded Set.Base Base json:",inline"`,
		`field Base.Name string json:"name"`,
		`func Map[K comparable, V any]([]K, func(K) V) map[K]V`,
		`method (*Base) Touch(int)`,
		`method (*Set) Touch(int)`,
		`method (Open) Do(string, ...int) (bool, error)`,
		`method (Sealed) Len() int`,
		`method (Set) All() iter.Seq[K]`,
		`type Alias = Base`,
		`type Base struct`,
		`type Level int`,
		`type Open interface`,
		`type Sealed interface (sealed)`,
		`type Set[K comparable] struct`,
		`var ErrNone error`,
	}, declarations(m.packages[i].types))
}
