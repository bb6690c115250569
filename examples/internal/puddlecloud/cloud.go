package puddlecloud

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Region is the only region.
const Region = "sea"

type (
	// Shape is a type of server with its prices.
	Shape struct {
		Name, Arch      string
		CPUs, MemoryMiB int64
		GPUs            int64
		GPU             string
		Prices          []Price
	}
	// Price is the price of a Shape in a zone, on-demand or spot.
	Price struct {
		Zone, Market string
		USDPerHour   float64
	}
	// Class is a configuration of servers.
	Class struct {
		Name, Image, NotReady string
	}
	// Choice is one option for an order.
	Choice struct{ Shape, Zone, Market string }
	// Kubelet is the labels and taints with which the kubelet of a server registers its Node. A
	// taint is written as key=value:effect.
	Kubelet struct {
		Labels map[string]string
		Taints []string
	}
	// Order requests one server. Orders with the same Token get the same server.
	Order struct {
		Token, Cluster, Name, Pool, Class string
		Choices                           []Choice
		Kubelet                           Kubelet
	}
	// Server is a launched server.
	Server struct {
		ID, Token, Cluster, Name, Pool, Class, Shape, Zone, Market, Image string
		Kubelet                                                           Kubelet
		USDPerHour                                                        float64
		Created                                                           time.Time
		Stopping                                                          bool
		// fields below are not part of the API
		due      time.Time // when it stops, as announced
		gone     time.Time
		restarts map[string]bool
	}
	// Page is a part of a list. Next is empty on the last page.
	Page struct {
		Servers []Server
		Next    string
	}
	// Notice announces that a server will be taken away: for maintenance, or to be sold at a higher
	// price.
	Notice struct {
		ID, What    string
		Server      Server
		Issued, Due time.Time
	}
	// Error is the body of every answer other than success.
	Error struct {
		Code, Message string
		Choices       []Choice
		// RetryAfter is sent as the header Retry-After.
		RetryAfter time.Duration `json:"-"`
	}
)

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// The codes of an Error.
const (
	CodeNoSuchServer  = "NoSuchServer"
	CodeNoSuchClass   = "NoSuchClass"
	CodeClassNotReady = "ClassNotReady"
	CodeSoldOut       = "SoldOut"
	CodeInvalid       = "Invalid"
	CodeTooMany       = "TooManyRequests"
	CodeBroken        = "Broken"
)

const (
	stopping = 30 * time.Second // time until a stopped server is gone
	pageSize = 2
)

// Cloud is the state of the simulated cloud.
type Cloud struct {
	mu      sync.Mutex
	time    time.Time
	shapes  []Shape
	prices  map[Choice]float64
	classes map[string]Class
	soldOut map[Choice]bool
	servers []*Server // in the order of launch
	notices []Notice
	number  int
	script  script
}

// New returns a cloud with five shapes, one class and no servers.
func New() *Cloud {
	c := &Cloud{
		time:    time.Date(2026, time.January, 2, 15, 0, 0, 0, time.UTC),
		shapes:  shapes(),
		classes: map[string]Class{"default": {Name: "default", Image: "image-7"}},
		soldOut: map[Choice]bool{}, prices: map[Choice]float64{},
	}
	for _, s := range c.shapes {
		for _, p := range s.Prices {
			c.prices[Choice{s.Name, p.Zone, p.Market}] = p.USDPerHour
		}
	}
	return c
}

// shapes returns the shapes, which are sold in two zones; spot costs a third.
func shapes() []Shape {
	all := []Shape{
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
				Price{zone, "on-demand", float64(cents) / 100},
				Price{zone, "spot", float64(cents*10/3+int64(z)) / 1000})
		}
	}
	return all
}

