package policy

import (
	"fmt"
	"go/types"
	"strings"
)

// checkHabits holds the exported API of public packages against the table "One habit for each
// thing" of docs/design.md, as far as types tell: the order of parameters, and words that mean one
// thing. What a nil argument means and what zero values print is tested elsewhere.
func checkHabits(m *module) []finding {
	h := &habits{m: m}
	for _, p := range m.packages {
		if !p.public() || len(p.faults) > 0 {
			continue
		}
		h.p = p
		for _, name := range p.types.Scope().Names() {
			if obj := p.types.Scope().Lookup(name); obj.Exported() {
				h.object(obj)
			}
		}
	}
	return h.found
}

// habits collects findings, of one package at a time.
type habits struct {
	m     *module
	p     *pkg
	found []finding
}

// report adds a finding about an exported name, such as Type.Field.
func (h *habits) report(obj types.Object, name, format string, args ...any) {
	file, line := h.m.at(obj.Pos())
	h.found = append(h.found, finding{file: file, line: line, subject: h.p.rel + "." + name,
		message: name + ": " + fmt.Sprintf(format, args...)})
}

func (h *habits) object(obj types.Object) {
	name := obj.Name()
	switch obj := obj.(type) {
	case *types.Func:
		h.function(obj, name)
	case *types.TypeName:
		h.typeWord(obj)
		if obj.IsAlias() {
			return
		}
		named := obj.Type().(*types.Named)
		for method := range named.Methods() {
			if method.Exported() {
				h.function(method, name+"."+method.Name())
			}
		}
		switch t := named.Underlying().(type) {
		case *types.Interface:
			for method := range t.ExplicitMethods() {
				if method.Exported() {
					h.function(method, name+"."+method.Name())
				}
			}
		case *types.Struct:
			for field := range t.Fields() {
				if field.Exported() && !field.Embedded() {
					h.field(field, name+"."+field.Name())
				}
			}
		}
	}
}

// function checks the parameters and the word of a function or method.
func (h *habits) function(fn *types.Func, name string) {
	if strings.HasPrefix(fn.Name(), "DeepCopy") {
		return // generated
	}
	params := fn.Signature().Params()
	first := 0 // where the instant has its place
	for i := range params.Len() {
		v := params.At(i)
		switch {
		case isNamed(v.Type(), "context", "Context"):
			first = i + 1
			if i > 0 {
				h.report(fn, name, "the context is the first argument")
			}
		case (isNamed(v.Type(), "time", "Time") || isClock(v.Type())) && v.Name() == "now":
			if i != first {
				h.report(fn, name, "now is the first argument, or the one after the context")
			}
		case isClock(v.Type()) && v.Name() != "now":
			h.report(fn, name, "a function that tells the time is an argument of the name now")
		}
		h.options(fn, name, i)
	}
	switch fn.Name() {
	case "Next":
		if r := fn.Signature().Results(); r.Len() == 0 || !isNamed(r.At(0).Type(), "time", "Time") {
			h.report(fn, name, "Next is an instant: the time at which something changes by time alone")
		}
	case "Join":
		if !strings.HasSuffix(h.p.rel, "nodeclaim") {
			h.report(fn, name, "Join is for a Node that joins the cluster, in provisioning/nodeclaim")
		}
	}
	h.snapshot(fn, name, fn.Name())
}

// options checks parameter i if it is options of this module: a pointer named opts, in the last
// place.
func (h *habits) options(fn *types.Func, name string, i int) {
	params := fn.Signature().Params()
	t, pointer := params.At(i).Type(), false
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = p.Elem(), true
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || !h.m.has(named.Obj().Pkg().Path()) {
		return
	}
	word := named.Obj().Name()
	if !strings.HasSuffix(word, "Options") && word != "Timeouts" {
		return
	}
	if !pointer {
		h.report(fn, name, "options are a pointer, and nil means the defaults")
	}
	if i != params.Len()-1 {
		h.report(fn, name, "options are the last argument")
	}
	if got := params.At(i).Name(); strings.HasSuffix(word, "Options") && got != "opts" {
		h.report(fn, name, "options are an argument of the name opts, not %s", got)
	}
}

// typeWord checks the name of a type.
func (h *habits) typeWord(obj *types.TypeName) {
	name := obj.Name()
	switch name {
	case "Step":
		h.report(obj, name, "a step is a counted unit of work, and no type: see Options.MaxSteps")
	case "Reason":
		if !isString(obj.Type()) {
			h.report(obj, name, "a reason is one word, a string; an answer in full is an Explanation")
		}
	case "Binding":
		s, ok := obj.Type().Underlying().(*types.Struct)
		if !ok || !hasField(s, "Node") || !hasField(s, "Pod") && !hasField(s, "Pods") {
			h.report(obj, name, "a binding is of pods to a node that exists")
		}
	}
	h.snapshot(obj, name, name)
}

// field checks the name of a field.
func (h *habits) field(f *types.Var, name string) {
	switch f.Name() {
	case "Step", "Steps", "MaxSteps":
		if b, ok := f.Type().Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
			h.report(f, name, "steps are counted units of work, a number")
		}
	case "Reason":
		if !isString(f.Type()) {
			h.report(f, name, "a reason is one word, a string; an answer in full is an Explanation")
		}
	case "Next":
		if !isNamed(f.Type(), "time", "Time") {
			h.report(f, name, "Next is an instant: the time at which something changes by time alone")
		}
	case "Faults":
		if isNamed(f.Type(), "", "error") {
			h.report(f, name, "a field is overlooked: return the faults, as disruption.Propose does")
		}
	}
	if isClock(f.Type()) && f.Name() != "Now" {
		h.report(f, name, "a function that tells the time is a field of the name Now")
	}
}

// snapshot reports other words for an Input.
func (h *habits) snapshot(obj types.Object, name, word string) {
	if word == "View" || strings.Contains(word, "Snapshot") {
		h.report(obj, name, "the snapshot from which a decision is made is an Input")
	}
}

// isNamed says whether a type is the named one of a package, given by its path.
func isNamed(t types.Type, path, name string) bool {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Name() != name {
		return false
	}
	pkg := named.Obj().Pkg()
	return pkg == nil && path == "" || pkg != nil && pkg.Path() == path
}

// isClock says whether a type is func() time.Time.
func isClock(t types.Type) bool {
	s, ok := t.(*types.Signature)
	return ok && s.Params().Len() == 0 && s.Results().Len() == 1 && isNamed(s.Results().At(0).Type(), "time", "Time")
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func hasField(s *types.Struct, name string) bool {
	for f := range s.Fields() {
		if f.Name() == name {
			return true
		}
	}
	return false
}
