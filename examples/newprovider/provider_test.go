package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/cloudprovidertest"
)

// TestContract is all that the provider has for tests, and all that it needs to
// begin with.
func TestContract(t *testing.T) {
	cloudprovidertest.Run(t, open)
}

// TestContractInFull holds that the harness leaves nothing out.
func TestContractInFull(t *testing.T) {
	for _, r := range cloudprovidertest.Examine(t, open) {
		require.True(t, r.Passed(), "%s", r)
	}
}

// TestProviderIsSmall holds what the documentation says of its size.
func TestProviderIsSmall(t *testing.T) {
	lines := 0
	for _, name := range []string{"provider.go", "catalog.go", "client.go"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		lines += bytes.Count(text, []byte("\n"))
	}
	require.Less(t, lines, 300)
}

// open starts a cloud with two clusters.
func open(t testing.TB) *cloudprovidertest.Harness {
	c := newCloud()
	api := httptest.NewServer(c.handler())
	t.Cleanup(api.Close)
	provider := func(cluster string) cloudprovider.CloudProvider {
		p, err := newProvider(api.URL, cluster, c.now)
		require.NoError(t, err)
		t.Cleanup(p.client.http.CloseIdleConnections)
		return p
	}
	// Which call of the cloud a method of the provider is about.
	routes := map[string]string{
		"InstanceTypes": routeShapes, "Create": routeOrder, "Delete": routeStop, "Get": routeServer,
		"List": routeList, "Interruptions": routeNotices,
	}
	return &cloudprovidertest.Harness{
		Provider:        provider("ours"),
		Pool:            demoPool(),
		WellKnownLabels: labels(),
		Advance:         c.advance,
		Machines:        func() int { return c.count("ours") },
		Restart:         func() cloudprovider.CloudProvider { return provider("ours") },
		Neighbor:        func() cloudprovider.CloudProvider { return provider("theirs") },
		RunDry: func(keys ...cloudprovider.OfferingKey) {
			for _, k := range keys {
				c.sellOut(choice{k.InstanceType, k.Zone, k.CapacityType})
			}
		},
		Fail: func(method string, kind cloudprovider.Kind) {
			code := codeBroken
			if kind == cloudprovider.KindThrottled {
				code = codeTooMany
			}
			c.rig(func(s *script) { s.fail = map[string]string{routes[method]: code} })
		},
		Lose: func() { c.rig(func(s *script) { s.lose = true }) },
		Hang: func(method string) (<-chan struct{}, func()) {
			h := &hang{make(chan struct{}), make(chan struct{})}
			c.rig(func(s *script) { s.hang = map[string]*hang{routes[method]: h} })
			return h.reached, func() { close(h.release) }
		},
		Unready:   func() { c.setClass(class{Name: "default", NotReady: "no network"}) },
		Drift:     func(string) { c.setClass(class{Name: "default", Image: "image-8"}) },
		Terminate: func(id string) { c.on(id, c.stop) },
		Interrupt: func(id string) cloudprovider.InterruptionKind {
			c.on(id, func(s *server) { c.notices = append(c.notices, c.noticeFor(s, "maintenance", time.Hour)) })
			return cloudprovider.InterruptionMaintenance
		},
		Reboots: func(id string) (n int) {
			c.on(id, func(s *server) { n = len(s.restarts) })
			return n
		},
	}
}

// rig changes what the cloud does wrong.
func (c *cloud) rig(change func(*script)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.script)
}

// on does something to the server with an ID of the provider's.
func (c *cloud) on(id string, do func(*server)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if providerID(*s) == id {
			do(s)
		}
	}
}

// count is how many servers of a cluster run.
func (c *cloud) count(cluster string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.Cluster == cluster && !s.Stopping {
			n++
		}
	}
	return n
}
