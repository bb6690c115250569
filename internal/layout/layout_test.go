package layout

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 4, "äöüß"}, {"äöüß", 3, "äö…"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"", 0, ""},
	} {
		require.Equal(t, tt.want, Shorten(tt.text, tt.width))
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 100)
	require.Equal(t, []string{"  a b"}, Wrap(" a\n b ", 2))
	require.Empty(t, Wrap("  ", 2))
	require.Equal(t, []string{"  a", "  " + long[:78], "  " + long[:22] + " b"}, Wrap("a "+long+" b", 2))
}

func TestEnumerate(t *testing.T) {
	long := strings.Repeat("x", 30)
	require.Equal(t, []string{" a, b"}, Enumerate([]string{"a", "b"}, 1, 1))
	require.Equal(t, []string{" " + long + ", " + long + ", and 2 more"}, Enumerate([]string{long, long, long, long}, 1, 1))
	require.Equal(t, []string{" and 1 more"}, Enumerate([]string{strings.Repeat("x", 300)}, 1, 2))
}

func TestBreak(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"web", 5, []string{"web"}}, {"", 5, []string{""}}, {"web", 0, []string{"web"}},
		{"general-purpose", 11, []string{"general-", "purpose"}}, {"a-generalpurpose", 11, []string{"a-generalpu", "rpose"}}, {"g4dn.12xlarge", 12, []string{"g4dn.", "12xlarge"}},
		{"äöü/ßäö", 4, []string{"äöü/", "ßäö"}},
	} {
		require.Equal(t, tt.want, Break(tt.text, tt.width), tt.text)
	}
}

// Two rows whose texts differ at their ends can be told apart.
func TestGridKeepsTexts(t *testing.T) {
	long := strings.Repeat("shop-", 20)
	g := Grid{Columns: Columns("NAME", "#PODS", "ZONE"), Rows: [][]string{{long + "a", "1", "z"}, {long + "b", "2", "z"}}}
	var names string
	for i, line := range g.Lines() {
		require.LessOrEqual(t, len(line), 80)
		if i > 0 {
			names += strings.Fields(line)[0]
		}
	}
	require.Equal(t, long+"a"+long+"b", names)
}

func TestStyle(t *testing.T) {
	require.Equal(t, "x", Style{}.Warning("x"))
	require.Equal(t, "\x1b[33mx\x1b[0m", Style{On: true}.Warning("x"))
	require.Empty(t, Style{On: true}.Warning(""))
}

func TestWrapTo(t *testing.T) {
	long := "  " + strings.Repeat("word ", 30) + strings.Repeat("x", 90) + " end"
	lines := WrapTo(long, 80, "    ")
	require.Len(t, lines, 4)
	require.Equal(t, "  "+strings.TrimRight(strings.Repeat("word ", 15), " "), lines[0])
	require.Equal(t, "      "+strings.Repeat("x", 90), lines[2], "a word is not broken")
	require.Equal(t, "      end", lines[3])
	require.Equal(t, strings.Fields(long), strings.Fields(strings.Join(lines, " ")))
	require.Equal(t, []string{""}, WrapTo("", 80, "  "))
	require.Equal(t, []string{"é " + strings.Repeat("é", 78)}, WrapTo("é "+strings.Repeat("é", 78), 80, "  "), "columns, not bytes")
}

func TestPercentIsNeverRoundedUp(t *testing.T) {
	require.Equal(t, "99%", Percent(0.9999))
	require.Equal(t, "100%", Percent(1))
	require.Equal(t, "29%", Percent(0.29), "0.29 is a little less than that in binary")
	require.Equal(t, ">999%", Percent(1e9))
}

func TestUSD(t *testing.T) {
	require.Equal(t, "0.0712", USD(0.0712, 4))
	require.Equal(t, "1e+300", USD(1e300, 4))
}
