package puddlecloud

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Region is the only one.
const Region = "sea"

type (
	// Shape is a kind of server and what it costs.
	Shape struct {
		Name, Arch      string
		CPUs, MemoryMiB int64
		GPUs            int64
		GPU             string
		Prices          []Price
	}
	// Price is what a Shape costs in a zone, on-demand or spot.
	Price struct {
		Zone, Market string
		USDPerHour   float64
	}
	// Class is a configuration to launch servers from.
	Class struct {
		Name, Image, NotReady string
	}
	// Choice is one way to fill an order.
	Choice struct{ Shape, Zone, Market string }
	// Kubelet is what the kubelet of a server registers its Node with. A taint is written
	// as key=value:effect.
	Kubelet struct {
		Labels map[string]string
		Taints []string
	}
	// Order asks for one server. The Token makes sure that there is no second.
	Order struct {
		Token, Cluster, Name, Pool, Class string
		Choices                           []Choice
		Kubelet                           Kubelet
	}
	// Server is what was launched.
	Server struct {
		ID, Token, Cluster, Name, Pool, Class, Shape, Zone, Market, Image string
		Kubelet                                                           Kubelet
		USDPerHour                                                        float64
		Created                                                           time.Time
		Stopping                                                          bool
		// The cloud's own.
		gone     time.Time
		restarts map[string]bool
	}
	// Page is a part of a list: Next is empty on the last.
	Page struct {
		Servers []Server
		Next    string
	}
	// Notice announces that a server will be taken away: for maintenance, or to
	// be sold at a better price.
	Notice struct {
		ID, What    string
		Server      Server
		Issued, Due time.Time
	}
	// Error is the body of every answer but a good one.
	Error struct {
		Code, Message string
		Choices       []Choice
		// RetryAfter is the header of that name.
		RetryAfter time.Duration `json:"-"`
	}
)

// Error is the message.
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
	stopping = 30 * time.Second // how long a server takes to go down
	pageSize = 2
)

// Cloud is the state behind the API.
type Cloud struct {
	mu      sync.Mutex
	time    time.Time
	shapes  []Shape
	classes map[string]Class
	soldOut map[Choice]bool
	servers []*Server // in the order in which they were launched
	notices []Notice
	number  int
	script  script
}

// New is a cloud with five shapes, one class and no server.
func New() *Cloud {
	return &Cloud{
		time:    time.Date(2026, time.January, 2, 15, 0, 0, 0, time.UTC),
		shapes:  shapes(),
		classes: map[string]Class{"default": {Name: "default", Image: "image-7"}},
		soldOut: map[Choice]bool{},
	}
}

// shapes are sold in two zones, as spot for a third.
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

// Now is the cloud's time.
func (c *Cloud) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

// Advance lets time pass. Servers that were stopping are gone after it.
func (c *Cloud) Advance(d time.Duration) {
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
	c.servers = slices.DeleteFunc(c.servers, func(s *Server) bool { return s.Stopping && !s.gone.After(c.time) })
}

func (c *Cloud) find(id string) *Server {
	for _, s := range c.servers {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// launch fills an order by the first of its choices that is in stock. A server
// that has the token already is the answer to it.
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
		price, sold := c.price(choice)
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

func (c *Cloud) price(o Choice) (float64, bool) {
	for _, s := range c.shapes {
		for _, p := range s.Prices {
			if s.Name == o.Shape && p.Zone == o.Zone && p.Market == o.Market {
				return p.USDPerHour, true
			}
		}
	}
	return 0, false
}

func (c *Cloud) stop(s *Server) {
	if !s.Stopping {
		s.Stopping, s.gone = true, c.time.Add(stopping)
	}
}

// list is one page of the servers of a cluster.
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(id); s != nil {
		c.notices = append(c.notices, Notice{ID: "note-" + s.ID, What: what, Server: *s, Issued: c.time, Due: c.time.Add(in)})
	}
}

// SellOut leaves nothing of the choices.
func (c *Cloud) SellOut(choices ...Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range choices {
		c.soldOut[o] = true
	}
}

// Restock ends SellOut.
func (c *Cloud) Restock(choices ...Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range choices {
		delete(c.soldOut, o)
	}
}

// SetClass adds a class, or changes the one of that name.
func (c *Cloud) SetClass(k Class) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.classes[k.Name] = k
}

// Stop takes a server down, if it is there.
func (c *Cloud) Stop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(id); s != nil {
		c.stop(s)
	}
}

// Running is how many servers of a cluster run.
func (c *Cloud) Running(cluster string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.Cluster == cluster && !s.Stopping {
			n++
		}
	}
	return n
}

// Restarts is how often a server was restarted.
func (c *Cloud) Restarts(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(id); s != nil {
		return len(s.restarts)
	}
	return 0
}
