package policy

import (
	"fmt"
	"go/ast"
	"go/types"
)

// checkReferee keeps the referee of plans, package provisioning/verify with what is
// below it, and the solver apart. A mistake in code that both used would be made twice and found
// by neither.
//
// They share the types of the input and the plan, with the exported methods
// those have, and packages outside internal/engine; that the one imports
// no more than that is a layer. Here no function of provisioning is called.
func checkReferee(m *module) (found []finding) {
	for _, p := range m.packages {
		if !matches("provisioning/verify/...", p.rel) {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				fn, ok := p.info.Uses[id].(*types.Func)
				if !ok || fn.Pkg() == nil || m.relative(fn.Pkg().Path()) != "provisioning" || fn.Signature().Recv() != nil {
					return true
				}
				file, line := m.at(id.Pos())
				found = append(found, finding{file: file, line: line, subject: file,
					message: fmt.Sprintf("%s is code of the solver: the referee shares none", fn.Name())})
				return true
			})
		}
	}
	return found
}
