package catalog

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// ec2 is the table of all instance types. Comments at its beginning explain it.
//
//go:embed ec2.txt
var ec2 string

// family is an instance family: a row of the kind family.
type family struct {
	name          string
	host          *host
	disks         ladder
	device        *device  // nil if it has none
	capacityTypes []string // sorted
	zones         string   // letters
	sizes         []size
}

// host is the type of machine that families of one generation run on.
type host struct {
	arch, maker, hypervisor string
	mhz                     int
	encrypts                bool
	enclaveVCPUs            int // zero: no size can host enclaves
	nics, branches          ladder
	network, volumes, efas  ladder
}

// device is an accelerator.
type device struct {
	isGPU       bool
	name, maker string // as in labels
	memoryMiB   int
	cores       int
}

// size is one size of a family.
type size struct {
	name      string  // suffix of the instance type, such as 2xlarge
	vcpus     int     // above zero
	memoryMiB int64   // above zero
	devices   float64 // of the family's device, if it has one; below one is a share
	price     int64   // on demand, in 1e-9 USD an hour
}

// nanos is the number of price units in one USD.
const nanos = 1_000_000_000

// ladder is a value that grows in steps with the size. The nil ladder has no values.
type ladder []step

type step struct {
	size  string // the only size it is for; or empty:
	vcpus int    // the least vCPUs it is for
	n     int    // the value; of network interfaces their number
	each  int    // of network interfaces the addresses of each
}

// of returns the step for a size, the zero step if it has none.
func (l ladder) of(s *size) (best step) {
	for _, r := range l {
		switch {
		case r.size == s.name:
			return r
		case r.size == "" && r.vcpus <= s.vcpus && r.vcpus >= best.vcpus:
			best = r
		}
	}
	return best
}

const (
	lowercase = "abcdefghijklmnopqrstuvwxyz"
	digits    = "0123456789"
)

// category returns the letters at the beginning of the name.
func (f *family) category() string {
	return f.name[:len(f.name)-len(strings.TrimLeft(f.name, lowercase))]
}

// generation returns the digits after the category and, if there is one, a size in terabytes.
// u-6tb1 is of generation 1. Karpenter's AWS provider reads names in the same way.
func (f *family) generation() string {
	rest := strings.TrimLeft(f.name, lowercase)
	if _, after, found := strings.Cut(rest, "tb"); found && strings.HasPrefix(rest, "-") {
		rest = after
	}
	return rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
}

// families returns the rows of ec2 of the kind family, sorted by name.
func families() []*family {
	out, err := readTable(ec2)
	if err != nil {
		panic(fmt.Errorf("ec2.txt: %w", err)) // which a test rules out
	}
	return out
}

// reader reads the rows of a table, each after those that it refers to.
type reader struct {
	line     int               // of the row being read
	name     string            // its kind and name
	ladders  map[string]ladder // by kind and name, with a blank in between
	hosts    map[string]*host
	devices  map[string]*device
	families []*family
	errs     []error
}

// readTable reads a table. The error joins every fault, each with its line.
func readTable(text string) ([]*family, error) {
	r := &reader{ladders: map[string]ladder{}, hosts: map[string]*host{}, devices: map[string]*device{}}
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		cells := strings.Fields(line)
		if len(cells) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		r.line, r.name = i+1, strings.Join(cells[:min(len(cells), 2)], " ")
		if seen[r.name] {
			r.fault("there is another row of that kind and name; remove one")
		}
		seen[r.name] = true
		r.row(cells)
	}
	slices.SortFunc(r.families, func(a, b *family) int { return strings.Compare(a.name, b.name) })
	return r.families, errors.Join(r.errs...)
}

func (r *reader) fault(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("line %d: %s: %s", r.line, r.name, fmt.Sprintf(format, args...)))
}

// leastCells has the kinds of rows, each with its smallest number of columns.
var leastCells = map[string]int{"nic": 3, "branch": 3, "network": 3, "ebs": 3, "disk": 3, "device": 7, "host": 12, "family": 10}

func (r *reader) row(cells []string) {
	switch kind, least := cells[0], leastCells[cells[0]]; {
	case least == 0:
		r.fault("no rows are called %s; the head of the table has the kinds of rows", kind)
	case len(cells) < least:
		r.fault("it has %d columns; write %d", len(cells), least)
	case kind == "device":
		r.devices[cells[1]] = r.device(cells[2:])
	case kind == "host":
		r.hosts[cells[1]] = r.host(cells[2:])
	case kind == "family":
		r.families = append(r.families, r.family(cells[1], cells[2:]))
	default:
		r.ladders[r.name] = r.ladder(cells[2:])
	}
}

func (r *reader) device(c []string) *device {
	d := &device{isGPU: c[0] == "gpu", name: c[1], maker: c[2], memoryMiB: r.count(c[3]), cores: r.count(c[4])}
	if resourceOf(d) == "" {
		r.fault("no resource is known for a %s of %s; add it to resourceOf", c[0], d.maker)
	}
	return d
}

func (r *reader) host(c []string) *host {
	h := &host{maker: c[0], arch: "amd64", mhz: r.count(c[1]), hypervisor: c[2], encrypts: c[3] == "yes", enclaveVCPUs: r.count(c[4])}
	if h.maker == "graviton" {
		h.maker, h.arch = "aws", "arm64"
	}
	h.nics, h.branches, h.network, h.volumes = r.named("nic", c[5]), r.named("branch", c[6]), r.named("network", c[7]), r.named("ebs", c[8])
	if c[9] != "-" {
		h.efas = r.ladder(strings.Split(c[9], ","))
	}
	return h
}

