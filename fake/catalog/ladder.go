package catalog

import (
	_ "embed"
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
//
//go:embed tables/nics.txt
var nicLadders string

// branchLadders say how many branch interfaces, for pods with security groups
// of their own, a size can trunk.
//
//go:embed tables/branches.txt
var branchLadders string

// networkLadders give the network bandwidth a size can count on, in Mbps.
//
//go:embed tables/networks.txt
var networkLadders string

// volumeLadders give the largest EBS bandwidth of a size, in Mbps.
//
//go:embed tables/volumes.txt
var volumeLadders string

// diskLadders give the size of the local NVMe disks together, in GB.
//
//go:embed tables/disks.txt
var diskLadders string
