package provisioning

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/explain"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

// maxReason is the largest number of bytes of a reason on one line: the limit for the message of an
// event and of a condition.
const maxReason = 1024

// manyPools is the number of NodePools from which those with equal texts are grouped.
const manyPools = 4

// String renders the reason as one line of English of at most 1,024 bytes. With many NodePools, it
// groups those with equal texts, and counts those for which there is no space.
func (r *Explanation) String() string {
	if r == nil {
		return ""
	}
	return shortened(r.line())
}

// shortened cuts a text to at most maxReason bytes.
func shortened(text string) string {
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason-len("...")], "") + "..."
	}
	return text
}

// line renders the reason on one line. It exceeds maxReason only if Detail does.
func (r *Explanation) line() string {
	var b strings.Builder
	switch r.Cause {
	case CauseUnsupported:
		fmt.Fprintf(&b, "nodes for this cannot be planned yet: %s", r.Detail)
	case CauseGated:
		fmt.Fprintf(&b, "it waits for its scheduling gates to be lifted: %s", r.Detail)
	case CauseOtherScheduler:
		fmt.Fprintf(&b, "it is for scheduler %s, for which no nodes are planned", r.Detail)
	case CauseDeleting:
		b.WriteString("it is being deleted")
	case CauseNoNodePool:
		b.WriteString("there is no NodePool to launch a node from")
	default:
		if r.Cause != CauseNodePools {
			b.WriteString(cmp.Or(r.Detail, string(r.Cause)))
		}
		r.writePools(&b)
	}
	b.WriteString(r.nodesText())
	return oneLine(b.String())
}

// writePools writes the texts of the pools, as far as the space allows together with the text of
// the nodes.
func (r *Explanation) writePools(b *strings.Builder) {
	groups := r.groups()
	room := maxReason - len(r.nodesText()) - len("; and 1000 more NodePools")
	for i, g := range groups {
		text := g.text(len(r.Pools))
		if i > 0 && b.Len()+len("; ")+len(text) > room {
			more := 0
			for _, rest := range groups[i:] {
				more += len(rest.pools)
			}
			fmt.Fprintf(b, "; and %d more NodePool%s", more, map[bool]string{false: "s"}[more == 1])
			return
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text)
	}
}

// poolGroup is NodePools with equal texts.
type poolGroup struct {
	pools []string
	says  string
}

// groups returns the pools, those with equal texts grouped if there are many pools, in the order of
// the first of each group.
func (r *Explanation) groups() (groups []poolGroup) {
	at := map[string]int{}
	for i := range r.Pools {
		says := r.Pools[i].text()
		if known, found := at[says]; found && len(r.Pools) >= manyPools {
			groups[known].pools = append(groups[known].pools, r.Pools[i].NodePool)
			continue
		}
		at[says] = len(groups)
		groups = append(groups, poolGroup{[]string{r.Pools[i].NodePool}, says})
	}
	return groups
}

// text names up to three pools of a group.
func (g *poolGroup) text(of int) string {
	const named = 3
	if len(g.pools) == 1 {
		return oneLine("NodePool " + g.pools[0] + ": " + g.says)
	}
	names := strings.Join(g.pools[:min(named, len(g.pools))], ", ")
	if more := len(g.pools) - named; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return oneLine(fmt.Sprintf("%d of %d NodePools (%s): %s", len(g.pools), of, names, g.says))
}

