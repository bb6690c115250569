// Command typecheck type-checks all packages of modules and all that they import, and prints every
// fault. If the types of two libraries agree, both can be built together; checking this takes a
// tenth of the time of compiling. A package that several modules use in one version, with the same
// imports, is checked once.
//
//	go run .ci/typecheck.go internal/neighbours/karpenter
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// listed is a package as go list prints it.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	Imports         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ GoVersion string }
	Error           *struct{ Err string }
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "no module: give the folder of each")
		os.Exit(2)
	}
	results, failures := make([]string, len(os.Args)), make([]error, len(os.Args))
	shared := &packages{files: token.NewFileSet(), checked: map[string]*checked{}}
	var all sync.WaitGroup
	for i := 1; i < len(os.Args); i++ {
		all.Go(func() { results[i], failures[i] = check(os.Args[i], shared) })
	}
	all.Wait()
	for i, dir := range os.Args[1:] {
		if err := failures[i+1]; err != nil {
			fmt.Printf("%s: %v\n", dir, err)
		} else {
			fmt.Printf("%s: %s\n", dir, results[i+1])
		}
	}
	if errors.Join(failures...) != nil {
		os.Exit(1)
	}
}

// check type-checks the module in a folder, and says what it did.
func check(dir string, shared *packages) (string, error) {
	text, err := run(dir, "list", "-deps", "-json=Dir,ImportPath,GoFiles,Imports,ImportMap,Standard,Module,Error", "./...")
	if err != nil {
		return "", err
	}
	c := checker{packages: shared, known: map[string]*types.Package{}}
	d := json.NewDecoder(bytes.NewReader(text))
	for d.More() {
		var p listed
		if err := d.Decode(&p); err != nil {
			return "", err
		}
		c.check(&p)
	}
	return fmt.Sprintf("%d packages", len(c.known)), errors.Join(c.faults...)
}

// run runs the go command in a folder, without cgo, and returns what it prints.
func run(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	var faults strings.Builder
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &faults, append(os.Environ(), "CGO_ENABLED=0")
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, faults.String())
	}
	return text, nil
}

// packages holds the packages of all modules, checked once each.
type packages struct {
	files   *token.FileSet
	mutex   sync.Mutex
	checked map[string]*checked // by key
}

// checked is a package and its faults.
type checked struct {
	once   sync.Once
	is     *types.Package
	faults []error
}

// at returns the package of a key, which may not be checked yet.
func (p *packages) at(key string) *checked {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.checked[key] == nil {
		p.checked[key] = &checked{}
	}
	return p.checked[key]
}

// checker type-checks the packages of a module, each after its imports.
type checker struct {
	*packages
	known  map[string]*types.Package // by import path
	faults []error
}

// check type-checks a package. If another module has the same package with the same imports, the
// package is not checked a second time.
func (c *checker) check(p *listed) {
	if p.ImportPath == "unsafe" {
		c.known[p.ImportPath] = types.Unsafe
		return
	}
	if p.Error != nil {
		c.faults = append(c.faults, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err))
	}
	conf := types.Config{
		Importer:         importer{c.known, p.ImportMap},
		IgnoreFuncBodies: p.Standard,
		Sizes:            types.SizesFor("gc", build.Default.GOARCH),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	// An import of another version, or one that imports something of another version, is another package.
	key := fmt.Sprintf("%s %s %q %s", p.ImportPath, p.Dir, p.GoFiles, conf.GoVersion)
	for _, path := range p.Imports {
		is, _ := conf.Importer.Import(path)
		key += fmt.Sprintf(" %p", is)
	}
	one := c.at(key)
	one.once.Do(func() { one.is, one.faults = c.read(p, conf) })
	c.known[p.ImportPath], c.faults = one.is, append(c.faults, one.faults...)
}

// read parses and type-checks a package. Function bodies of the standard library are left out.
func (c *checker) read(p *listed, conf types.Config) (is *types.Package, faults []error) {
	files := make([]*ast.File, 0, len(p.GoFiles))
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		files = append(files, file)
	}
	conf.Error = func(err error) { faults = append(faults, err) }
	is, _ = conf.Check(p.ImportPath, c.files, files, nil) // conf.Error has the faults
	return is, faults
}

// importer finds what a package imports among the packages that were checked before it.
type importer struct {
	known map[string]*types.Package
	names map[string]string // by import path in the source: the path of the package that is meant
}

// Import implements types.Importer.
func (i importer) Import(path string) (*types.Package, error) {
	if name, ok := i.names[path]; ok {
		path = name
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed", path)
}
