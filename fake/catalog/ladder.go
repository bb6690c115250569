package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ladder is a value that grows in steps with the size of an instance; see
// ladderText for how it is written. The nil ladder has no values.
type ladder []rung

// rung is one step of a ladder.
type rung struct {
	size  string // the only size it is for; or empty:
	vcpus int    // the least vCPUs it is for
	n     int    // the value; of network interfaces their number
	each  int    // of network interfaces the addresses each of them takes
}

// at returns the step for a size with a number of vCPUs, if there is one.
func (l ladder) at(size string, vcpus int) (rung, bool) {
	var best rung
	found := false
	for _, r := range l {
		switch {
		case r.size == size && size != "":
			return r, true
		case r.size == "" && r.vcpus <= vcpus:
			best, found = r, true
		}
	}
	return best, found
}

// parseLadders reads a table of named ladders.
func parseLadders(table string) (map[string]ladder, error) {
	out := map[string]ladder{}
	var errs []error
	for _, line := range lines(table) {
		name, steps, _ := strings.Cut(line, " ")
		if _, twice := out[name]; twice {
			errs = append(errs, fmt.Errorf("ladder %s: there are two of that name", name))
		}
		l, err := parseLadder(strings.Fields(steps))
		if err != nil {
			errs = append(errs, fmt.Errorf("ladder %s: %w", name, err))
		}
		out[name] = l
	}
	return out, errors.Join(errs...)
}

func parseLadder(steps []string) (ladder, error) {
	l := make(ladder, 0, len(steps))
	last := -1
	for _, step := range steps {
		r, err := parseRung(step)
		if err != nil {
			return nil, err
		}
		if r.size == "" {
			if r.vcpus <= last {
				return nil, fmt.Errorf("step %q: the steps must rise", step)
			}
			last = r.vcpus
		}
		l = append(l, r)
	}
	return l, nil
}

func parseRung(step string) (rung, error) {
	var r rung
	key, value, _ := strings.Cut(step, ":")
	if isNumber(key) {
		r.vcpus, _ = strconv.Atoi(key)
	} else {
		r.size = key
	}
	number, each, pair := strings.Cut(value, "x")
	var err error
	if r.n, err = strconv.Atoi(number); err == nil && pair {
		r.each, err = strconv.Atoi(each)
	}
	if err != nil || key == "" || r.n < 1 || pair && r.each < 1 {
		return rung{}, fmt.Errorf("step %q: want key:value, such as 16:5000 or 16:8x30", step)
	}
	return r, nil
}

// ladderOf resolves a column that names a ladder, or is a number for all sizes,
// or `-` for none.
func ladderOf(column string, named map[string]ladder) (ladder, error) {
	if column == "-" {
		return nil, nil
	}
	if l, ok := named[column]; ok {
		return l, nil
	}
	n, err := strconv.Atoi(column)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("no ladder is called %q", column)
	}
	return ladder{{n: n}}, nil
}

