package requirements_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

var (
	_ encoding.TextAppender    = requirements.Requirement{}
	_ encoding.TextMarshaler   = requirements.Requirement{}
	_ encoding.TextAppender    = requirements.Set{}
	_ encoding.TextMarshaler   = requirements.Set{}
	_ encoding.TextUnmarshaler = (*requirements.Set)(nil)
)

func TestParse(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{" \t\r\n", ""},
		{
			"zone in (a, b), arch = arm64, cpu > 4, gpu, !spot, foo notin (x)",
			"arch = arm64, cpu > 4, foo notin (x), gpu, !spot, zone in (a, b)",
		},
		{"zone in(b,a,b)", "zone in (a, b)"},
		{"zone\nin\n(a)\n", "zone = a"},
		{"k==a", "k = a"},
		{"k=a", "k = a"},
		{"k!=a", "k notin (a)"},
		{"! k", "!k"},
		{"k>4", "k > 4"},
		{"k>=4", "k > 3"},
		{"k<=4", "k < 5"},
		{"k<-4", "k < -4"},
		{"k > +4", "k > 4"},
		{"k in ()", "k in ()"},
		{"k notin ()", "k notin ()"},
		{"cpu > 4, zone, cpu < 16, cpu notin (8)", "cpu > 4, cpu < 16, cpu notin (8), zone"},
		{"k minvalues 2", "k minvalues 2"},
		{"k = a minvalues 2, k in (a, b) minvalues 1", "k = a minvalues 2"},
		{"!k minvalues 2", "!k minvalues 2"},
		{"cpu > 4 minvalues 2, cpu < 16", "cpu > 4, cpu < 16 minvalues 2"},

		// Keywords are ordinary words wherever a key or value stands.
		{"in, notin = in, minvalues in (notin)", "in, minvalues = notin, notin = in"},
		{"minvalues minvalues 3", "minvalues minvalues 3"},

		{`"k" = "a"`, "k = a"},
		{`k = ""`, `k = ""`},
		{`"" = a`, `"" = a`},
		{`k in ("a b", "c,d", "\"", "\xff", "\u00e9")`, `k in ("\"", "a b", "c,d", "é", "\xff")`},
		{"topology.kubernetes.io/zone = us-east-1a", "topology.kubernetes.io/zone = us-east-1a"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s, err := requirements.Parse(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, s.String())
			again, err := requirements.Parse(tt.want)
			require.NoError(t, err)
			require.True(t, s.Equal(again))
		})
	}
}

func TestParseErrors(t *testing.T) {
	const afterKey = `one of = == != in notin < <= > >= minvalues, "," or the end of the text`
	tests := []struct {
		text   string
		offset int
		found  string
		want   string
	}{
		{",", 0, `","`, `a label key or "!"`},
		{"a,", 2, "the end of the text", `a label key or "!"`},
		{"a, ,b", 3, `","`, `a label key or "!"`},
		{"!", 1, "the end of the text", "a label key"},
		{"!=a", 0, `"!="`, `a label key or "!"`},
		{"a b", 2, `"b"`, afterKey},
		{"a => 4", 3, `">"`, "a value"},
		{"a ( b )", 2, `"("`, afterKey},
		{"a é b", 2, `"é"`, afterKey},
		{`a "in" (b)`, 2, `"\"in\""`, afterKey},
		{"a In (b)", 2, `"In"`, afterKey},
		{"a =", 3, "the end of the text", "a value"},
		{"a in b", 5, `"b"`, `"("`},
		{"a in (b c)", 8, `"c"`, `"," or ")"`},
		{"a in (b,)", 8, `")"`, "a value"},
		{"a in (b", 7, "the end of the text", `"," or ")"`},
		{"a = b c", 6, `"c"`, `"," or the end of the text`},
		{"a > b", 4, `"b"`, "a whole number of at most 64 bits"},
		{"a > 9223372036854775808", 4, `"9223372036854775808"`, "a whole number of at most 64 bits"},
		{`a > "4"`, 4, `"\"4\""`, "a whole number of at most 64 bits"},
		{"a > 1.5", 4, `"1.5"`, "a whole number of at most 64 bits"},
		{"a minvalues", 11, "the end of the text", "a whole number from 1 up"},
		{"a minvalues 0", 12, `"0"`, "a whole number from 1 up"},
		{"a minvalues 9223372036854775808", 12, `"9223372036854775808"`, "a whole number from 1 up"},
		{`a = "b`, 4, "an unfinished or malformed quoted string", "a value"},
		{`a = "\q"`, 4, "an unfinished or malformed quoted string", "a value"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s, err := requirements.Parse(tt.text)
			require.Zero(t, s.Len())
			var syntax *requirements.SyntaxError
			require.True(t, errors.As(err, &syntax))
			require.Equal(t, &requirements.SyntaxError{Text: tt.text, Offset: tt.offset, Found: tt.found, Want: tt.want}, syntax)
		})
	}
}

