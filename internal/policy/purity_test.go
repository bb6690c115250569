package policy

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// impure lists the packages that may touch the world, and why. Every other
// package is pure, a new one included.
var impure = []struct{ packages, why string }{
	{"examples/...", "programs read files and print"},
	{"aws", "calls EC2"},
	{"aws/classtypes", "reads what EC2 says in the types of its SDK; it calls nothing"},
	{"aws/awstest", "is a server on the loopback"},
	{"aws/internal/...", "calls EC2, but for what the aws layer says"},
	{"cloudprovider/cloudprovidertest", "runs inside go test, where waiting is part of the question"},
	{"internal/corpus", "reads and writes the files of tests"},
	{"internal/golden", "reads and writes the files of tests"},
	{"internal/kubescheduler", "is for tests, and runs a program"},
	{"internal/policy", "reads the source tree"},
	{"internal/testlong", "is for tests, and asks the environment how long they may take"},
}

// banned holds what a pure package may not import, directly or, where deep is
// set, by way of others. A path ending in /... stands for all below it too.
var banned = []struct {
	path, why string
	deep      bool
}{
	{"net/...", "a decision is made from values: the caller does the talking", false},
	{"os/...", "a decision is made from values: the caller reads files and the environment", false},
	{"io/ioutil", "a decision is made from values: the caller reads files", false},
	{"syscall", "a decision is made from values", false},
	{"log/...", "reasons are returned as data, so that the caller can log them or not", false},
	{"math/rand/...", "chance makes answers differ; take a source as an argument", false},
	{"crypto/rand", "chance makes answers differ; take a source as an argument", false},
	{"unsafe", "the engine has no need of it", false},
	{"k8s.io/client-go/...", "the engine reads values, not an API server", true},
	{"k8s.io/klog/...", "reasons are returned as data, so that the caller can log them or not", false},
	{"sigs.k8s.io/controller-runtime/...", "the engine reads values, not an API server", true},
	{"github.com/aws/...", "the engine plans for any cloud", true},
}

// netip holds addresses and does no I/O.
const pureNet = "net/netip"

// bannedCalls are functions a pure package may neither call nor pass on.
var bannedCalls = map[string]string{
	"time.Now":       "take the instant as an argument",
	"time.Since":     "take the instant as an argument",
	"time.Until":     "take the instant as an argument",
	"time.Sleep":     "return when to ask again",
	"time.After":     "return when to ask again",
	"time.AfterFunc": "return when to ask again",
	"time.Tick":      "return when to ask again",
	"time.NewTimer":  "return when to ask again",
	"time.NewTicker": "return when to ask again",
	"fmt.Print":      "return the text, or write it to a writer of the caller",
	"fmt.Printf":     "return the text, or write it to a writer of the caller",
	"fmt.Println":    "return the text, or write it to a writer of the caller",
	"print":          "return the text",
	"println":        "return the text",
}

func (p *pkg) pure() bool {
	for _, i := range impure {
		if matches(i.packages, p.rel) {
			return false
		}
	}
	return true
}

// checkPurity reports imports and calls by which a pure package would see or
// change more than its arguments.
func checkPurity(m *module) (found []finding) {
	for _, p := range m.packages {
		if p.pure() {
			found = append(found, m.bannedImports(p)...)
			found = append(found, m.bannedUses(p)...)
		}
	}
	return found
}

func (m *module) bannedImports(p *pkg) (found []finding) {
	direct := map[string]bool{}
	for _, spec := range p.imports(p.files) {
		direct[spec.path] = true
		for _, b := range banned {
			if matches(b.path, spec.path) && spec.path != pureNet {
				file, line := m.at(spec.pos)
				found = append(found, finding{file: file, line: line, subject: p.rel + ":" + spec.path,
					message: fmt.Sprintf("%s may not import %s: %s", p.rel, spec.path, b.why)})
			}
		}
	}
	for _, dep := range p.Deps {
		for _, b := range banned {
			if b.deep && !direct[dep] && matches(b.path, dep) {
				file, line := m.at(p.start())
				found = append(found, finding{file: file, line: line, subject: p.rel + ":" + dep,
					message: fmt.Sprintf("%s may not import %s by way of others: %s", p.rel, dep, b.why)})
			}
		}
	}
	return found
}

func (m *module) bannedUses(p *pkg) (found []finding) {
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			name := ""
			switch o := p.info.Uses[id].(type) {
			case *types.Func:
				if o.Pkg() != nil && o.Signature().Recv() == nil {
					name = o.Pkg().Path() + "." + o.Name()
				}
			case *types.Builtin:
				name = o.Name()
			}
			if why := bannedCalls[name]; why != "" {
				file, line := m.at(id.Pos())
				found = append(found, finding{file: file, line: line, subject: p.rel + ":" + name,
					message: fmt.Sprintf("%s may not use %s: %s", p.rel, name, why)})
			}
			return true
		})
	}
	return found
}

// checkWeight counts what users of a package have to compile of others: how we divide
// our own code is no weight. The limits are in weights.txt.
func checkWeight(m *module) (found []finding) {
	name := filepath.Join(m.settings, "weights.txt")
	limits, err := tableRows(name, 3)
	if err != nil {
		return []finding{{file: m.within(name), message: err.Error()}}
	}
	for _, l := range limits {
		below, err := strconv.Atoi(l.fields[1])
		if err != nil {
			found = append(found, finding{file: m.within(name), line: l.line, message: err.Error()})
			continue
		}
		for _, p := range m.packages {
			if p.rel != l.fields[0] {
				continue
			}
			if n := len(p.Deps) - count(p.Deps, m.has); n >= below {
				found = append(found, finding{file: m.within(name), line: l.line, subject: p.rel,
					message: fmt.Sprintf("%s needs %d packages of others, want fewer than %d (%s): see \"go list -deps ./%s\"",
						p.rel, n, below, l.fields[2], p.rel)})
			}
		}
	}
	return found
}

func count(paths []string, which func(string) bool) int {
	n := 0
	for _, path := range paths {
		if which(path) {
			n++
		}
	}
	return n
}

// checkExamples asks every public package for an Example that is run.
func checkExamples(m *module) (found []finding) {
	for _, p := range m.packages {
		if !p.public() || slices.ContainsFunc(p.tests, hasExample) {
			continue
		}
		file, line := m.at(p.start())
		found = append(found, finding{file: file, line: line, subject: p.rel,
			message: p.rel + " has no Example with an Output comment"})
	}
	return found
}

func hasExample(f *ast.File) bool {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") && outputComment(f, fn) != nil {
			return true
		}
	}
	return false
}
