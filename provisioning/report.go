package provisioning

import (
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"

	"fmt"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/explain"
)

// Report renders the reason in full, as lines that end in a line break: for each
// NodePool what removed how many of its options, and the nearest miss; and what
// the nodes that exist refuse the pod for.
func (r *Reason) Report() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	if len(r.Pools) == 0 {
		b.WriteString(r.String() + "\n")
	}
	for i := range r.Pools {
		r.Pools[i].report(&b)
	}
	if text := strings.TrimPrefix(r.nodesText(), "; "); text != "" && len(r.Pools) > 0 {
		b.WriteString(text + "\n")
	}
	return b.String()
}

func (r *PoolReason) report(b *strings.Builder) {
	fmt.Fprintf(b, "NodePool %s\n", r.NodePool)
	if len(r.Steps) == 0 {
		fmt.Fprintf(b, "  %s\n", r.text())
		return
	}
	fmt.Fprintf(b, "  %6d ways to launch a node\n", r.Options)
	for _, s := range r.Steps {
		fmt.Fprintf(b, "  %+6d  %s\n", -s.Removed, s.Constraint)
	}
	for i := range r.Shortfalls {
		fmt.Fprintf(b, "  nearest miss: %s\n", explain.Nearest((*model.Shortfall)(&r.Shortfalls[i])))
	}
}