func TestSyntaxErrorText(t *testing.T) {
	_, err := requirements.Parse("zone in (a b)")
	require.EqualError(t, err, `requirements: byte 11 of "zone in (a b)": found "b", want "," or ")"`)

	_, err = requirements.Parse(strings.Repeat("key = value, ", 20) + "b c" + strings.Repeat(", key = value", 20))
	require.EqualError(t, err, `requirements: byte 262 of "...ey = value, key = value, key = value, b c, `+
		`key = value, key = value, key = value..."`+
		`: found "c", want one of = == != in notin < <= > >= minvalues, "," or the end of the text`)
}

func TestMustParsePanics(t *testing.T) {
	require.Panics(t, func() { requirements.MustParse("=") })
}

func TestSetJSON(t *testing.T) {
	type config struct {
		Select requirements.Set `json:"select"`
	}
	in := config{requirements.MustParse("zone in (a, b), cpu > 4")}
	data, err := json.Marshal(in)
	require.NoError(t, err)
	require.Contains(t, string(data), `"select":"cpu `)
	var out config
	require.NoError(t, json.Unmarshal(data, &out))
	require.True(t, out.Select.Equal(in.Select))

	require.Error(t, out.Select.UnmarshalText([]byte("=")))
	require.True(t, out.Select.Equal(in.Select), "a failure changes nothing")

	data, err = json.Marshal(requirements.Set{})
	require.NoError(t, err)
	require.JSONEq(t, `""`, string(data))
}

func TestAppendText(t *testing.T) {
	s := requirements.MustParse("zone = a, !gpu")
	b, err := s.AppendText([]byte("set: "))
	require.NoError(t, err)
	require.Equal(t, "set: !gpu, zone = a", string(b))

	r, _ := s.Get("zone")
	b, err = r.AppendText([]byte("one: "))
	require.NoError(t, err)
	require.Equal(t, "one: zone = a", string(b))
	b, err = r.MarshalText()
	require.NoError(t, err)
	require.Equal(t, "zone = a", string(b))
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "zone in (a, b), arch = arm64, cpu > 4, gpu, !gpu, foo notin (x)", `k = "a b" minvalues 3`,
		"k >= -9223372036854775808, k notin (7, 07)", "k in (), l notin ()", `"\xff" != "\n"`, "a minvalues", "a in (b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := requirements.Parse(text)
		if err != nil {
			var syntax *requirements.SyntaxError
			require.True(t, errors.As(err, &syntax))
			require.LessOrEqual(t, 0, syntax.Offset)
			require.LessOrEqual(t, syntax.Offset, len(text))
			require.NotEmpty(t, syntax.Error())
			require.Zero(t, s.Len())
			return
		}
		written := s.String()
		again, err := requirements.Parse(written)
		require.NoError(t, err)
		require.True(t, again.Equal(s))
		require.Equal(t, written, again.String())
		back, err := requirements.FromRequirements(s.NodeSelectorRequirements(), verbatim())
		require.NoError(t, err)
		require.True(t, back.Equal(s))
		for r := range s.All() {
			v, ok := r.Any()
			require.Equal(t, r.AllowsPresent(), ok)
			require.True(t, !ok || r.Has(v))
		}
	})
}
