package availability

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Mark says that the offerings within a scope are not to be had for a time.
type Mark struct {
	// Scope is what is marked.
	Scope cloudprovider.Scope
	// Reason is why: the cloud's code, or what the caller gave.
	Reason string
	// Since is when the scope was first marked without a break, Until when the
	// mark ends; at that instant it no longer holds.
	Since, Until time.Time
}

// String returns one line, as in
// "m5.large/zone-a/spot unavailable until 2026-01-02T15:04:05Z: no stock".
func (m Mark) String() string {
	text := fmt.Sprintf("%s unavailable until %s", m.Scope, m.Until.UTC().Format(time.RFC3339))
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	return text
}