// isNumber reports whether text is all digits, which tells a count of vCPUs from
// a size, even from 16xlarge.
func isNumber(text string) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// lines returns the lines of a table that are not blank.
func lines(table string) []string {
	var out []string
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// Many facts about EC2 instance types grow with the size in steps that several
// families share. Such a ladder is written as `key:value` pairs in rising
// order:
//
//   - a number as key is a count of vCPUs; the value holds from there up to the
//     next step. A size below the first step has no value;
//   - a size name as key gives the value of that size alone and beats the steps.
//
// The other tables name a ladder; where all sizes have the same value they give
// the number itself, and `-` where there is none.

// nicLadders say how many network interfaces a size takes on its first network
// card, and how many IPv4 addresses each takes.
const nicLadders = `
nitro   1:2x4 2:3x10 4:4x15 16:8x30 64:15x50
eight   4:4x15 16:8x30
h1      8:4x15 16:8x30 64:8x50
m4      2:2x10 4:4x15 16:8x30
t2      nano:2x2 micro:2x2 small:3x4 medium:3x6 large:3x12 4:3x15
t3      nano:2x2 micro:2x2 small:3x4 medium:3x6 large:3x12 4:4x15
t3a     nano:2x2 micro:2x2 small:2x4 medium:3x6 large:3x12 4:4x15
c6in    2:3x10 4:4x15 16:8x30 64:15x50 128:8x50
c8a     1:2x4 2:3x20 4:4x20 8:4x40 16:8x40 32:10x40 48:12x64 64:16x64 192:24x64
c8gn    1:2x4 2:3x10 4:4x15 16:8x30 32:10x30 48:12x30 64:16x50 96:24x50 192:12x50
c8i     2:3x20 4:4x30 16:8x50 32:10x50 48:12x50 64:16x64 128:24x64
x1e     4:3x10 8:4x15 64:8x30
z1d     2:3x10 4:4x15 12:8x30 48:15x50
d3      4:4x3 8:4x5 16:4x10 32:3x20
d3en    4:4x3 8:4x5 16:4x10 24:4x15 32:4x20 48:3x30
i4i     2:3x10 4:4x15 16:8x30 64:15x50 24xlarge:15x30
i7ie    2:3x10 4:4x15 16:8x30 48:8x50 72:15x50
g4ad    4:2x4 16:3x10 32:4x15 64:8x30
g4dn    4:3x10 32:4x15 48:8x30 16xlarge:4x15 metal:15x50
g5      4:4x15 16:8x30 48:15x50 16xlarge:8x30 192:7x50
g6e     4:4x15 16:8x30 48:10x30 64:15x50 96:10x50
g6f     large:2x10 4:4x15 16:8x30
inf1    4:4x10 24:8x30 96:11x30
trn1    8:4x15 128:5x50
trn2    192:2x50
p5      16:4x30 192:2x50
p5en    192:4x50
u7in    896:8x50
`

// branchLadders say how many branch interfaces, for pods with security groups
// of their own, a size can trunk.
const branchLadders = `
slow     1:4 2:9 4:18 8:38 16:54 64:107
fast     1:4 2:9 4:18 8:38 16:54 32:84 48:114 64:107
a1       1:10 2:9 4:18 8:38 16:54 64:107
m5       2:9 4:18 8:38 16:54 64:107 metal:120
m5zn     2:13 4:29 8:62 12:92 24:114 48:107
c6in     2:9 4:18 8:38 16:54 32:84 48:114 64:107 128:106
c7i-flex 2:3 4:8 8:18 16:34 32:54 48:114 64:107
c8a      1:4 2:9 4:18 8:38 16:54 32:82 48:110 64:106 192:98
c8gn     1:4 2:9 4:18 8:38 16:54 32:52 48:50 64:106 96:98
c8i      2:9 4:18 8:38 16:54 32:82 48:110 64:106 128:98
c8i-flex 2:3 4:8 8:18 16:34 32:52 48:110 64:106
x2iedn   4:11 8:27 16:54 32:114 64:107
x2iezn   8:62 16:114 48:107
z1d      2:13 4:28 8:58 12:54 48:107
d3       4:42 8:92 16:118 32:119
d3en     4:24 8:58 16:118 48:119
i3en     2:5 4:12 8:28 12:38 24:54 96:107
i4i      2:9 4:6 8:26 16:52 32:112 64:120 24xlarge:105
i7i      2:9 4:18 8:38 16:54 32:84 64:107
i7ie     2:19 4:27 24:54 72:107
g4ad     4:12 16:11 32:10 64:6
g4dn     4:39 16:59 32:58 48:54 16xlarge:118 metal:107
g5       4:4 8:17 16:34 32:84 48:107 16xlarge:114 192:115
g6e      4:18 8:38 16:54 32:84 48:112 64:107 96:102 192:82
g6f      large:10 4:18 8:38 16:54
inf1     4:38 24:54 96:111
p3       8:38 32:54 64:114
p5       16:58 192:120
trn1     8:17 128:82
`

// networkLadders give the network bandwidth a size can count on, in Mbps.
const networkLadders = `
m4       36:10000 64:25000
r4       2:750 4:1250 8:2500 16:5000 32:10000 64:25000
x1e      4:625 8:1250 16:2500 32:5000 64:10000 128:25000
t3       nano:32 micro:64 small:128 medium:256 large:512 4:1024 8:2048
c5       2:750 4:1250 8:2500 16:5000 36:12000 72:25000
c5a      2:750 4:1250 8:2500 16:5000 32:10000 48:12000 64:20000
c5n      2:3000 4:5000 8:10000 12:15000 24:50000 48:100000
m5       2:750 4:1250 8:2500 16:5000 32:10000 48:12000 64:20000 96:25000
m5a      2:750 4:1250 8:2500 16:5000 32:7500 48:10000 64:12000 96:20000
m5n      2:2100 4:4100 8:8125 16:16250 32:25000 48:50000 64:75000 96:100000
c6g      1:500 2:750 4:1250 8:2500 16:5000 32:12000 48:20000 64:25000
c6gn     1:1600 2:3000 4:6300 8:12500 16:25000 32:50000 48:75000 64:100000
c6i      1:390 2:781 4:1562 8:3125 16:6250 32:12500 48:18750 64:25000 96:37500 128:50000
c6in     1:1562 2:3125 4:6250 8:12500 16:25000 32:50000 48:75000 64:100000 96:150000 128:200000
c7g      1:520 2:937 4:1875 8:3750 16:7500 32:15000 48:22500 64:30000 96:40000 192:50000
c7gn     1:3125 2:6250 4:12500 8:25000 16:50000 32:100000 48:150000 64:200000 96:300000 192:600000
c7i-flex 2:390 4:781 8:1562 16:3125 32:6250 48:9375 64:12500
r7iz     2:781 4:1562 8:3125 16:6250 32:12500 48:25000 128:50000
c8i      1:520 2:937 4:1875 8:3750 16:7500 32:15000 48:22500 64:30000 96:40000 128:50000 192:75000 384:100000
c8i-flex 2:468 4:937 8:1875 16:3750 32:7500 48:11250 64:15000
x2iedn   4:1875 8:5000 16:12500 32:25000 64:50000 96:75000 128:100000
x2iezn   8:12500 16:15000 24:50000 32:75000 48:100000
z1d      2:750 4:1250 8:2500 12:5000 24:12000 48:25000
d3       4:3000 8:6000 16:12500 32:25000
d3en     4:6000 8:12500 16:25000 24:40000 32:50000 48:75000
i3en     2:2100 4:4200 8:8400 12:12500 24:25000 48:50000 96:100000
i4i      2:781 4:1875 8:4687 16:9375 32:18750 48:28120 64:37500 96:56250 128:75000
i7i      2:1171 4:2343 8:4687 16:9375 32:25000 48:28120 64:37500 96:56250 192:100000
i7ie     2:2083 4:4166 8:8333 12:12500 48:25000 72:37500 96:50000 192:100000
g3       4:1250 16:5000 32:10000 64:20000
g4ad     4:2000 8:4167 16:8333 32:15000 64:25000
g4dn     4:5000 8:10000 16:20000 32:50000 metal:100000
g5       2:1500 4:2500 8:5000 16:10000 32:25000 48:40000 64:25000 96:50000 192:100000
g6e      4:2500 8:5000 16:20000 32:25000 48:100000 64:35000 96:200000 192:400000
inf1     4:5000 24:25000 96:100000
inf2     4:2083 32:16667 96:50000 192:100000
p3       8:2500 32:10000 64:25000
p5       16:100000 192:3200000
trn1     8:3125 128:800000
vt1      12:3120 24:6250 96:25000
`

// volumeLadders give the largest EBS bandwidth of a size, in Mbps.
const volumeLadders = `
c4       2:500 4:750 8:1000 16:2000 32:4000
m4       2:450 4:750 8:1000 16:2000 40:4000 64:10000
r4       2:425 4:850 8:1700 16:3500 32:7000 64:14000 metal:19000
h1       8:1750 16:3500 32:7000 64:14000
x1e      4:500 8:1000 16:1750 32:3500 64:7000 128:14000
p2       4:750 32:5000 64:10000
t3       2:2085 large:2780 4:2780
m5       2:4750 32:6800 48:9500 64:13600 96:19000
m5a      2:2880 32:4750 48:6780 64:9500 96:13750
c5       2:4750 32:9500 64:19000
c5a      2:3170 48:4750 64:6300 96:9500
r5b      1:10000 32:20000 48:30000 64:40000 96:60000 192:120000
z1d      2:3170 12:4750 24:9500 48:19000
c6g      1:4750 32:9500 48:14250 64:19000
c6gn     1:9500 32:19000 48:28500 64:38000
c6i      1:10000 48:15000 64:20000 96:30000 128:40000
c6in     2:25000 48:37500 64:50000 96:75000 128:100000
r7iz     2:10000 48:19000 64:20000 128:40000
c8i      1:10000 48:15000 64:20000 72:22500 96:30000 128:40000 192:60000 384:80000
x2iedn   4:20000 64:40000 96:60000 128:80000
x2iezn   8:3170 16:4750 24:9500 32:12000 48:19000
d3       4:2800 24:4000 32:5000 48:7000
g4dn     4:3500 16:4750 32:9500 metal:19000
g5       4:3500 16:4750 32:16000 96:19000
g6       4:5000 16:8000 32:16000 48:20000 96:30000 192:60000
g6f      2:5000 16:6000
p5       16:10000 192:80000
`

// diskLadders give the size of the local NVMe disks together, in GB.
const diskLadders = `
c5d      2:50 4:100 8:200 16:400 36:900 48:1800 96:3600
c5ad     2:75 4:150 8:300 16:600 32:1200 48:1800 64:2400 96:3800
m5d      2:75 4:150 8:300 12:450 16:600 24:900 32:1200 48:1800 64:2400 96:3600
c6gd     1:59 2:118 4:237 8:474 16:950 32:1900 48:2850 64:3800 96:5700 128:7600 192:11400 384:22800
x2iedn   4:118 8:237 16:475 32:950 64:1900 96:2850 128:3800
d3       4:5940 8:11880 16:23760 32:47520
d3en     4:27960 8:55920 16:111840 24:167760 32:223680 48:335520
i3       2:475 4:950 8:1900 16:3800 32:7600 64:15200
i3en     2:1250 4:2500 8:5000 12:7500 24:15000 48:30000 72:45000 96:60000 192:120000
i4i      2:468 4:937 8:1875 16:3750 32:7500 48:11250 64:15000 96:22500 128:30000 192:45000
im4gn    2:937 4:1875 8:3750 16:7500 32:15000 64:30000
is4gen   1:937 2:1875 4:3750 8:7500 16:15000 32:30000
f1       8:470 16:940 64:3760
g4dn     4:125 8:225 32:900 metal:1800
g5       4:250 8:450 16:600 32:900 48:3800 16xlarge:1900 96:3800 192:7600
g6       4:250 8:450 16:600 32:900 48:3760 16xlarge:1880 96:3760 192:7520
g6f      2:100 8:200 16:450
p5       16:3800 192:30400
`