// buys has the words of the column buy.
var buys = map[string][]string{"o": {v1.CapacityTypeOnDemand}, "s": {v1.CapacityTypeSpot}, "os": {v1.CapacityTypeOnDemand, v1.CapacityTypeSpot}}

func (r *reader) family(name string, c []string) *family {
	f := &family{name: name, host: r.hosts[c[0]], device: r.devices[c[4]], disks: r.named("disk", c[3]), capacityTypes: buys[c[5]], zones: c[6]}
	if f.host == nil {
		r.fault("there is no row host %s; add it above", c[0])
	}
	if f.device == nil && c[4] != "-" {
		r.fault("there is no row device %s; add it above", c[4])
	}
	if f.category() == "" || f.generation() == "" {
		r.fault("the name has no category or no generation; begin it as m5 or u-6tb1")
	}
	if f.capacityTypes == nil {
		r.fault("buy: %q; write o, s or os", c[5])
	}
	if strings.Trim(c[6], zoneLetters) != "" {
		r.fault("zones: %q; write some of %s", c[6], zoneLetters)
	}
	gib, pairPrice, largest := r.number(c[1]), dollars(r.number(c[2])), 0
	f.sizes = make([]size, 0, len(c)-7)
	for _, word := range c[7:] {
		s := r.size(word, largest, gib, pairPrice)
		largest = max(largest, s.vcpus)
		f.sizes = append(f.sizes, s)
	}
	return f
}

// size reads a word of the column sizes. gib is the memory per vCPU and pairPrice the price of two
// vCPUs, unless the word has its own values.
func (r *reader) size(word string, largest int, gib float64, pairPrice int64) size {
	rest, price, _ := strings.Cut(word, "=")
	rest, devices, _ := strings.Cut(rest, "*")
	rest, memory, _ := strings.Cut(rest, "~")
	name, vcpus, _ := strings.Cut(rest, ":")
	if count, isX := strings.CutSuffix(name, "x"); isX && (count == "" || isNumber(count)) {
		name += "large"
	}
	s := size{name: name, vcpus: r.count(vcpus), devices: 1, price: dollars(r.number(price))}
	if s.vcpus == 0 {
		s.vcpus = defaultVCPUs(name, largest)
	}
	if devices != "" {
		n, of, _ := strings.Cut(devices, "/")
		s.devices = r.number(n) / max(r.number(of), 1)
	}
	if own := r.number(memory); own > 0 {
		gib = own / float64(max(s.vcpus, 1))
	}
	s.memoryMiB = int64(math.Round(gib * float64(s.vcpus) * 1024))
	if s.price == 0 {
		const step = nanos / 100_000 // price lists have five decimals
		s.price = (pairPrice*int64(s.vcpus)/2 + step/2) / step * step
	}
	if s.vcpus == 0 || s.memoryMiB == 0 || s.price == 0 || s.devices == 0 {
		r.fault("size %q: its vCPUs, memory, price or devices are not known; write them as in %s:4~16*1=0.5", word, name)
	}
	return s
}

// defaultVCPUs returns the number of vCPUs that the name of a size implies; zero if it implies
// none.
func defaultVCPUs(name string, largest int) int {
	switch name {
	case "medium":
		return 1
	case "large":
		return 2
	case "xlarge":
		return 4
	case "metal":
		return largest
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "metal-"), "arge"), "xl"))
	return 4 * n
}

// isMetal reports whether a size is a whole machine without a hypervisor.
func (s *size) isMetal() bool { return strings.HasPrefix(s.name, "metal") }

// named reads a column that names a ladder, or is a number for all sizes.
func (r *reader) named(kind, column string) ladder {
	l, found := r.ladders[kind+" "+column]
	switch {
	case found || column == "-":
		return l
	case !isNumber(column):
		r.fault("there is no row %s %s; add it above, or write a number", kind, column)
		return nil
	}
	return ladder{{n: r.count(column)}}
}

func (r *reader) ladder(words []string) ladder {
	l := make(ladder, 0, len(words))
	for _, word := range words {
		key, value, _ := strings.Cut(word, ":")
		n, each, _ := strings.Cut(value, "x")
		s := step{size: key, n: r.count(n), each: r.count(each)}
		if isNumber(key) {
			s.size, s.vcpus = "", r.count(key)
		}
		if key == "" || s.n == 0 {
			r.fault("step %q: write key:value, such as 16:5000 or 16:8x30", word)
		}
		l = append(l, s)
	}
	return l
}

// number reads a number above zero, or zero for none.
func (r *reader) number(text string) float64 {
	if text == "" || text == "-" {
		return 0
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x < 1e9) {
		r.fault("%q is no number above zero", text)
		return 0
	}
	return x
}

// count is number restricted to whole numbers.
func (r *reader) count(text string) int {
	x := r.number(text)
	if x != math.Trunc(x) {
		r.fault("%q is no whole number", text)
	}
	return int(x)
}

func dollars(x float64) int64 { return int64(math.Round(x * nanos)) }

// isNumber reports whether text is all digits: a count of vCPUs, and no size such as 16xlarge.
func isNumber(text string) bool { return text != "" && strings.Trim(text, digits) == "" }
