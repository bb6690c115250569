package policy

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// documentedFields says of which structs every exported field needs a comment
// of its own: what users write by hand.
func documentedFields(p *pkg, typeName string) bool {
	return strings.HasSuffix(p.rel, "api/v1") || strings.HasSuffix(typeName, "Options") || typeName == "Input"
}

// checkComments asks for a package comment, which public packages have in
// doc.go, and a doc comment on every exported identifier. A comment over a group of constants or variables
// speaks for those in it that have none.
func checkComments(m *module) (found []finding) {
	for _, p := range m.packages {
		c := &comments{m: m, p: p}
		if !slices.ContainsFunc(p.files, func(f *ast.File) bool { return f.Doc != nil }) {
			c.report(p.start(), p.rel, "package %s has no package comment", p.rel)
		} else if p.public() && !slices.ContainsFunc(p.files, m.isDocFile) {
			c.report(p.start(), p.rel, "the comment of package %s belongs in doc.go", p.rel)
		}
		if p.Name != "main" {
			for _, f := range p.files {
				for _, d := range f.Decls {
					c.declaration(d)
				}
			}
		}
		found = append(found, c.found...)
	}
	return found
}

func (m *module) isDocFile(f *ast.File) bool {
	name, _ := m.at(f.Package)
	return f.Doc != nil && filepath.Base(name) == "doc.go"
}

// comments collects what has no comment in one package.
type comments struct {
	m     *module
	p     *pkg
	found []finding
}

func (c *comments) report(pos token.Pos, name, format string, args ...any) {
	file, line := c.m.at(pos)
	c.found = append(c.found, finding{file: file, line: line, subject: c.p.rel + "." + name,
		message: fmt.Sprintf(format, args...)})
}

func (c *comments) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := receiverName(d.Recv.List[0].Type)
			if !ast.IsExported(receiver) {
				return
			}
			name = receiver + "." + name
		}
		if d.Name.IsExported() && !said(d.Doc) {
			c.report(d.Pos(), name, "func %s has no doc comment", name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				c.values(d, s)
			case *ast.TypeSpec:
				c.typeSpec(d, s)
			}
		}
	}
}

func (c *comments) values(d *ast.GenDecl, s *ast.ValueSpec) {
	for _, id := range s.Names {
		if id.IsExported() && !said(d.Doc, s.Doc, s.Comment) {
			c.report(id.Pos(), id.Name, "%s %s has no doc comment", d.Tok, id.Name)
		}
	}
}

func (c *comments) typeSpec(d *ast.GenDecl, s *ast.TypeSpec) {
	if !s.Name.IsExported() {
		return
	}
	group := d.Doc
	if d.Lparen.IsValid() {
		group = nil // a comment over several types says nothing of each
	}
	if !said(group, s.Doc, s.Comment) {
		c.report(s.Pos(), s.Name.Name, "type %s has no doc comment", s.Name.Name)
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		if documentedFields(c.p, s.Name.Name) {
			c.members(s.Name.Name, "field", t.Fields)
		}
	case *ast.InterfaceType:
		c.members(s.Name.Name, "method", t.Methods)
	}
}

// members asks for a comment on each exported field or interface method.
// Embedded ones have theirs where they are declared.
func (c *comments) members(typeName, kind string, list *ast.FieldList) {
	for _, f := range list.List {
		for _, id := range f.Names {
			if id.IsExported() && !said(f.Doc, f.Comment) {
				name := typeName + "." + id.Name
				c.report(id.Pos(), name, "%s %s has no comment", kind, name)
			}
		}
	}
}

// said tells whether one of the comments has text, directives aside.
func said(groups ...*ast.CommentGroup) bool {
	return slices.ContainsFunc(groups, func(g *ast.CommentGroup) bool {
		return strings.TrimSpace(g.Text()) != ""
	})
}

// receiverName returns the name of a method's type.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
