package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// nodeGroup is a group of equal new nodes.
type nodeGroup struct {
	node  *newNode
	count int
}

// title returns the name of the first node.
func (g *nodeGroup) title() string {
	name := layout.Printable(g.node.Name)
	if name != "" && g.count > 1 {
		name += fmt.Sprintf(" and %d more", g.count-1)
	}
	return name
}

// groupNodes groups nodes with the same pool, launch and workloads, in the order in which the plan
// names the first node of each group.
func groupNodes(nodes []newNode) []*nodeGroup {
	var groups []*nodeGroup
	known := map[string]*nodeGroup{}
	for i := range nodes {
		n := &nodes[i]
		key := nodeKey(n)
		if g := known[key]; g != nil {
			g.count++
			continue
		}
		g := &nodeGroup{node: n, count: 1}
		known[key] = g
		groups = append(groups, g)
	}
	return groups
}

// nodeKey is equal for nodes that share a row.
func nodeKey(n *newNode) string {
	cpu, memory := percents(n.Utilization)
	parts := []string{n.NodePool, n.InstanceType, n.Zone, n.CapacityType, strconv.Itoa(n.OptionCount),
		strconv.FormatFloat(n.USDPerHour, 'g', -1, 64), cpu, memory, fmt.Sprint(n.MissedMinValues)}
	owners := make([]string, 0, len(n.Pods))
	for _, p := range n.Pods {
		owners = append(owners, p.workload.String())
	}
	slices.Sort(owners)
	return strings.Join(append(parts, owners...), "\x00")
}

// pendingGroup is a group of pods that stay pending for one reason: all of one workload, or all
// without a workload.
type pendingGroup struct {
	first  workload
	pod    string // name of the first pod
	reason *reason
	count  int
}

// title returns the name of the workload.
func (g *pendingGroup) title() string {
	if g.first.Kind == "Pod" && g.count > 1 {
		return fmt.Sprintf("Pod %s/%s and others", g.first.Namespace, g.first.Name)
	}
	return g.first.String()
}

// reasonLines says why a pod stays pending: one line for each pool, and one for the existing nodes.
func reasonLines(r *reason) []string {
	if len(r.NodePools) == 0 {
		return []string{r.Message}
	}
	lines := poolLines(r.NodePools)
	var nodes []string
	for _, cause := range slices.Sorted(maps.Keys(r.ExistingNodes)) {
		nodes = append(nodes, fmt.Sprintf("%s on %d", nodeCause(provisioning.Cause(cause)), r.ExistingNodes[cause]))
	}
	if len(nodes) > 0 {
		lines = append(lines, "existing nodes: "+strings.Join(nodes, ", "))
	}
	return lines
}

// manyPools is the number of NodePools from which pools with the same message share a line.
const manyPools = 4

// poolLines returns the messages of pools. If there are many pools, those with the same message
// share a line.
func poolLines(pools []poolReason) (lines []string) {
	said := map[string][]string{}
	says := func(p poolReason) string { return strings.TrimPrefix(p.Message, "NodePool "+p.NodePool+": ") }
	for _, p := range pools {
		said[says(p)] = append(said[says(p)], p.NodePool)
	}
	for _, p := range pools {
		names := said[says(p)]
		switch {
		case len(pools) < manyPools || len(names) == 1:
			lines = append(lines, p.Message)
		case names[0] == p.NodePool:
			lines = append(lines, fmt.Sprintf("%d of %d NodePools (%s): %s", len(names), len(pools), strings.Join(names, ", "), says(p)))
		}
	}
	return lines
}

// nodeCause says why an existing node does not take the pod.
func nodeCause(c provisioning.Cause) string {
	switch c {
	case provisioning.CauseRequirements:
		return "other labels"
	case provisioning.CauseResources:
		return "too little room"
	case provisioning.CauseHostPorts:
		return "host ports in use"
	case provisioning.CauseVolumes:
		return "volumes that cannot be had"
	case provisioning.CauseNodes:
		return "other pods"
	}
	var words strings.Builder // of a cause that has no other: MaxPods is max pods
	for i, r := range string(c) {
		if unicode.IsUpper(r) && i > 0 {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}

// groupUnplaced groups unplaced pods, and sorts the groups by workload and reason.
func groupUnplaced(pods []unplacedPod) []*pendingGroup {
	var groups []*pendingGroup
	known := map[string]*pendingGroup{}
	for i := range pods {
		p := &pods[i]
		key := p.workload.String() + "\x00" + p.Reason.Message
		if p.workload.Kind == "Pod" {
			key = "Pod\x00" + p.Reason.Message
		}
		if g := known[key]; g != nil {
			g.count++
			continue
		}
		g := &pendingGroup{first: p.workload, pod: p.Namespace + "/" + p.Name, reason: &p.Reason, count: 1}
		known[key] = g
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b *pendingGroup) int {
		return cmp.Or(cmp.Compare(a.first.Namespace, b.first.Namespace), cmp.Compare(a.first.Name, b.first.Name),
			cmp.Compare(a.first.Kind, b.first.Kind), cmp.Compare(a.reason.Message, b.reason.Message))
	})
	return groups
}