// plain reverses the escaping of HTML characters by encoding/json, and removes line breaks, in
// faults that quote a value.
var plain = strings.NewReplacer("\n", " ", `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// oneLine renders a text on one line, without JSON escapes.
func oneLine(text string) string { return plain.Replace(text) }

// nodesText counts the existing nodes by cause; for a constraint between pods, those in the domains
// that it allows. It returns "" if there are none.
func (r *Explanation) nodesText() string {
	total, there := 0, ""
	if kind, ok := kinds.ByCause(model.Cause(r.Cause)); ok && kind.Places {
		there = "there "
	}
	for _, n := range r.ExistingNodes {
		total += n
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(r.ExistingNodes)) {
		if n := r.ExistingNodes[cause]; total == 1 && n == 1 {
			return "; the only existing node " + there + nodesCause(cause, 1)
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, nodesCause(cause, n)))
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("; of %d existing nodes%s, %s", total, strings.TrimRight(" "+there, " "), strings.Join(parts, ", "))
}

// nodesCause describes why n nodes exclude the pod.
func nodesCause(c Cause, n int) string {
	is, has := "are", "have"
	if n == 1 {
		is, has = "is", "has"
	}
	switch c {
	case CauseRequirements:
		return is + " ruled out by labels"
	case CauseNodes:
		return is + " ruled out by the pods there"
	case CauseResources:
		return has + " too little room"
	}
	if kind, ok := kinds.ByCause(model.Cause(c)); ok {
		return is + " ruled out by " + kind.Nodes()
	}
	return is + " ruled out by " + strings.ToLower(string(c))
}

// String renders the reason as one line of English that starts with the name of the pool.
func (r *PoolExplanation) String() string {
	return oneLine(fmt.Sprintf("NodePool %s: %s", r.NodePool, r.text()))
}

func (r *PoolExplanation) text() string {
	switch r.Cause {
	case CauseTaints:
		return r.taintsText()
	case CauseResources:
		return r.shortfallsText()
	case CauseLimits:
		return "its limits leave no room for a node that holds the pod: " + r.Detail
	}
	if len(r.Conflicts) > 0 {
		parts := make([]string, len(r.Conflicts))
		for i := range r.Conflicts {
			parts[i] = r.Conflicts[i].String()
		}
		if r.Detail != "" {
			parts = append(parts, r.Detail)
		}
		return strings.Join(parts, "; ")
	}
	return r.Detail
}

func (r *PoolExplanation) taintsText() string {
	parts := make([]string, len(r.Taints))
	for i := range r.Taints {
		t := r.Taints[i]
		parts[i] = t.ToString()
	}
	if len(parts) == 1 {
		return "its taint " + parts[0] + " is not tolerated"
	}
	return "its taints " + strings.Join(parts, ", ") + " are not tolerated"
}

func (r *PoolExplanation) shortfallsText() string {
	byDaemons := strings.HasPrefix(r.Detail, explain.LeftNothing)
	parts := make([]string, len(r.Shortfalls), len(r.Shortfalls)+1)
	for i := range r.Shortfalls {
		s := &r.Shortfalls[i]
		if parts[i] = s.String(); r.Detail != "" && !byDaemons {
			// Other types have enough of it and lack another resource.
			asks, largest := s.texts()
			parts[i] = asks + ", and it has " + largest
		}
	}
	if byDaemons {
		return strings.Join(append(parts, r.Detail), "; ")
	}
	text := strings.Join(parts, "; ")
	if r.Detail != "" {
		text = r.Detail + ": " + text
	}
	return text
}

// String renders the shortfall as a clause.
func (s *Shortfall) String() string {
	asks, largest := s.texts()
	switch {
	case s.Resource == "":
		return "no shortfall"
	case s.Resource == corev1.ResourcePods && s.Largest <= 0:
		return "no suitable instance type has room for any pod beside its overhead"
	case s.Resource == corev1.ResourcePods:
		return fmt.Sprintf("DaemonSets fill every suitable instance type: none runs more pods than %d (%s)", s.Largest, s.InstanceType)
	case s.Largest <= 0:
		return asks + ", but no suitable instance type has any"
	}
	return asks + fmt.Sprintf(", but no suitable instance type has more than %s (%s)", largest, s.InstanceType)
}

// texts returns how much of the resource the pod and DaemonSets request, and how much the instance
// type has.
func (s *Shortfall) texts() (asks, largest string) {
	pod := s.Requested - s.Daemons
	text := model.Quantities(s.Resource, pod, s.Daemons, max(s.Largest, 0))
	asks = "the pod asks for " + model.Asked(s.Resource, pod, text[0])
	if s.Daemons > 0 {
		asks += " and DaemonSets for " + model.Asked(s.Resource, s.Daemons, text[1])
	}
	return asks, text[2]
}

// Report renders the reason in full, as lines that end in a line break: for each NodePool how many
// of its options each constraint removes, and the closest instance type; and the causes for which
// existing nodes exclude the pod.
func (r *Explanation) Report() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	if len(r.Pools) == 0 {
		b.WriteString(r.line() + "\n")
	}
	for i := range r.Pools {
		r.Pools[i].report(&b)
	}
	if text := strings.TrimPrefix(r.nodesText(), "; "); text != "" && len(r.Pools) > 0 {
		b.WriteString(text + "\n")
	}
	return b.String()
}

func (r *PoolExplanation) report(b *strings.Builder) {
	fmt.Fprintf(b, "NodePool %s\n", r.NodePool)
	if len(r.Filters) == 0 {
		fmt.Fprintf(b, "  %s\n", r.text())
		return
	}
	fmt.Fprintf(b, "  %6d ways to launch a node\n", r.Options)
	for _, s := range r.Filters {
		fmt.Fprintf(b, "  %+6d  %s\n", -s.Removed, s.Constraint)
	}
	for i := range r.Shortfalls {
		fmt.Fprintf(b, "  nearest miss: %s\n", explain.Nearest((*model.Shortfall)(&r.Shortfalls[i])))
	}
}
