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

// Needs are the requirements of a pod's volumes on its node. The zero value requires nothing. It is
// immutable, and its slices must not be changed.
type Needs struct {
	// NodeName is the only node allowed, because a volume is about to be made for it; empty if any
	// node is allowed. kube-scheduler excludes every other node, even if this one is gone.
	NodeName string
	// Selected names the claim whose annotation selects NodeName, for errors.
	Selected string

	// Alternatives are sets of label requirements, of which a new node must satisfy one; nil if any
	// labels will do. None is Impossible. Sets that differ in one label only are merged into one
	// where a list of values can express it, and the result is sorted by text.
	//
	// If the volumes are on the disks of existing nodes, the Alternatives name these nodes by the
	// label kubernetes.io/hostname, which no new node satisfies. For an existing node use
	// Index.Admits.
	Alternatives []requirements.Set

	// Attach are the volumes to attach, sorted by driver.
	Attach []Attachment

	// Exclusive are the claims that only one pod may use (ReadWriteOncePod), as namespace/name,
	// sorted. No node can take the pod if Claims of a bound pod, or of a pod placed earlier, lists
	// any of them.
	Exclusive []string

	// Unbound are the claims whose volume is made where the first pod that uses them is placed, as
	// namespace/name, sorted. Pods that share one of them can be on one node; Reach says how far
	// apart they may be. Claims of ephemeral volumes, which no other pod can use, are left out.
	Unbound []string

	// Disks are disks that two pods on one node may not both use, unless both only read them.
	Disks []Disk

	bound   []bound
	zones   []zone
	unbound []unbound // smallest first
	present []presence
}

// Of computes the Needs of a pod. The error says in one line why no node can take the pod, with
// every claim at fault and how to correct it; it does not name the pod. With an error, only Attach,
// Exclusive, Unbound and Disks are valid, for the volumes without fault.
//
// In order:
//
//   - each volume of the pod is traced to its claim. The claim must exist, or be made by
//     Kubernetes for an ephemeral volume; it must not be deleted or Lost, and that of an ephemeral
//     volume must be owned by the pod;
//   - a claim that names its volume must be bound to it completely, and the
//     volume must exist;
//   - any other claim must be of a class that waits for the first consumer. If a node was
//     selected for the claim, no other node is allowed;
//   - the Alternatives of all claims are combined. If none is left, the claims contradict each
//     other. (kube-scheduler has one exception: on a node without any zone or region label it does
//     not read the zone labels of volumes. No plan relies on that.)
//
// Several claims of one pod never count on the same existing volume. Which volumes they can choose
// depends on sizes and selectors. kube-scheduler does not try all choices: it serves the smallest
// claim first and takes the smallest volume for each. For new nodes, the Alternatives may include a
// place where that choice fails although another succeeds.
//
// It takes time in proportion to the volumes of the pod and, for unbound claims, to the free
// volumes of their class.
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

// finish sorts and combines what was collected.
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

// Key returns a text that is equal for equal Needs only: two pods with equal Keys have the same
// requirements on every node.
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

// Admits says whether an existing node has the name and the labels that the Needs require. As in
// kube-scheduler, the labels are compared as they are. So Admits may refuse a node that has not
// started and lacks labels of CSI drivers, although the node is suitable once it is ready; compare
// the Alternatives for that.
//
// Limits of attachments, Exclusive claims and Disks are not checked.
//
// The Needs must be from the same Index. The name of the node selects its CSINode, which says
// whether CSI drivers serve in-tree volumes there and which drivers the node has. With starting,
// missing drivers are ignored.
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

// serve says whether a node can have a volume for each claim, by the procedure of kube-scheduler:
// the smallest claim first, each takes the smallest free volume that the node can reach, and a
// claim without one gets a new volume if its class makes volumes there.
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
