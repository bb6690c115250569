package workload

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// RequestsCache remembers what pods request by their containers, as most pods on a cluster
// are one of few kinds. Problems that come of one another share it. It is safe for
// concurrent use, and no answer depends on who asked before.
type RequestsCache struct {
	kubernetes string // the versions of Kubernetes, as PodRequestsFor takes them

	mu    sync.Mutex
	key   podkey.Writer
	known map[string]resources.List
}

// mostRequests is how many answers are kept; then all are forgotten.
const mostRequests = 4096

// NewRequestsCache is one without entries.
func NewRequestsCache(kubernetes minors.Range) *RequestsCache {
	return &RequestsCache{kubernetes: kubernetes.Text(), known: map[string]resources.List{}}
}

// Of is what a pod requests. That of a pod which is being resized is worked out each time,
// as its status takes part.
func (c *RequestsCache) Of(pod *corev1.Pod) (resources.List, error) {
	if podkey.Resized(pod) {
		return resources.PodRequestsFor(pod, c.kubernetes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.key.Buf = c.key.Buf[:0]
	c.key.Requests(pod)
	if known, ok := c.known[string(c.key.Buf)]; ok {
		return known, nil
	}
	out, err := resources.PodRequests(pod)
	if err != nil {
		return out, err
	}
	if len(c.known) == mostRequests {
		clear(c.known)
	}
	c.known[string(c.key.Buf)] = out
	return out, nil
}
