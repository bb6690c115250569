package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesAreSound(t *testing.T) {
	families, err := ec2.parse()
	require.NoError(t, err)
	require.Greater(t, len(families), 100)
	devices := 0
	for _, f := range families {
		if f.device != nil {
			devices++
		}
		require.NotEmpty(t, f.host.nics, f.name)
		for _, s := range f.sizes {
			_, found := f.host.nics.at(s.name, s.vcpus)
			require.True(t, found, "%s.%s has no network interface", f.name, s.name)
		}
	}
	require.Len(t, lines(deviceTable), devices+1, "devices are those of families")
}

// Every line of the tables is there because something refers to it.
func TestTablesHaveNothingUnused(t *testing.T) {
	_, err := ec2.parse()
	require.NoError(t, err)
	for _, c := range []struct {
		table *string
		parse func(string) tables
	}{
		{&ec2.hosts, func(s string) tables { x := ec2; x.hosts = s; return x }},
		{&ec2.nics, func(s string) tables { x := ec2; x.nics = s; return x }},
		{&ec2.branches, func(s string) tables { x := ec2; x.branches = s; return x }},
		{&ec2.networks, func(s string) tables { x := ec2; x.networks = s; return x }},
		{&ec2.volumes, func(s string) tables { x := ec2; x.volumes = s; return x }},
		{&ec2.disks, func(s string) tables { x := ec2; x.disks = s; return x }},
	} {
		all := lines(*c.table)
		for i, line := range all {
			if c.table == &ec2.hosts && i == 0 {
				continue
			}
			without := ""
			for j, other := range all {
				if j != i {
					without += other + "\n"
				}
			}
			_, err := c.parse(without).parse()
			require.Error(t, err, "nothing needs the line %q", line)
		}
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
		nics     = "n 1:2x4 2:3x10"
		hosts    = "host cpu MHz hv tls enclave nic branch network ebs efa\n"
		families = "family host GiB USD disk buy zones sizes\n"
		devices  = "family kind name maker MiB cores\n"
	)
	good := tables{
		nics: nics, hosts: hosts + "h intel 1 nitro yes 2 n - - - 4:1", devices: devices,
		families: families + "m1 h 4 0.1 - os ab medium large x 16x metal",
	}
	_, err := good.parse()
	require.NoError(t, err)

	for name, c := range map[string]struct {
		change func(*tables)
		want   string
	}{
		"ladder twice":     {func(x *tables) { x.nics += "\nn 1:1x2" }, "NICs: ladder n: there are two of that name"},
		"ladder falls":     {func(x *tables) { x.disks = "d 4:1 2:2" }, `disk: ladder d: step "2:2": the steps must rise`},
		"no value":         {func(x *tables) { x.disks = "d 4" }, `step "4": want key:value`},
		"no key":           {func(x *tables) { x.disks = "d :4" }, `step ":4": want key:value`},
		"zero":             {func(x *tables) { x.disks = "d 4:0" }, `step "4:0": want key:value`},
		"half a pair":      {func(x *tables) { x.nics = "n 4:2x" }, `step "4:2x": want key:value`},
		"empty pair":       {func(x *tables) { x.nics = "n 4:2x0" }, `step "4:2x0": want key:value`},
		"no such ladder":   {func(x *tables) { x.hosts = hosts + "h intel 1 nitro yes 2 q - - - -" }, `hosts: h: no ladder is called "q"`},
		"short host":       {func(x *tables) { x.hosts = hosts + "h intel" }, "hosts: h: want at least 11 columns, have 2"},
		"clock":            {func(x *tables) { x.hosts = hosts + "h intel x nitro yes 2 n - - - -" }, `hosts: h: "x" is not a number above zero`},
		"efa":              {func(x *tables) { x.hosts = hosts + "h intel 1 nitro yes 2 n - - - 4:x" }, `hosts: h: efa: step "4:x"`},
		"device":           {func(x *tables) { x.devices = devices + "m1 gpu a acme 1 -" }, "devices: m1: no resource is known for gpu acme"},
		"no host":          {func(x *tables) { x.families = families + "m1 q 4 0.1 - os ab large" }, `families: m1: there is no host "q"`},
		"no generation":    {func(x *tables) { x.families = families + "m h 4 0.1 - os ab large" }, "families: m: the name has no category or no generation"},
		"zones":            {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ae large" }, `zones "ae": want some of abcd`},
		"buy":              {func(x *tables) { x.families = families + "m1 h 4 0.1 - x ab large" }, `buy "x": want o, s or os`},
		"family twice":     {func(x *tables) { x.families += "\nm1 h 4 0.1 - os ab large" }, "families: m1: it is listed twice"},
		"GiB":              {func(x *tables) { x.families = families + "m1 h x 0.1 - os ab large" }, `families: m1: GiB: "x" is not a number above zero`},
		"USD":              {func(x *tables) { x.families = families + "m1 h 4 -1 - os ab large" }, `families: m1: USD: "-1" is not a number above zero`},
		"no sizes":         {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ab" }, "families: m1: want at least 8 columns, have 7"},
		"unknown size":     {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ab huge" }, `size "huge": how many vCPUs it has is not known`},
		"metal comes last": {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ab metal large" }, `size "metal": how many vCPUs it has is not known`},
		"no memory":        {func(x *tables) { x.families = families + "m1 h - 0.1 - os ab large" }, `size "large": it has no memory or no price`},
		"no price":         {func(x *tables) { x.families = families + "m1 h 4 - - os ab large" }, `size "large": it has no memory or no price`},
		"vCPUs":            {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ab large:x" }, `size "large:x": :x is not understood`},
		"devices":          {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ab large*1/0" }, `size "large*1/0": *1/0 is not understood`},
		"price":            {func(x *tables) { x.families = families + "m1 h 4 0.1 - os ab large=NaN" }, `size "large=NaN": =NaN is not understood`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			c.change(&bad)
			_, err := bad.parse()
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestSizes(t *testing.T) {
	sizes, err := parseSizes([]string{"nano:2~0.5=0.0052", "medium", "large", "x", "9x", "metal-24xl", "metal", "3xlarge*1/8"}, 4, 100_000_000)
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
	}, sizes)
}

func TestReservedCPU(t *testing.T) {
	for cpus, want := range map[int64]int64{0: 0, 1: 60, 2: 70, 4: 80, 8: 90, 96: 310, 192: 550} {
		require.Equal(t, want, reservedCPU(cpus*1000), "%d CPUs", cpus)
	}
	require.EqualValues(t, 30, reservedCPU(500))
}
