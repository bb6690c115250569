package awstest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	script "github.com/dovetail-sdk/dovetail/internal/fault"
)

// Cloud is an AWS in memory: an http.Handler that answers for all services. Start
// gives it an address. Any number of goroutines may use it.
type Cloud struct {
	opts Options

	mu      sync.Mutex
	now     time.Time
	serial  uint64 // of everything that gets an ID
	calls   []Call
	script  script.Script
	holding []*hold

	types        map[string]*ec2types.InstanceTypeInfo
	typeNames    []string // sorted
	images       []ec2types.Image
	parameters   map[string]string
	subnets      []*subnet // sorted by ID
	groups       []ec2types.SecurityGroup
	reservations []*reservation
	placements   []ec2types.PlacementGroup
	stock        map[cloudprovider.Scope]int
	prices       map[cloudprovider.Scope]float64

	machines  []*machine // sorted by ID
	byID      map[string]*machine
	ending    []*machine // going down; their resources are not free yet
	templates []*template
	fleets    map[string]fleetAnswer
	tokens    map[string]*template
	profiles  map[string]*profile
	messages  []*message
	shifts    map[string]time.Time
}

// subnet is a subnet and the number of its used addresses.
type subnet struct {
	ec2types.Subnet
	free int
	used int // addresses ever handed out
}

// New returns a cloud that does not listen, for an http.Server of the caller. opts may be nil. The
// error joins every fault of the options.
func New(opts *Options) (*Cloud, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cloud{
		opts: o, now: o.Clock, types: map[string]*ec2types.InstanceTypeInfo{},
		parameters: map[string]string{}, stock: map[cloudprovider.Scope]int{}, prices: map[cloudprovider.Scope]float64{},
		byID: map[string]*machine{}, fleets: map[string]fleetAnswer{},
		tokens: map[string]*template{}, profiles: map[string]*profile{}, shifts: map[string]time.Time{},
	}
	for i := range o.Types {
		name := string(o.Types[i].InstanceType)
		c.types[name], c.typeNames = &o.Types[i], append(c.typeNames, name)
	}
	slices.Sort(c.typeNames)
	for name, v := range o.Parameters {
		c.parameters[name] = v
	}
	c.completeSubnets()
	c.completeGroups()
	for _, i := range o.Images {
		c.publish(i)
	}
	for _, r := range o.Reservations {
		c.addReservation(r)
	}
	c.placements = slices.Clone(o.PlacementGroups)
	for i := range c.placements {
		setDefault(&c.placements[i].State, ec2types.PlacementGroupStateAvailable)
	}
	return c, nil
}

func (c *Cloud) completeGroups() {
	c.groups = slices.Clone(c.opts.SecurityGroups)
	for i := range c.groups {
		setDefaultPointer(&c.groups[i].VpcId, VPC)
		setDefaultPointer(&c.groups[i].OwnerId, c.opts.Account)
		setDefaultPointer(&c.groups[i].Description, "security group")
	}
	slices.SortFunc(c.groups, func(a, b ec2types.SecurityGroup) int { return strings.Compare(value(a.GroupId), value(b.GroupId)) })
}

// Now returns what the clock shows.
func (c *Cloud) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on. Machines boot, go down and are forgotten, and leases of messages end. A
// d below zero counts as zero.
func (c *Cloud) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(d)
}

func (c *Cloud) advance(d time.Duration) {
	c.now = c.now.Add(max(d, 0))
	c.reclaim()
}

// id makes an ID in the form of AWS, which depends on the seed.
func (c *Cloud) id(prefix string) string {
	c.serial++
	h := hash(prefix, fmt.Sprint(c.opts.Seed), fmt.Sprint(c.serial))
	return fmt.Sprintf("%s-%08x%09x", prefix, uint32(h), c.serial&0xfffffffff)
}

// Options returns the options with their defaults filled in. They are read-only.
func (c *Cloud) Options() Options {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opts
}
