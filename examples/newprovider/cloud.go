package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// What follows is the cloud, as if it were somewhere else: nothing of it knows
// of Kubernetes, and the provider uses no more of it than the types below, which
// are those of its API.

// region is the only one.
const region = "sea"

type (
	// shape is a kind of server and what it costs.
	shape struct {
		Name, Arch      string
		CPUs, MemoryMiB int64
		GPUs            int64
		GPU             string
		Prices          []price
	}
	price struct {
		Zone, Market string
		USDPerHour   float64
	}
	// class is a configuration to launch servers from.
	class struct {
		Name, Image, NotReady string
	}
	// choice is one way to fill an order.
	choice struct{ Shape, Zone, Market string }
	order  struct {
		Token, Cluster, Name, Pool, Class string
		Choices                           []choice
	}
	server struct {
		ID, Token, Cluster, Name, Pool, Class, Shape, Zone, Market, Image string
		USDPerHour                                                        float64
		Created                                                           time.Time
		Stopping                                                          bool
		// The cloud's own.
		gone     time.Time
		restarts map[string]bool
	}
	page struct {
		Servers []server
		Next    string
	}
	// notice announces that a server will be taken away: for maintenance, or to
	// be sold at a better price.
	notice struct {
		ID, What    string
		Server      server
		Issued, Due time.Time
	}
	// apiError is the body of every answer but a good one.
	apiError struct {
		Code, Message string
		Choices       []choice
		wait          time.Duration
	}
)

func (e *apiError) Error() string { return e.Message }

// The codes of an apiError.
const (
	codeNoSuchServer  = "NoSuchServer"
	codeNoSuchClass   = "NoSuchClass"
	codeClassNotReady = "ClassNotReady"
	codeSoldOut       = "SoldOut"
	codeInvalid       = "Invalid"
	codeTooMany       = "TooManyRequests"
	codeBroken        = "Broken"
)

const (
	stopping = 30 * time.Second // how long a server takes to go down
	pageSize = 2
)

// cloud is the state behind the API.
type cloud struct {
	mu      sync.Mutex
	time    time.Time
	shapes  []shape
	classes map[string]class
	soldOut map[choice]bool
	servers []*server // in the order in which they were launched
	notices []notice
	number  int
	script  script
}

func newCloud() *cloud {
	return &cloud{
		time:    time.Date(2026, time.January, 2, 15, 0, 0, 0, time.UTC),
		shapes:  shapes(),
		classes: map[string]class{"default": {Name: "default", Image: "image-7"}},
		soldOut: map[choice]bool{},
	}
}

// shapes are sold in two zones, as spot for a third.
func shapes() []shape {
	all := []shape{
		{Name: "std-2", Arch: "amd64", CPUs: 2, MemoryMiB: 8 << 10},
		{Name: "std-4", Arch: "amd64", CPUs: 4, MemoryMiB: 16 << 10},
		{Name: "std-8", Arch: "amd64", CPUs: 8, MemoryMiB: 32 << 10},
		{Name: "arm-4", Arch: "arm64", CPUs: 4, MemoryMiB: 16 << 10},
		{Name: "gpu-8", Arch: "amd64", CPUs: 8, MemoryMiB: 64 << 10, GPUs: 1, GPU: "pond-100"},
	}
	for i := range all {
		s := &all[i]
		cents := s.CPUs*4 + s.GPUs*60
		for z, zone := range []string{"north", "south"} {
			s.Prices = append(s.Prices,
				price{zone, "on-demand", float64(cents) / 100},
				price{zone, "spot", float64(cents*10/3+int64(z)) / 1000})
		}
	}
	return all
}

// now is the cloud's time.
func (c *cloud) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

// advance lets time pass. Servers that were stopping are gone after it.
func (c *cloud) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
	for _, n := range c.notices {
		if !n.Due.After(c.time) {
			if s := c.find(n.Server.ID); s != nil {
				c.stop(s)
			}
		}
	}
	c.servers = slices.DeleteFunc(c.servers, func(s *server) bool { return s.Stopping && !s.gone.After(c.time) })
}

func (c *cloud) find(id string) *server {
	for _, s := range c.servers {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// launch fills an order by the first of its choices that is in stock. A server
// that has the token already is the answer to it.
func (c *cloud) launch(o order) (*server, *apiError) {
	for _, s := range c.servers {
		if s.Token == o.Token && s.Cluster == o.Cluster {
			return s, nil
		}
	}
	class, found := c.classes[o.Class]
	switch {
	case o.Token == "" || o.Cluster == "" || len(o.Choices) == 0:
		return nil, &apiError{Code: codeInvalid, Message: "an order has a token, a cluster and a choice"}
	case !found:
		return nil, &apiError{Code: codeNoSuchClass, Message: "there is no class " + o.Class}
	case class.NotReady != "":
		return nil, &apiError{Code: codeClassNotReady, Message: class.NotReady}
	}
	for _, choice := range o.Choices {
		price, sold := c.price(choice)
		if !sold {
			return nil, &apiError{Code: codeInvalid, Message: fmt.Sprintf("there is no %s in %s as %s", choice.Shape, choice.Zone, choice.Market)}
		}
		if c.soldOut[choice] {
			continue
		}
		c.number++
		s := &server{
			ID: fmt.Sprintf("srv-%04d", c.number), Token: o.Token, Cluster: o.Cluster, Name: o.Name, Pool: o.Pool, Class: o.Class,
			Shape: choice.Shape, Zone: choice.Zone, Market: choice.Market, Image: class.Image,
			USDPerHour: price, Created: c.time, restarts: map[string]bool{},
		}
		c.servers = append(c.servers, s)
		return s, nil
	}
	return nil, &apiError{Code: codeSoldOut, Message: "none of the choices is in stock", Choices: o.Choices}
}

func (c *cloud) price(o choice) (float64, bool) {
	for _, s := range c.shapes {
		for _, p := range s.Prices {
			if s.Name == o.Shape && p.Zone == o.Zone && p.Market == o.Market {
				return p.USDPerHour, true
			}
		}
	}
	return 0, false
}

func (c *cloud) stop(s *server) {
	if !s.Stopping {
		s.Stopping, s.gone = true, c.time.Add(stopping)
	}
}

// list is one page of the servers of a cluster.
func (c *cloud) list(cluster, after string) (p page) {
	for _, s := range c.servers {
		if s.Cluster != cluster || cmp.Compare(s.ID, after) <= 0 {
			continue
		}
		if len(p.Servers) == pageSize {
			p.Next = p.Servers[pageSize-1].ID
			break
		}
		p.Servers = append(p.Servers, *s)
	}
	return p
}
