// Command raced prints the arguments for go test to look for races: the packages whose test
// programs run several goroutines, and a flag -skip with the tests of these packages that do not.
//
//	go test -race $(go run ./.ci/raced)
//
// Code begins a goroutine with a go statement, with a function that runs another function in a
// goroutine, as t.Parallel does, or by calling a package of another module. If the tested code may
// begin one, all tests of the package are run. If only tests may, those tests are run that reach
// such a place: tests that mention it, or that mention a declaration in the package's tests which
// reaches it. Names are compared without their types.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// calls are the functions that run another in a goroutine of its own.
var calls = regexp.MustCompile(`^(Go|.*Parallel[[:alpha:]]*|AfterFunc|(Eventually|Never)(With[[:alpha:]]*|f)?|SetFinalizer|AddCleanup|(ListenAnd)?Serve(TLS|HTTP)?)$`)

// data are packages of other modules that begin no goroutine that outlives a call or an init:
// they hold data, read and write it, evaluate expressions, or log. All others may begin some.
var data = regexp.MustCompile(`^(` + strings.Join([]string{
	`github\.com/stretchr/testify/(require|assert)`,
	`github\.com/aws/(smithy-go|aws-sdk-go-v2/(aws|service/[a-z0-9]+(/types)?))`,
	`github\.com/(pelletier/go-toml|robfig/cron)/v[0-9]+`,
	`github\.com/google/cel-go/.*`,
	`k8s\.io/(api|component-helpers|klog)/.*`,
	`k8s\.io/apimachinery/pkg/(apis?/.*|labels|fields|runtime(/schema)?|selection|types)`,
	`k8s\.io/apimachinery/pkg/util/(intstr|json|rand|sets|validation)(/.*)?`,
	`k8s\.io/dynamic-resource-allocation/(cel|structured)`,
	`sigs\.k8s\.io/(json|yaml)(/.*)?`,
	`go\.yaml\.in/.*`,
}, "|") + `)$`)

// waiting are the packages of the standard library that serve, call and wait.
var waiting = regexp.MustCompile(`^(net|net/http.*|os/exec|os/signal|testing/synctest)$`)

// version matches the end of an import path that is a major version.
var version = regexp.MustCompile(`/v[0-9]+$`)

// test matches the functions that go test runs.
var test = regexp.MustCompile(`^(Test|Fuzz|Example)`)

// pkg is a package as go list prints it.
type pkg struct {
	Dir, ImportPath, Name                        string
	GoFiles, CgoFiles, TestGoFiles, XTestGoFiles []string
	Imports, Deps, TestImports, XTestImports     []string
	Module                                       struct{ Path string }
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the flag and the packages.
func run(out io.Writer) error {
	packages, err := list()
	if err != nil {
		return err
	}
	b := beginnings{packages: packages, begins: map[string]bool{}}
	for path, p := range packages {
		files, err := parse(p.Dir, p.GoFiles, p.CgoFiles)
		if err != nil {
			return err
		}
		b.begins[path] = slices.ContainsFunc(p.Imports, b.foreign) || slices.ContainsFunc(files, func(f *ast.File) bool { return begun(f) })
	}
	raced, needed, others := []string{}, map[string]bool{}, map[string]bool{}
	for path, p := range packages {
		files, err := parse(p.Dir, p.TestGoFiles, p.XTestGoFiles)
		if err != nil {
			return err
		}
		race, leave := b.tests(p, files)
		for _, name := range race {
			needed[name] = true
		}
		if len(race) == 0 {
			continue
		}
		raced = append(raced, path)
		for _, name := range leave {
			others[name] = true
		}
	}
	if len(raced) == 0 {
		return errors.New("no package runs anything at the same time as something else")
	}
	maps.DeleteFunc(others, func(name string, _ bool) bool { return needed[name] })
	if len(others) > 0 {
		fmt.Fprintf(out, "-skip=^(%s)$\n", strings.Join(slices.Sorted(maps.Keys(others)), "|"))
	}
	slices.Sort(raced)
	fmt.Fprintln(out, strings.Join(raced, "\n"))
	return nil
}

// list asks the go command for the packages of the module in this folder, by import path.
func list() (map[string]*pkg, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,Name,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,Deps,TestImports,XTestImports,Module", "./...")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	packages := map[string]*pkg{}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		p := &pkg{}
		if err := d.Decode(p); err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
	return packages, nil
}

// parse reads the files of a folder.
func parse(dir string, names ...[]string) (files []*ast.File, err error) {
	for _, name := range slices.Concat(names...) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// begun reports whether a part of a file itself begins a goroutine.
func begun(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			fun := n.Fun
			switch f := fun.(type) { // a generic function with its types
			case *ast.IndexExpr:
				fun = f.X
			case *ast.IndexListExpr:
				fun = f.X
			}
			switch f := fun.(type) {
			case *ast.Ident:
				found = found || calls.MatchString(f.Name)
			case *ast.SelectorExpr:
				found = found || calls.MatchString(f.Sel.Name)
			}
		case *ast.SelectorExpr: // also as a value
			x, _ := n.X.(*ast.Ident)
			found = found || n.Sel.Name == "AfterFunc" || x != nil && x.Name == "iter" && strings.HasPrefix(n.Sel.Name, "Pull")
		}
		return !found
	})
	return found
}

