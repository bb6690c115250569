package catalog

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// host is a line of hostTable.
type host struct {
	arch, maker, hypervisor string
	mhz                     int
	encrypts                bool
	enclaveVCPUs            int // 0 = no enclaves
	nics, branches          ladder
	network, volumes, efas  ladder
}

// device is a line of deviceTable.
type device struct {
	isGPU       bool
	name, maker string
	memoryMiB   int64
	cores       int
}

// family is a line of familyTable.
type family struct {
	name           string
	host           *host
	device         *device // nil if it has none
	disks          ladder
	onDemand, spot bool
	zones          string // letters
	sizes          []size
}

// category and generation are read from the name as the AWS provider reads
// them: the letters it starts with, and after a size in terabytes, if there is
// one, the digits that come next. u-6tb1 is category u, generation 1.
func (f *family) category() string {
	return f.name[:len(f.name)-len(strings.TrimLeft(f.name, lowercase))]
}

func (f *family) generation() string {
	rest := strings.TrimLeft(f.name, lowercase)
	if _, after, found := strings.Cut(rest, "tb"); found && strings.HasPrefix(rest, "-") {
		rest = after
	}
	return rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
}

const (
	lowercase = "abcdefghijklmnopqrstuvwxyz"
	digits    = "0123456789"
)

// tables are the texts that the catalog is made from.
type tables struct {
	nics, branches, networks, volumes, disks string
	hosts, devices, families                 string
}

var ec2 = tables{
	nics: nicLadders, branches: branchLadders, networks: networkLadders, volumes: volumeLadders, disks: diskLadders,
	hosts: hostTable, devices: deviceTable, families: familyTable,
}

// parse reads the tables. The error joins all that is wrong with them.
func (t tables) parse() ([]*family, error) {
	var r reader
	r.nics, r.branches = r.ladders("NICs", t.nics), r.ladders("branches", t.branches)
	r.networks, r.volumes = r.ladders("network", t.networks), r.ladders("EBS", t.volumes)
	r.disks = r.ladders("disk", t.disks)
	r.hosts, r.devices = map[string]*host{}, map[string]*device{}
	r.rows("hosts", t.hosts, 11, r.host)
	r.rows("devices", t.devices, 6, r.device)
	families := map[string]*family{}
	r.rows("families", t.families, 8, func(c []string) {
		if families[c[0]] != nil {
			r.fault("it is listed twice")
		}
		families[c[0]] = r.family(c)
	})
	out := make([]*family, 0, len(families))
	for _, name := range slices.Sorted(maps.Keys(families)) {
		out = append(out, families[name])
	}
	return out, errors.Join(r.errs...)
}

// reader parses the tables and gathers what is wrong with them.
type reader struct {
	nics, branches, networks, volumes, disks map[string]ladder
	hosts                                    map[string]*host
	devices                                  map[string]*device

	row  string // the table and the name of the line being read
	errs []error
}

func (r *reader) fault(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", r.row, fmt.Sprintf(format, args...)))
}

func (r *reader) ladders(kind, table string) map[string]ladder {
	named, err := parseLadders(table)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", kind, err))
	}
	return named
}

// rows hands the columns of each line below the heading to read.
func (r *reader) rows(name, table string, columns int, read func([]string)) {
	for i, line := range lines(table) {
		words := strings.Fields(line)
		if i == 0 {
			continue
		}
		r.row = name + ": " + words[0]
		if len(words) < columns {
			r.fault("want at least %d columns, have %d", columns, len(words))
			continue
		}
		read(words)
	}
}

func (r *reader) host(c []string) {
	h := &host{maker: c[1], arch: "amd64", hypervisor: c[3], encrypts: c[4] == "yes"}
	if h.maker == "graviton" {
		h.maker, h.arch = "aws", "arm64"
	}
	h.mhz, h.enclaveVCPUs = r.number(c[2]), r.number(c[5])
	h.nics, h.branches = r.ladder(c[6], r.nics), r.ladder(c[7], r.branches)
	h.network, h.volumes = r.ladder(c[8], r.networks), r.ladder(c[9], r.volumes)
	if c[10] != "-" {
		var err error
		if h.efas, err = parseLadder(strings.Split(c[10], ",")); err != nil {
			r.fault("efa: %v", err)
		}
	}
	r.hosts[c[0]] = h
}

