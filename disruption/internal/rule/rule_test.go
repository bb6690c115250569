package rule_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
)

// Order has every constant, in the order in which they stand: one that is missing would come
// before all others.
func TestOrderHasEveryRule(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rule.go", nil, 0)
	require.NoError(t, err)
	var written []rule.Rule
	for _, d := range file.Decls {
		constants, ok := d.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			text, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			written = append(written, rule.Rule(text))
		}
	}
	require.Equal(t, written, rule.Order())
}