// beginnings are the packages that begin goroutines.
type beginnings struct {
	packages map[string]*pkg
	begins   map[string]bool // by themselves
}

// foreign reports whether a package is outside this module and may begin a goroutine.
func (b *beginnings) foreign(path string) bool {
	if b.packages[path] != nil {
		return false
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return !data.MatchString(path)
	}
	return waiting.MatchString(path)
}

// reached reports whether a goroutine may begin in a package or in one that it imports.
func (b *beginnings) reached(path string) bool {
	p := b.packages[path]
	if p == nil {
		return b.foreign(path)
	}
	return b.begins[path] || slices.ContainsFunc(p.Deps, func(d string) bool { return b.begins[d] })
}

// tests divides the tests of a package into those that may begin a goroutine and the others.
func (b *beginnings) tests(p *pkg, files []*ast.File) (race, leave []string) {
	parts, all := map[string][]part{}, b.reached(p.ImportPath)
	for _, file := range files {
		imported, hidden := b.imported(file)
		all = all || hidden
		for _, decl := range file.Decls {
			for _, one := range partsOf(decl) {
				one.imported = imported
				parts[one.name] = append(parts[one.name], one)
			}
		}
	}
	concurrent := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for name, list := range parts {
			if !concurrent[name] && slices.ContainsFunc(list, func(one part) bool { return one.concurrent(concurrent) }) {
				concurrent[name], grown = true, true
			}
		}
	}
	for name := range concurrent { // what every test program runs
		all = all || slices.ContainsFunc(parts[name], func(one part) bool { return one.always })
	}
	for name, list := range parts {
		if test.MatchString(name) && slices.ContainsFunc(list, func(one part) bool { return one.function }) && name != "TestMain" {
			if all || concurrent[name] {
				race = append(race, name)
			} else {
				leave = append(leave, name)
			}
		}
	}
	return race, leave
}

// imported lists the packages that a file imports by name, with true for those in which a goroutine
// may begin. hidden reports whether there is one of the latter without a name.
func (b *beginnings) imported(file *ast.File) (names map[string]bool, hidden bool) {
	names = map[string]bool{}
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		reached := b.reached(path)
		switch own := b.packages[path]; {
		case i.Name != nil:
			hidden = hidden || reached && (i.Name.Name == "_" || i.Name.Name == ".")
			names[i.Name.Name] = reached
		case own != nil:
			names[own.Name] = reached
		default:
			// The name of another module's package is a word of the last part of its path, or of
			// the part before a version.
			last := filepath.Base(version.ReplaceAllString(path, ""))
			for _, word := range strings.FieldsFunc(last, func(r rune) bool { return r == '.' || r == '-' }) {
				names[word] = reached
			}
		}
	}
	return names, hidden
}

// part is a declaration of a test file.
type part struct {
	name             string
	node             ast.Node
	function, always bool            // always: it runs with every test of the package
	imported         map[string]bool // by package name: whether a goroutine may begin in the package
}

// method returns the name by which methods are looked up: the name after a dot.
func method(name *ast.Ident) string { return "." + name.Name }

// partsOf returns the names that a declaration declares. A method is also a part of its type.
func partsOf(decl ast.Decl) (out []part) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			always := d.Name.Name == "init" || d.Name.Name == "TestMain"
			out = append(out, part{name: d.Name.Name, node: d, function: true, always: always})
		} else { // a test that mentions a type may call its methods
			out = append(out, part{name: method(d.Name), node: d})
			ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					out = append(out, part{name: id.Name, node: d})
				}
				return true
			})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				out = append(out, part{name: s.Name.Name, node: s})
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out = append(out, part{name: n.Name, node: s, always: d.Tok == token.VAR && n.Name == "_"})
				}
			}
		}
	}
	return out
}

// concurrent reports whether a declaration begins a goroutine, or mentions a package or another
// declaration that may.
func (p part) concurrent(known map[string]bool) bool {
	return begun(p.node) || p.concurrentIn(p.node, known)
}

// concurrentIn is concurrent for the names mentioned in a part of a declaration.
func (p part) concurrentIn(within ast.Node, known map[string]bool) (found bool) {
	ast.Inspect(within, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && n.Sel.IsExported() {
				if reached, ok := p.imported[x.Name]; ok { // a name of that package
					found = found || reached
					return false
				}
			}
			found = found || known[method(n.Sel)] || p.concurrentIn(n.X, known)
			return false
		case *ast.Ident:
			found = found || known[n.Name] && n.Name != p.name
		}
		return !found
	})
	return found
}
