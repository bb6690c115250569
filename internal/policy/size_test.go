package policy

import (
	"fmt"
	"go/ast"
)

// A file or function longer than this is not read in one go. One noun is one file. Tests,
// generated files and what exceptions.txt lists may be longer.
const (
	maxFileLines     = 800
	maxFunctionLines = 60
)

// checkSize reports files and functions that are too long.
func checkSize(m *module) (found []finding) {
	for _, p := range m.packages {
		for _, f := range p.files {
			if ast.IsGenerated(f) {
				continue
			}
			file, lines := m.at(f.FileEnd)
			if lines-1 > maxFileLines {
				found = append(found, finding{file: file, line: 1, subject: file,
					message: fmt.Sprintf("%d lines, at most %d: split it where a second noun lives in it", lines-1, maxFileLines)})
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				_, first := m.at(fn.Pos())
				_, last := m.at(fn.End())
				if n := last - first + 1; n > maxFunctionLines {
					found = append(found, finding{file: file, line: first, subject: p.rel + "." + functionName(fn),
						message: fmt.Sprintf("func %s has %d lines, at most %d: give a part of it a name",
							functionName(fn), n, maxFunctionLines)})
				}
			}
		}
	}
	return found
}

// functionName is Name, or Type.Name for a method.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiverName(fn.Recv.List[0].Type) + "." + fn.Name.Name
}
