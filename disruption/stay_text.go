package disruption

import (
	"fmt"
	"strings"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// String says in one line what keeps the first pod.
func (s *Stay) String() string {
	if len(s.Pods) == 0 {
		return fmt.Sprintf("other nodes have places for %s of %s", plural(s.Placed, "pod"), s.Node)
	}
	text := podObject(s.Pods[0].Pod) + s.Pods[0].headline(s.Others, 1)
	if why := s.Pods[0].lines(); len(why) > 0 {
		text += "; " + why[0]
	}
	if n := len(s.Pods) - 1; n > 0 {
		text += "; nor " + doPlural(n, "other pod")
	}
	return text
}

func doPlural(n int, thing string) string {
	if n == 1 {
		return "does 1 " + thing
	}
	return "do " + plural(n, thing)
}

// Report says all of it: a line for pods of each kind, and one for each thing that
// keeps them from a node. Each line ends in a line break.
func (s *Stay) Report() string {
	var b strings.Builder
	if s.Placed > 0 || len(s.Pods) == 0 {
		fmt.Fprintf(&b, "other nodes have places for %d of %s\n", s.Placed, plural(s.Placed+len(s.Pods), "pod"))
	}
	said := map[*provisioning.Reason]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if said[p.Reason] {
			continue
		}
		said[p.Reason] = true
		name, like := podObject(p.Pod), -1
		for _, other := range s.Pods {
			if other.Reason == p.Reason {
				like++
			}
		}
		if like > 0 {
			name += fmt.Sprintf(" and %d like it", like)
		}
		b.WriteString(name + p.headline(s.Others, 1+like) + "\n")
		for _, line := range p.lines() {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// headline says that so many pods like this one find no place.
func (p *StayingPod) headline(others, pods int) string {
	text := " finds no place on " + plural(others, "other node")
	if pods > 1 {
		text = " find no place on " + plural(others, "other node")
	}
	var parts []string
	if p.Unsuited > 0 {
		parts = append(parts, fmt.Sprintf("labels or taints rule out %d", p.Unsuited))
	}
	if p.Full > 0 {
		parts = append(parts, numbered(p.Full, "has no room", "have no room"))
	}
	if p.Open > 0 {
		parts = append(parts, numbered(p.Open, "has room", "have room"))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

func numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// lines say what keeps the pod, the domains of its constraints first.
func (p *StayingPod) lines() []string {
	var out []string
	if p.Reason != nil {
		switch p.Reason.Cause {
		case provisioning.CauseNoNodePool, provisioning.CauseNodePools: // what nodes could be launched is another matter
		default:
			out = append(out, p.Reason.String())
		}
	}
	for _, b := range p.Barriers {
		out = append(out, b.Node+": "+b.Detail)
	}
	return out
}
