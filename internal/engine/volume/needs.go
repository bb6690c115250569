package volume

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Needs is what the volumes of a pod ask of a node. The zero value asks for
// nothing. A Needs is immutable; treat the slices as read-only.
type Needs struct {
	// NodeName is the one node that will do, because a volume is about to be
	// made for it; empty if any node may do. kube-scheduler passes over every
	// other node, also where this one is gone.
	NodeName string
	// Selected names the claim whose annotation asks for NodeName, as errors do.
	Selected string

	// Alternatives are what the labels of a node yet to be launched must
	// satisfy, any one of them; nil if any labels will do. None is Impossible.
	// Those that differ in one label only are merged as far as a list of values
	// goes, and they are sorted by their text.
	//
	// If the volumes are on the disks of nodes that exist, the Alternatives
	// name these nodes by the label kubernetes.io/hostname, which no new node
	// satisfies. For a node that exists, ask Index.Admits.
	Alternatives []requirements.Set

	// Attach are the volumes to attach, sorted by driver.
	Attach []Attachment

	// Exclusive are the claims that one pod only may use (ReadWriteOncePod),
	// as namespace, slash and name, sorted. If Claims of a bound pod, or of one
	// placed before, lists any of them, no node will do.
	Exclusive []string

	// Unbound are the claims that get their volume where the first pod that
	// uses them is placed, as in Exclusive. Pods with one of these in common
	// are safe on one node; how far apart they may be, Reach says.
	// Those of ephemeral volumes, which no other pod can use, are left out.
	Unbound []string

	// Disks are disks that pods on one node may not have in common, unless both only
	// read them.
	Disks []Disk

	bound   []bound
	zones   []zone
	unbound []unbound // smallest first
	present []presence
}

// Of works out what the volumes of a pod ask of a node. The error says in one
// line why no node will do, with every claim at fault and what to do about it;
// it does not name the pod. The Needs are then good for Attach, Exclusive,
// Unbound and Disks of the volumes without fault.
//
// In order:
//
//   - each volume of the pod is traced to its claim. The claim must exist, or
//     be made by Kubernetes for an ephemeral volume, must not be deleted or
//     Lost, and that of an ephemeral volume must be owned by the pod;
//   - a claim that names its volume must be bound to it completely, and the
//     volume must exist;
//   - any other claim must be of a class that waits for the first consumer. If
//     a node was selected for it already, that node it must be;
//   - the Alternatives of all claims are multiplied out. If none is left, the
//     claims contradict each other. (kube-scheduler has one way out: on a node
//     without any label for zone or region it does not look at the zone labels
//     of volumes. No pod is planned by that.)
//
// Several claims of one pod never count on the same volume that exists. What
// they choose from depends on sizes and selectors, and kube-scheduler does not
// try all ways: it goes from the smallest claim to the largest and takes the
// smallest volume for each. For nodes to come, the Alternatives may hold a place
// where that way fails although another succeeds.
//
// It takes time in proportion to the volumes of the pod and, where these are
// to be bound, to the free volumes of their class.
func (x *Index) Of(pod *corev1.Pod) (Needs, error) {
	if pod == nil {
		return Needs{}, errors.New("the pod is nil; leave it out")
	}
	g := &gatherer{reasons: &reasons{}, x: x, attach: attachments{}}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		_, kind := claimName(pod, v)
		if kind == inline {
			g.inline(v)
			continue
		}
		c := x.claim(pod, v, g.reasons)
		if c == nil {
			continue
		}
		if a, ok := x.attachment(c); ok {
			if kind == ephemeral {
				g.attach.addOwn(a)
			} else {
				g.attach.addShared(a)
			}
			g.want(presence{a.driver, x.pluginOf(c)})
		}
		if kind == named && slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) {
			g.needs.Exclusive = append(g.needs.Exclusive, key(c.Namespace, c.Name))
		}
		g.claim(c, v, kind)
	}
	g.needs.Disks = Disks(pod)
	return g.finish()
}

