package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is a Go module as the rules see it.
type module struct {
	root     string // directory of go.mod
	path     string // module path
	settings string // directory of dependencies.txt, exceptions.txt and api
	fset     *token.FileSet
	packages []*pkg // of this module, by import path
	requires []required
	built    []built // from these modules, tests not counted
}

// pkg is one package of the module. Only files without tests are type-checked.
type pkg struct {
	listedPackage
	rel    string // import path within the module; "." at its root
	files  []*ast.File
	tests  []*ast.File
	types  *types.Package
	info   *types.Info
	faults []finding // what kept it from compiling
}

// listedPackage is what the go command tells about a package.
type listedPackage struct {
	ImportPath, Name, Dir              string
	GoFiles, TestGoFiles, XTestGoFiles []string
	DepOnly                            bool
	Export                             string
	Deps                               []string
	Error                              *struct{ Err string }
	Module                             *struct {
		built
		Main bool
	}
}

// required is a line of go.mod that asks for a module.
type required struct {
	Path     string
	Indirect bool
}

// loadModule reads the module at root. Packages that do not compile are part
// of the result; the error is for a module that cannot be read at all.
func loadModule(root, settings string) (*module, error) {
	m := &module{root: root, settings: settings, fset: token.NewFileSet()}
	if err := m.readGoMod(); err != nil {
		return nil, err
	}
	listed, err := m.list()
	if err != nil {
		return nil, err
	}
	m.built = builtFrom(listed)
	imports := m.importer(listed)
	for _, l := range listed {
		if l.DepOnly {
			continue
		}
		p := &pkg{listedPackage: l, rel: m.relative(l.ImportPath)}
		m.parse(p)
		m.check(p, imports)
		m.packages = append(m.packages, p)
	}
	return m, nil
}

// readGoMod fills in the module path and the required modules.
func (m *module) readGoMod() error {
	out, err := m.run("mod", "edit", "-json")
	if err != nil {
		return err
	}
	var file struct {
		Module  struct{ Path string }
		Require []required
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return fmt.Errorf("go mod edit: %w", err)
	}
	m.path, m.requires = file.Module.Path, file.Require
	return nil
}

// list asks the go command for all packages and what they depend on, compiled.
func (m *module) list() ([]listedPackage, error) {
	out, err := m.run("list", "-e", "-export", "-deps",
		"-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles,DepOnly,Export,Deps,Error,Module", "./...")
	if err != nil {
		return nil, err
	}
	var all []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listedPackage
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, l)
	}
}

// run runs the go command at the root of the module.
func (m *module) run(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = m.root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// parse reads the files of p. Those that do not parse become faults.
func (m *module) parse(p *pkg) {
	read := func(names []string) (files []*ast.File) {
		for _, name := range names {
			name = filepath.Join(p.Dir, name)
			f, err := parser.ParseFile(m.fset, name, nil, parser.ParseComments)
			if err != nil {
				p.faults = append(p.faults, finding{file: m.within(name), line: 1, subject: p.rel, message: err.Error()})
				continue
			}
			files = append(files, f)
		}
		return files
	}
	p.files = read(p.GoFiles)
	p.tests = read(slices.Concat(p.TestGoFiles, p.XTestGoFiles))
}

// importer reads the compiled form of packages, once for all that import them.
func (m *module) importer(listed []listedPackage) types.Importer {
	exports := map[string]string{}
	for _, l := range listed {
		exports[l.ImportPath] = l.Export
	}
	return importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("it is not compiled")
		}
		return os.Open(exports[path])
	})
}

// check type-checks p against the compiled form of what it imports.
func (m *module) check(p *pkg, imports types.Importer) {
	config := types.Config{
		Importer: imports,
		Error: func(err error) {
			f := finding{subject: p.rel, message: err.Error()}
			if e, ok := errors.AsType[types.Error](err); ok {
				f.file, f.line = m.at(e.Pos)
				f.message = e.Msg
			}
			p.faults = append(p.faults, f)
		},
	}
	p.info = &types.Info{
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	// The error is among the faults already.
	p.types, _ = config.Check(p.ImportPath, m.fset, p.files, p.info)
	if p.Error != nil && len(p.faults) == 0 {
		file, line := m.at(p.start())
		p.faults = append(p.faults, finding{file: file, line: line, subject: p.rel, message: p.Error.Err})
	}
}

// relative turns an import path of the module into one within it.
func (m *module) relative(path string) string {
	if path == m.path {
		return "."
	}
	return strings.TrimPrefix(path, m.path+"/")
}

// has says whether path is a package path of this module.
func (m *module) has(path string) bool {
	return path == m.path || strings.HasPrefix(path, m.path+"/")
}

// at gives a position as a file name within the module and a line.
func (m *module) at(pos token.Pos) (file string, line int) {
	p := m.fset.Position(pos)
	return m.within(p.Filename), p.Line
}

// within makes a file name relative to the module, with forward slashes.
func (m *module) within(name string) string {
	rel, err := filepath.Rel(m.root, name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// public says whether others can import the package.
func (p *pkg) public() bool {
	return p.Name != "main" && !slices.Contains(strings.Split(p.rel, "/"), "internal")
}

// matches says whether a package path within the module fits a pattern as the
// go command understands it: "..." at the end stands for anything below.
func matches(pattern, rel string) bool {
	if pattern == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return rel == base || strings.HasPrefix(rel, base+"/")
	}
	return pattern == rel
}
