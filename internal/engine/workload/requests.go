package workload

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/podkey"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// RequestsCache caches the requests of pods by their containers, because most pods of a cluster are
// of few kinds. Derived problems share it. It is safe for concurrent use, and results do not depend
// on the order of calls.
type RequestsCache struct {
	kubernetes string // versions of Kubernetes, as PodRequestsFor takes them

	mu    sync.Mutex
	key   podkey.Writer
	known map[string]resources.List
}

// mostRequests is the largest number of entries; a full cache is emptied.
const mostRequests = 4096

// NewRequestsCache returns an empty cache.
func NewRequestsCache(kubernetes minors.Range) *RequestsCache {
	return &RequestsCache{kubernetes: kubernetes.Text(), known: map[string]resources.List{}}
}

// Of returns the requests of a pod. The requests of a pod that is being resized depend on its
// status and are computed each time.
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
