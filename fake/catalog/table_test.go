package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableIsSound(t *testing.T) {
	families, err := readTable(ec2)
	require.NoError(t, err)
	require.Greater(t, len(families), 100)
	for _, f := range families {
		for _, s := range f.sizes {
			require.NotZero(t, f.host.nics.of(&s), "%s.%s has no network interface", f.name, s.name)
		}
	}
}

// Every row but those of families is there because a later one refers to it.
func TestTableHasNothingUnused(t *testing.T) {
	rows := strings.Split(ec2, "\n")
	for i, row := range rows {
		if row == "" || row[0] == '#' || strings.HasPrefix(row, "family ") {
			continue
		}
		rows[i] = ""
		_, err := readTable(strings.Join(rows, "\n"))
		require.Error(t, err, "no row needs %q", row)
		rows[i] = row
	}
}

func TestCategoryAndGeneration(t *testing.T) {
	for name, want := range map[string][2]string{
		"m5":        {"m", "5"},
		"m7i-flex":  {"m", "7"},
		"trn1n":     {"trn", "1"},
		"is4gen":    {"is", "4"},
		"u-6tb1":    {"u", "1"},
		"u7in-16tb": {"u", "7"},
		"u-12tb12":  {"u", "12"},
	} {
		f := family{name: name}
		require.Equal(t, want, [2]string{f.category(), f.generation()}, name)
	}
}

func TestTableFaults(t *testing.T) {
	const (
		rows   = "# a comment\n\nnic n 1:2x4 2:3x10\nhost h intel 1 nitro yes 2 n - - - 4:1\ndevice d gpu a nvidia 1 -\n"
		family = "family m1 h 4 0.1 - - os ab "
	)
	_, err := readTable(rows + family + "medium large x 16x metal")
	require.NoError(t, err)
	for name, c := range map[string]struct{ text, want string }{
		"kind":             {"fan f 3", "line 6: fan f: no rows are called fan"},
		"row twice":        {"nic n 1:1x2", "line 6: nic n: there is another row of that kind and name"},
		"one word":         {"host", "line 6: host: it has 1 columns; write 12"},
		"no value":         {"disk d 4", `disk d: step "4": write key:value`},
		"no key":           {"disk d :4", `disk d: step ":4": write key:value`},
		"zero":             {"disk d 4:0", `disk d: "0" is no number above zero`},
		"no pair":          {"nic d 4:2xy", `nic d: "y" is no number above zero`},
		"half":             {"disk d 4:2.5", `disk d: "2.5" is no whole number`},
		"no such ladder":   {"host i intel 1 nitro yes 2 q - - - -", `host i: there is no row nic q; add it above, or write a number`},
		"short host":       {"host i intel", "host i: it has 3 columns; write 12"},
		"clock":            {"host i intel x nitro yes 2 n - - - -", `host i: "x" is no number above zero`},
		"efa":              {"host i intel 1 nitro yes 2 n - - - 4:1,4:x", `host i: step "4:x"`},
		"device of nobody": {"device e gpu a acme 1 -", "device e: no resource is known for a gpu of acme"},
		"no host":          {"family m1 q 4 0.1 - - os ab large", "family m1: there is no row host q"},
		"no device":        {"family m1 h 4 0.1 - q os ab large", "family m1: there is no row device q"},
		"no generation":    {"family m h 4 0.1 - - os ab large", "family m: the name has no category or no generation"},
		"zones":            {"family m1 h 4 0.1 - - os ae large", `zones: "ae"; write some of abcd`},
		"buy":              {"family m1 h 4 0.1 - - x ab large", `buy: "x"; write o, s or os`},
		"GiB":              {"family m1 h x 0.1 - - os ab large", `family m1: "x" is no number above zero`},
		"USD":              {"family m1 h 4 -1 - - os ab large", `family m1: "-1" is no number above zero`},
		"no sizes":         {"family m1 h 4 0.1 - - os ab", "family m1: it has 9 columns; write 10"},
		"unknown size":     {family + "huge", `size "huge": its vCPUs, memory, price or devices are not known`},
		"metal comes last": {family + "metal large", `size "metal": its vCPUs`},
		"no memory":        {"family m1 h - 0.1 - - os ab large", `size "large": its vCPUs, memory`},
		"no price":         {"family m1 h 4 - - - os ab large", `size "large": its vCPUs, memory, price`},
		"vCPUs":            {family + "large:x", `"x" is no number above zero`},
		"devices":          {family + "large*1/0", `"0" is no number above zero`},
		"price":            {family + "large=NaN", `"NaN" is no number above zero`},
	} {
		_, err := readTable(rows + c.text)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestSizes(t *testing.T) {
	families, err := readTable("nic n 1:2x4\nhost h intel 1 nitro yes 2 n - - - -\nfamily m1 h 4 0.1 - - os ab nano:2~0.5=0.0052 medium large x 9x metal-24xl metal 3xlarge*1/8")
	require.NoError(t, err)
	require.Equal(t, []size{
		{"nano", 2, 512, 1, 5_200_000},
		{"medium", 1, 4096, 1, 50_000_000},
		{"large", 2, 8192, 1, 100_000_000},
		{"xlarge", 4, 16384, 1, 200_000_000},
		{"9xlarge", 36, 147456, 1, 1_800_000_000},
		{"metal-24xl", 96, 393216, 1, 4_800_000_000},
		{"metal", 96, 393216, 1, 4_800_000_000},
		{"3xlarge", 12, 49152, 0.125, 600_000_000},
	}, families[0].sizes)
}

func TestSteps(t *testing.T) {
	l := ladder{{vcpus: 2, n: 1}, {vcpus: 8, n: 2}, {size: "metal", n: 3}}
	for _, c := range []struct {
		s    size
		want int
	}{{size{name: "medium", vcpus: 1}, 0}, {size{name: "large", vcpus: 2}, 1}, {size{name: "4xlarge", vcpus: 16}, 2}, {size{name: "metal", vcpus: 96}, 3}} {
		require.Equal(t, c.want, l.of(&c.s).n, c.s.name)
	}
}
