package policy

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"strings"
)

// checkReferee keeps the referee of plans and the solver apart: files of
// package provisioning whose names start with verify, and the others. A
// mistake in code that both used would be made twice and found by neither.
//
// They share the types of the input and the plan, with the exported methods
// those have, and packages outside provisioning/internal.
func checkReferee(m *module) (found []finding) {
	for _, p := range m.packages {
		if p.rel != "provisioning" {
			continue
		}
		for _, f := range p.files {
			file, _ := m.at(f.Package)
			if isReferee(file) {
				for _, spec := range p.imports([]*ast.File{f}) {
					if matches("provisioning/internal/...", m.relative(spec.path)) {
						_, line := m.at(spec.pos)
						found = append(found, finding{file: file, line: line, subject: file,
							message: fmt.Sprintf("the referee may not import %s: it shares no code with the solver", m.relative(spec.path))})
					}
				}
			}
			found = append(found, m.crossings(p, f)...)
		}
	}
	return found
}

// crossings reports functions that f uses and the other side declares.
func (m *module) crossings(p *pkg, f *ast.File) (found []finding) {
	file, _ := m.at(f.Package)
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		fn, ok := p.info.Uses[id].(*types.Func)
		if !ok || fn.Pkg() != p.types || fn.Exported() && fn.Signature().Recv() != nil {
			return true
		}
		if home, _ := m.at(fn.Pos()); isReferee(home) != isReferee(file) {
			_, line := m.at(id.Pos())
			found = append(found, finding{file: file, line: line, subject: file,
				message: fmt.Sprintf("%s is declared in %s: referee and solver share no code", fn.Name(), path.Base(home))})
		}
		return true
	})
	return found
}

func isReferee(file string) bool { return strings.HasPrefix(path.Base(file), "verify") }