func (r *reader) device(c []string) {
	d := &device{isGPU: c[1] == "gpu", name: c[2], maker: c[3], memoryMiB: int64(r.number(c[4])), cores: r.number(c[5])}
	if resourceOf(d) == "" {
		r.fault("no resource is known for %s %s", c[1], d.maker)
	}
	r.devices[c[0]] = d
}

func (r *reader) family(c []string) *family {
	f := &family{name: c[0], host: r.hosts[c[1]], device: r.devices[c[0]], zones: c[6]}
	if f.host == nil {
		r.fault("there is no host %q", c[1])
	}
	if f.category() == "" || f.generation() == "" {
		r.fault("the name has no category or no generation")
	}
	if strings.Trim(c[6], "abcd") != "" {
		r.fault("zones %q: want some of abcd", c[6])
	}
	if f.onDemand, f.spot = strings.Contains(c[5], "o"), strings.Contains(c[5], "s"); !f.onDemand && !f.spot {
		r.fault("buy %q: want o, s or os", c[5])
	}
	f.disks = r.ladder(c[4], r.disks)
	var gib float64
	var price int64
	var err error
	if c[2] != "-" {
		if gib, err = parsePositive(c[2]); err != nil {
			r.fault("GiB: %v", err)
		}
	}
	if c[3] != "-" {
		if price, err = parseDollars(c[3]); err != nil {
			r.fault("USD: %v", err)
		}
	}
	if f.sizes, err = parseSizes(c[7:], gib, price); err != nil {
		r.fault("%v", err)
	}
	return f
}

func (r *reader) ladder(column string, named map[string]ladder) ladder {
	l, err := ladderOf(column, named)
	if err != nil {
		r.fault("%v", err)
	}
	return l
}

// number reads a count above zero, or `-` for none.
func (r *reader) number(column string) int {
	if column == "-" {
		return 0
	}
	n, err := strconv.Atoi(column)
	if err != nil || n < 1 {
		r.fault("%q is not a number above zero", column)
	}
	return n
}

// familyTable is the catalog: a line a family.
//
//	host    line of hostTable: processor, network and volumes
//	GiB     memory a vCPU
//	USD     on-demand price of two vCPUs an hour, which is what the size large
//	        costs or would cost; a size costs that much a pair of vCPUs
//	disk    ladder of local NVMe disks, or GB
//	buy     o for on-demand, s for spot
//	zones   the zones that have the family, a for the first of the catalog
//	sizes   its sizes, where x is short for xlarge; a size may carry, in this
//	        order, what it does not owe to the rules:
//	          :9     vCPUs. Otherwise medium has 1 and large 2, xlarge has 4,
//	                 2xlarge 8 and so on; metal-24xl is as 24xlarge and metal as
//	                 the largest size before it
//	          ~9     GiB of memory
//	          *9     accelerators; one otherwise in families of deviceTable. The
//	                 share of one is written 1/8
//	          =9.99  USD an hour
//
// Facts are those of us-east-1. Only which zone has what is made up, as AWS
// deals zone letters to accounts at random.
//
//go:embed tables/families.txt
var familyTable string

// hostTable describes the hosts that instances run on: what families of one
// generation have in common, whatever their memory and price. A host bears the
// name of the family it was first known by.
//
//	cpu      intel and amd are amd64, graviton is arm64 and made by aws
//	MHz      sustained clock speed
//	hv       hypervisor; metal sizes have none
//	tls      whether traffic between instances is encrypted on its way
//	enclave  least vCPUs that a size needs to have for a Nitro enclave
//	nic      ladder of network interfaces and their addresses
//	branch   ladder of branch interfaces
//	network  ladder of network bandwidth, or Mbps
//	ebs      ladder of EBS bandwidth, or Mbps
//	efa      Elastic Fabric Adapters, a ladder written out with commas
//
//go:embed tables/hosts.txt
var hostTable string