// with calls do while nothing else happens to the cloud.
func (c *Cloud) with(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// Now returns the cloud's time.
func (c *Cloud) Now() (now time.Time) {
	c.with(func() { now = c.time })
	return now
}

// Advance lets time pass. Stopping servers may be gone afterwards.
func (c *Cloud) Advance(d time.Duration) {
	c.with(func() {
		c.time = c.time.Add(d)
		for _, s := range c.servers {
			if !s.due.IsZero() && !s.due.After(c.time) { // whether or not its notice was acknowledged
				c.stop(s)
			}
		}
		c.servers = slices.DeleteFunc(c.servers, func(s *Server) bool { return s.Stopping && !s.gone.After(c.time) })
	})
}

func (c *Cloud) find(id string) *Server {
	if i := slices.IndexFunc(c.servers, func(s *Server) bool { return s.ID == id }); i >= 0 {
		return c.servers[i]
	}
	return nil
}

// launch launches the first choice of an order that is in stock. If a server with the token exists
// already, it is returned.
func (c *Cloud) launch(o Order) (*Server, *Error) {
	for _, s := range c.servers {
		if s.Token == o.Token && s.Cluster == o.Cluster {
			return s, nil
		}
	}
	class, found := c.classes[o.Class]
	switch {
	case o.Token == "" || o.Cluster == "" || len(o.Choices) == 0:
		return nil, &Error{Code: CodeInvalid, Message: "an order has a token, a cluster and a choice"}
	case !found:
		return nil, &Error{Code: CodeNoSuchClass, Message: "there is no class " + o.Class}
	case class.NotReady != "":
		return nil, &Error{Code: CodeClassNotReady, Message: class.NotReady}
	}
	for _, choice := range o.Choices {
		price, sold := c.prices[choice]
		if !sold {
			return nil, &Error{Code: CodeInvalid, Message: fmt.Sprintf("there is no %s in %s as %s", choice.Shape, choice.Zone, choice.Market)}
		}
		if c.soldOut[choice] {
			continue
		}
		c.number++
		s := &Server{
			ID: fmt.Sprintf("srv-%04d", c.number), Token: o.Token, Cluster: o.Cluster, Name: o.Name, Pool: o.Pool, Class: o.Class,
			Shape: choice.Shape, Zone: choice.Zone, Market: choice.Market, Image: class.Image, Kubelet: o.Kubelet,
			USDPerHour: price, Created: c.time, restarts: map[string]bool{},
		}
		c.servers = append(c.servers, s)
		return s, nil
	}
	return nil, &Error{Code: CodeSoldOut, Message: "none of the choices is in stock", Choices: o.Choices}
}

func (c *Cloud) stop(s *Server) {
	if !s.Stopping {
		s.Stopping, s.gone = true, c.time.Add(stopping)
	}
}

// list returns one page of the servers of a cluster.
func (c *Cloud) list(cluster, after string) (p Page) {
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

// Announce issues a notice about a server: maintenance, or reclaim.
func (c *Cloud) Announce(id, what string, in time.Duration) {
	c.with(func() {
		if s := c.find(id); s != nil {
			s.due = c.time.Add(in)
			c.notices = append(c.notices, Notice{ID: "note-" + s.ID, What: what, Server: *s, Issued: c.time, Due: s.due})
		}
	})
}

// SetStock says whether the choices are sold out from now on.
func (c *Cloud) SetStock(soldOut bool, choices ...Choice) {
	c.with(func() {
		for _, o := range choices {
			c.soldOut[o] = soldOut
		}
	})
}

// SetClass adds a class, or replaces the one of the same name.
func (c *Cloud) SetClass(k Class) { c.with(func() { c.classes[k.Name] = k }) }

// Stop stops a server, if it exists.
func (c *Cloud) Stop(id string) {
	c.with(func() {
		if s := c.find(id); s != nil {
			c.stop(s)
		}
	})
}

// Running returns the number of running servers of a cluster.
func (c *Cloud) Running(cluster string) (n int) {
	c.with(func() {
		for _, s := range c.servers {
			if s.Cluster == cluster && !s.Stopping {
				n++
			}
		}
	})
	return n
}

// Restarts returns how often a server was restarted.
func (c *Cloud) Restarts(id string) (n int) {
	c.with(func() {
		if s := c.find(id); s != nil {
			n = len(s.restarts)
		}
	})
	return n
}
