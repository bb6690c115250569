package policy

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// terms are words that the engine does not use for what the field has a word for, and
// that word.
var terms = []struct {
	packages []string          // patterns
	words    map[string]string // singular and lower case; a plural counts as well
}{
	{[]string{"internal/engine/pack"}, map[string]string{
		"mold":       "column",
		"pick":       "purchase",
		"sale":       "purchase",
		"prospect":   "candidate fill",
		"quote":      "duals",
		"correction": "multiplier",
		"sketch":     "coarse run",
		"polish":     "destroy and repair",
		"ruin":       "destroy",
		"rebuild":    "repair",
		"stock":      "reservation",
		"hair":       "tolerance",
		"shrink":     "a factor, by what it is for",
		"part":       "membership",
		"settle":     "what is done, by its own verb",
	}},
	{[]string{
		"provisioning", "internal/engine/levels", "internal/engine/static", "internal/engine/model", "internal/engine/catalog", "internal/engine/workload", "internal/engine/compile",
		"internal/engine/attempt", "internal/engine/explain", "internal/engine/ledger", "internal/engine/repair", "internal/engine/solve",
	}, map[string]string{
		"stage":    "attempt",
		"lot":      "item",
		"crowd":    "bound kind",
		"lodger":   "bound membership",
		"lodged":   "bound memberships",
		"goner":    "terminating node",
		"firm":     "relaxed",
		"unwished": "over budget",
		"wish":     "preference",
		"wished":   "preferred",
		"taste":    "soft score",
		"thrift":   "preference budget",
		"thrifty":  "within budget",
		"seal":     "admitted counts",
		"glean":    "insert",
		"gleaner":  "inserter",
		"closer":   "eliminator",
		"closing":  "elimination",
		"recheck":  "replay",
		"handover": "claim owner",
		"virtual":  "headroom",
		"urgent":   "priority first",
		"urgency":  "priority weight",
		"relaxer":  "relaxation",
		"promise":  "claim estimate",
		"promised": "estimated",
		"census":   "baseline",
		"identity": "selector index",
		"seat":     "slot",
		"site":     "bin",
		"shape":    "bin type",
		"fixed":    "pinned",
		"market":   "catalog",
		"stock":    "reservation",
		"settle":   "what is done, by its own verb",
		"raise":    "even cells, or pods inserted one by one",
	}},
}

// checkTerms looks for those words in what is declared, and in the names of files.
func checkTerms(m *module) (found []finding) {
	for _, p := range m.packages {
		for _, t := range terms {
			if !slices.ContainsFunc(t.packages, func(pattern string) bool { return matches(pattern, p.rel) }) {
				continue
			}
			for _, f := range append(append([]*ast.File{}, p.files...), p.tests...) {
				found = append(found, termsOf(m, p, f, t.words)...)
			}
		}
	}
	return found
}

func termsOf(m *module, p *pkg, f *ast.File, words map[string]string) (found []finding) {
	file, _ := m.at(f.Package)
	report := func(line int, name string, parts []string) {
		for _, part := range parts {
			if better := termFor(part, words); better != "" {
				found = append(found, finding{file: file, line: line, subject: p.rel + "." + name,
					message: fmt.Sprintf("%s: the word for %s is %s", name, part, better)})
			}
		}
	}
	base := strings.TrimSuffix(filepath.Base(file), ".go")
	report(1, base, strings.Split(base, "_"))
	declared(f, func(id *ast.Ident) {
		_, line := m.at(id.Pos())
		report(line, id.Name, splitName(id.Name))
	})
	return found
}

// termFor returns the better word for one, "" if it is good.
func termFor(word string, words map[string]string) string {
	word = strings.ToLower(word)
	for _, singular := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")} {
		if better, ok := words[singular]; ok {
			return better
		}
	}
	return ""
}

// declared visits the names that a file declares: of functions, types, constants,
// variables, fields and parameters.
func declared(f *ast.File, visit func(*ast.Ident)) {
	all := func(ids []*ast.Ident) {
		for _, id := range ids {
			visit(id)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			visit(n.Name)
		case *ast.TypeSpec:
			visit(n.Name)
		case *ast.ValueSpec:
			all(n.Names)
		case *ast.Field:
			all(n.Names)
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					visit(id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					visit(id)
				}
			}
		}
		return true
	})
}

// splitName takes a name apart where capitals begin.
func splitName(name string) (parts []string) {
	start := 0
	runes := []rune(name)
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			parts = append(parts, string(runes[start:i]))
			start = i
		}
	}
	return append(parts, string(runes[start:]))
}