// finish puts all that was gathered in order.
func (g *gatherer) finish() (Needs, error) {
	n := &g.needs
	n.Attach = g.attach.list()
	slices.Sort(n.Exclusive)
	n.Exclusive = slices.Compact(n.Exclusive)
	slices.Sort(n.Unbound)
	n.Unbound = slices.Compact(n.Unbound)
	slices.SortStableFunc(g.pending, func(a, b unbound) int { return quantity.Compare(a.size, b.size) })
	n.unbound = g.pending
	if err := g.err(); err != nil {
		return *n, err
	}
	sets, err := product(append(g.factors, factorsOf(g.pending)...))
	if err != nil {
		return *n, err
	}
	n.Alternatives = simplify(sets)
	return *n, nil
}

// Key is a text that equal Needs have in common and others do not: two pods
// whose Keys are equal ask the same of every node.
func (n *Needs) Key() string {
	var b strings.Builder
	appendWords(&b, "node", n.NodeName, n.Selected)
	for _, s := range n.Alternatives {
		appendWords(&b, "labels", s.String())
	}
	for _, a := range n.Attach {
		appendWords(&b, "attach", a.Driver, strconv.FormatInt(a.Own, 10))
		appendWords(&b, a.Shared...)
	}
	appendWords(&b, "exclusive")
	appendWords(&b, n.Exclusive...)
	appendWords(&b, "unbound")
	appendWords(&b, n.Unbound...)
	for _, d := range n.Disks {
		appendWords(&b, "disk", d.Name, strconv.FormatBool(d.ReadOnly))
	}
	n.appendRules(&b)
	return b.String()
}

// appendRules writes what Admits depends on.
func (n *Needs) appendRules(b *strings.Builder) {
	for i := range n.bound {
		appendWords(b, "bound", n.bound[i].text())
		if m := n.bound[i].migrated; m != nil {
			appendWords(b, "migrated", m.plugin, m.text())
		}
	}
	for i := range n.zones {
		appendWords(b, "zone", n.zones[i].key)
		appendWords(b, n.zones[i].values...)
	}
	for _, p := range n.present {
		appendWords(b, "present", p.driver, p.plugin)
	}
	for i := range n.unbound {
		u := &n.unbound[i]
		appendWords(b, "volumes")
		for _, c := range u.candidates {
			appendWords(b, c.volume.Name)
		}
		if u.made != nil {
			appendWords(b, "made", u.made.text())
		}
	}
}

// Admits says whether a node that exists has the name and the labels that the
// Needs ask for. The labels are all there are and are compared as they stand,
// which is what kube-scheduler does; so a node that has not started, and has no
// labels of CSI drivers yet, may be refused by Admits although it will do once
// it is ready. The Alternatives tell.
//
// Limits of attachments, Exclusive claims and Disks are not looked at.
//
// The Needs must be from the same Index. The name of the node finds its CSINode,
// which tells whether old types of volumes are served by CSI drivers there, and which
// drivers the node has. A node that is starting may not have them yet.
func (x *Index) Admits(n *Needs, node string, labels map[string]string, starting bool) bool {
	if n.NodeName != "" && n.NodeName != node {
		return false
	}
	if !starting && slices.ContainsFunc(n.present, x.nodes[node].lacks) {
		return false
	}
	for i := range n.bound {
		b := &n.bound[i]
		at := &b.affinity
		if b.migrated.on(x.nodes[node]) {
			at = &b.migrated.affinity
		}
		if !at.matches(labels) {
			return false
		}
	}
	return zonesMatch(n.zones, labels) && serve(n.unbound, labels)
}

// serve says whether a node can have a volume for each claim, as kube-scheduler
// goes about it: from the smallest claim to the largest each takes the smallest
// free volume in reach, and one that finds none gets a new one if its class
// makes volumes there.
func serve(claims []unbound, labels map[string]string) bool {
	taken := map[*corev1.PersistentVolume]bool{}
	for i := range claims {
		u := &claims[i]
		found := false
		for _, c := range u.candidates {
			if !taken[c.volume] && c.matches(labels) {
				taken[c.volume] = true
				found = true
				break
			}
		}
		if !found && (u.made == nil || !u.made.matches(labels)) {
			return false
		}
	}
	return true
}
