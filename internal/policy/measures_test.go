package policy

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var measures = flag.String("measures", "", "engine: print how large its packages are; a package: print what ties its files together")

// The engine, and what of it only tests import.
var engineRoots = []string{"internal/engine/...", "provisioning/..."}

var testSupport = []string{"provisioning/internal/randproblem", "provisioning/internal/scenario", "provisioning/internal/scenes"}

// TestMeasures prints the measures of the engine. What has a limit is held by the rule
// "large".
func TestMeasures(t *testing.T) {
	if *measures == "" {
		t.Skip("only prints: make measures")
	}
	m, err := thisModule()
	require.NoError(t, err)
	if *measures == "engine" {
		t.Log(m.measured())
		return
	}
	i := slices.IndexFunc(m.packages, func(p *pkg) bool { return p.rel == *measures })
	require.GreaterOrEqual(t, i, 0, "no package %q: give it as %s", *measures, "internal/engine/solve")
	t.Log(m.ties(m.packages[i]))
}

// measured returns the table of packages of the engine, with its sums.
func (m *module) measured() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-36s %6s %6s %9s %7s  %s\n", "package", "files", "lines", "exported", "mutual", "files that can all reach one another by calls")
	sum, most := 0, mutual{}
	for _, p := range m.packages {
		if !p.ofEngine() {
			continue
		}
		set := m.largestMutual(p)
		lines := m.lines(p)
		sum += lines
		if set.lines > most.lines {
			most = set
		}
		fmt.Fprintf(&b, "%-36s %6d %6d %9d %7d  %s\n", p.rel, len(p.files), lines, p.exported(), set.lines, strings.Join(set.files, " "))
	}
	fmt.Fprintf(&b, "%d lines, without tests and what only tests import; the largest set of files that reach one another has %d\n", sum, most.lines)
	return b.String()
}

// ofEngine tells packages of the engine from others, and from what only its tests import.
func (p *pkg) ofEngine() bool {
	in := func(pattern string) bool { return matches(pattern, p.rel) }
	return slices.ContainsFunc(engineRoots, in) && !slices.Contains(testSupport, p.rel)
}

// lines counts those of a package, without tests and generated files.
func (m *module) lines(p *pkg) int {
	n := 0
	for _, f := range p.files {
		if !ast.IsGenerated(f) {
			n += m.fileLines(f)
		}
	}
	return n
}

func (m *module) fileLines(f *ast.File) int { return m.fset.File(f.Pos()).LineCount() }

// exported counts the types and functions that others see, as go doc -short lists them.
func (p *pkg) exported() int {
	n := 0
	for _, name := range p.types.Scope().Names() {
		switch p.types.Scope().Lookup(name).(type) {
		case *types.TypeName, *types.Func:
			if ast.IsExported(name) {
				n++
			}
		}
	}
	return n
}

// mutual is a set of files each of which reaches each other by calls.
type mutual struct {
	lines int
	files []string
}

// largestMutual returns the largest set of files of a package that can all reach one another:
// a file reaches another if a function in it names a function or method of the other,
// directly or by way of further files. Packages cannot import one another in a circle, so
// that no set is in several.
func (m *module) largestMutual(p *pkg) (largest mutual) {
	calls := make([][]int, len(p.files))
	m.eachCall(p, func(from, to int, _ string) { calls[from] = append(calls[from], to) })
	for _, set := range components(calls) {
		if len(set) < 2 {
			continue
		}
		var out mutual
		for _, i := range set {
			out.lines += m.fileLines(p.files[i])
			file, _ := m.at(p.files[i].Pos())
			out.files = append(out.files, strings.TrimPrefix(file, p.rel+"/"))
		}
		slices.Sort(out.files)
		if out.lines > largest.lines {
			largest = out
		}
	}
	return largest
}

// eachCall tells which functions and methods of its other files each file of a package
// names.
func (m *module) eachCall(p *pkg, tell func(from, to int, name string)) {
	byPos := map[*token.File]int{}
	for i, f := range p.files {
		byPos[m.fset.File(f.Pos())] = i
	}
	for i, f := range p.files {
		told := map[types.Object]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := p.info.Uses[id].(*types.Func)
			if !ok || fn.Pkg() != p.types || told[fn] {
				return true
			}
			told[fn] = true
			if j, ok := byPos[m.fset.File(fn.Pos())]; ok && j != i {
				tell(i, j, fn.Name())
			}
			return true
		})
	}
}

// ties lists the calls between the files of the largest set that reach one another: what
// has to go to break it.
func (m *module) ties(p *pkg) string {
	set := m.largestMutual(p)
	names := make([]string, len(p.files))
	for i, f := range p.files {
		file, _ := m.at(f.Pos())
		names[i] = strings.TrimPrefix(file, p.rel+"/")
	}
	by := map[[2]string][]string{}
	m.eachCall(p, func(from, to int, name string) {
		if tie := [2]string{names[from], names[to]}; slices.Contains(set.files, tie[0]) && slices.Contains(set.files, tie[1]) {
			by[tie] = append(by[tie], name)
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s: %d files of %d lines reach one another\n", p.rel, len(set.files), set.lines)
	for _, tie := range slices.SortedFunc(maps.Keys(by), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(&b, "%-24s %-24s %s\n", tie[0], tie[1], strings.Join(by[tie], " "))
	}
	return b.String()
}

// components returns the strongly connected ones of a graph, by Tarjan.
func components(edges [][]int) (out [][]int) {
	index, low := make([]int, len(edges)), make([]int, len(edges))
	on := make([]bool, len(edges))
	var stack []int
	next := 1
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v] = next, next
		next++
		stack, on[v] = append(stack, v), true
		for _, w := range edges[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		from := slices.Index(stack, v)
		for _, w := range stack[from:] {
			on[w] = false
		}
		out = append(out, slices.Clone(stack[from:]))
		stack = stack[:from]
	}
	for v := range edges {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}

// TestComponents: what reaches one another, whichever way round, is one component.
func TestComponents(t *testing.T) {
	sets := components([][]int{{1}, {2, 3}, {0}, {4}, {3}, {0, 5}})
	for _, set := range sets {
		slices.Sort(set)
	}
	slices.SortFunc(sets, slices.Compare[[]int])
	require.Equal(t, [][]int{{0, 1, 2}, {3, 4}, {5}}, sets)
}
