package launch

import (
	"slices"
	"sync"
	"time"
)

const (
	// lastingErrors is how many calls in a row have to fail with an internal error of EC2
	// before it counts as lasting.
	lastingErrors = 3
	// internalErrorMemory is how long such a failure counts.
	internalErrorMemory = 30 * time.Minute
)

// InternalErrors counts, for each capacity type, the calls in a row that EC2 answered with an
// internal error. One such error says nothing about capacity, so the launch is repeated. After
// several, launches use another capacity type for a while. The zero value has counted nothing. All
// methods may be called concurrently.
type InternalErrors struct {
	mu    sync.Mutex
	calls map[string][]failedCall // by capacity type
}

// failedCall is a call by its client token, and when it failed.
type failedCall struct {
	token string
	at    time.Time
}

// Failed notes that a call for the capacity type failed, and reports whether the error is
// lasting: at least three calls with different tokens have failed within half an hour,
// and none has worked since.
func (e *InternalErrors) Failed(now time.Time, capacityType, token string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	calls := slices.DeleteFunc(e.calls[capacityType], func(c failedCall) bool {
		return c.token == token || now.Sub(c.at) >= internalErrorMemory
	})
	calls = append(calls, failedCall{token, now})
	if e.calls == nil {
		e.calls = map[string][]failedCall{}
	}
	e.calls[capacityType] = calls[max(0, len(calls)-lastingErrors):]
	return len(calls) >= lastingErrors
}

// Worked notes that EC2 answered a call for the capacity type without an internal error.
func (e *InternalErrors) Worked(capacityType string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.calls, capacityType)
}
