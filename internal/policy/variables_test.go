package policy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkVariables reports package variables that change, or could be changed
// from outside, after start-up. Sentinel errors and tables are fine.
//
// It sees writes by name: an alias kept in a local variable or handed to a
// function escapes it, but for the functions of the standard library that
// write to their first argument.
func checkVariables(m *module) (found []finding) {
	for _, p := range m.packages {
		if p.types == nil {
			continue
		}
		w := &writes{m: m, p: p}
		for _, f := range p.files {
			if p.pure() {
				w.declarations(f)
			}
			ast.Inspect(f, w.visit)
		}
		found = append(found, w.found...)
	}
	return found
}

// writes collects what changes package variables in one package.
type writes struct {
	m     *module
	p     *pkg
	found []finding
}

func (w *writes) report(pos token.Pos, name, format string, args ...any) {
	file, line := w.m.at(pos)
	w.found = append(w.found, finding{file: file, line: line, subject: w.p.rel + "." + name,
		message: fmt.Sprintf(format, args...)})
}

// declarations judges variables by their types, and refuses init.
func (w *writes) declarations(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				w.report(d.Pos(), "init", "func init runs before anybody can ask it not to: build the value where it is needed")
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					w.types(v)
				}
			}
		}
	}
}

func (w *writes) types(v *ast.ValueSpec) {
	for _, id := range v.Names {
		obj := w.p.info.Defs[id]
		if obj == nil || id.Name == "_" {
			continue
		}
		if state := stateful(obj.Type()); state != "" {
			w.report(id.Pos(), id.Name,
				"variable %s is of type %s, which exists to change: keep it in a value that the caller owns", id.Name, state)
			continue
		}
		switch obj.Type().Underlying().(type) {
		case *types.Map, *types.Slice, *types.Pointer:
			if id.IsExported() {
				w.report(id.Pos(), id.Name,
					"variable %s is exported, so importers could write into it: offer a function that returns a copy", id.Name)
			}
		}
	}
}

// stateful names the type if its values are meant to change.
func stateful(t types.Type) string {
	if _, ok := t.Underlying().(*types.Chan); ok {
		return t.String()
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil {
		switch n.Obj().Pkg().Path() {
		case "sync", "sync/atomic":
			return n.String()
		}
	}
	return ""
}

// visit looks for statements and expressions that write.
func (w *writes) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, e := range n.Lhs {
				w.written(e, "is assigned")
			}
		}
	case *ast.IncDecStmt:
		w.written(n.X, "is assigned")
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			w.written(n.Key, "is assigned")
			w.written(n.Value, "is assigned")
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			w.written(n.X, "has its address taken")
		}
	case *ast.CallExpr:
		w.call(n)
	case *ast.SelectorExpr:
		// A method on a pointer takes the address of the variable it is
		// called on.
		s := w.p.info.Selections[n]
		if s == nil || s.Kind() != types.MethodVal {
			break
		}
		_, wants := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
		_, has := s.Recv().Underlying().(*types.Pointer)
		if wants && !has {
			w.written(n.X, "has its address taken by method "+n.Sel.Name)
		}
	}
	return true
}

// writers are functions of the standard library that write to what their
// first argument points at; a name ending in * stands for all that begin so.
var writers = []string{
	"clear", "copy", "delete",
	"maps.Copy", "maps.DeleteFunc", "maps.Insert",
	"slices.Compact*", "slices.Delete*", "slices.Insert", "slices.Replace", "slices.Reverse", "slices.Sort*",
	"sort.*",
}

func (w *writes) call(c *ast.CallExpr) {
	name := ""
	switch fn := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		if b, ok := w.p.info.Uses[fn].(*types.Builtin); ok {
			name = b.Name()
		}
	case *ast.SelectorExpr:
		if f, ok := w.p.info.Uses[fn.Sel].(*types.Func); ok && f.Pkg() != nil {
			name = f.Pkg().Path() + "." + f.Name()
		}
	}
	for _, writer := range writers {
		prefix, open := strings.CutSuffix(writer, "*")
		if len(c.Args) > 0 && (name == writer || open && strings.HasPrefix(name, prefix)) {
			w.written(c.Args[0], "is written to by "+name)
		}
	}
}

// written reports e if what it writes to belongs to a package variable of
// this module.
func (w *writes) written(e ast.Expr, how string) {
	id := root(e, w.p.info)
	if id == nil {
		return
	}
	v, ok := w.p.info.Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !w.m.has(v.Pkg().Path()) {
		return
	}
	if v.Pkg() == w.p.types && !w.p.pure() {
		return // an impure package may keep state of its own
	}
	w.report(e.Pos(), v.Name(), "variable %s %s: package variables stay as they are declared", v.Name(), how)
}

// root returns the identifier that a chain of selectors, indexes and dereferences
// starts from, or nil.
func root(e ast.Expr, info *types.Info) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if _, ok := info.Uses[id].(*types.PkgName); ok {
					return x.Sel
				}
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
