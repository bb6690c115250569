package nomination

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podkey"
)

// AnnotationKey is the annotation of a NodeClaim that lists its pods. Only Reserve and Review use
// its text.
const AnnotationKey = "dovetail-sdk.github.io/nominated-pods"

// group is equal pods: promised together, of one controller, with the same requests, and from the
// same node.
type group struct {
	// At is when they were promised. Of two promises to one pod the later one counts.
	At time.Time `json:"at"`
	// Owner is the controller; empty for pods without one, which are not recreated.
	Owner types.UID `json:"owner,omitempty"`
	// Size distinguishes pods of one controller with different requests.
	Size string `json:"size,omitempty"`
	// From is the node they run on and will be evicted from; empty for pending pods.
	From string `json:"from,omitempty"`
	// Pods are their UIDs, sorted.
	Pods []types.UID `json:"pods"`
	// Names are the names of Pods, in the same order, for pods that may be recreated under their
	// name, and empty for others (see mayReturnByName). It is nil if all are empty.
	Names []string `json:"names,omitempty"`
}

// name returns the name under which pod i may be recreated, or "".
func (g *group) name(i int) string {
	if len(g.Names) == 0 {
		return ""
	}
	return g.Names[i]
}

// add puts a pod into a group.
func (g *group) add(p *corev1.Pod) {
	i, have := slices.BinarySearch(g.Pods, p.UID)
	if have {
		return
	}
	name := ""
	if mayReturnByName(p) {
		name = p.Name
	}
	if len(g.Names) == 0 && name != "" {
		g.Names = make([]string, len(g.Pods))
	}
	g.Pods = slices.Insert(g.Pods, i, p.UID)
	if len(g.Names) > 0 || name != "" {
		g.Names = slices.Insert(g.Names, i, name)
	}
}

// without returns a copy of a group without some pods.
func (g group) without(gone map[types.UID]bool) group {
	out := g
	out.Pods, out.Names = nil, nil
	for i, uid := range g.Pods {
		if gone[uid] {
			continue
		}
		out.Pods = append(out.Pods, uid)
		if len(g.Names) > 0 {
			out.Names = append(out.Names, g.Names[i])
		}
	}
	return out
}

// groupsOf groups pods. The order does not depend on that of pods.
func groupsOf(pods []*corev1.Pod, at time.Time) []group {
	var out []group
	for _, p := range pods {
		g := group{At: at.UTC().Truncate(time.Second), Owner: owner(p), From: p.Spec.NodeName}
		if g.Owner != "" {
			g.Size = size(p)
		}
		i := slices.IndexFunc(out, func(o group) bool { return compareGroups(o, g) == 0 })
		if i < 0 {
			i, out = len(out), append(out, g)
		}
		out[i].add(p)
	}
	slices.SortFunc(out, compareGroups)
	return out
}

// compareGroups orders groups by all fields except their pods.
func compareGroups(a, b group) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Size, b.Size), cmp.Compare(a.From, b.From))
}

// owner returns the controller of a pod, or "".
func owner(p *corev1.Pod) types.UID {
	if c := metav1.GetControllerOf(p); c != nil {
		return c.UID
	}
	return ""
}

// returnsByName reports whether a pod is always recreated under its name: a pod of a StatefulSet,
// whose volumes depend on the name.
func returnsByName(p *corev1.Pod) bool {
	c := metav1.GetControllerOf(p)
	return c != nil && c.Kind == "StatefulSet"
}

// mayReturnByName reports whether a pod may be recreated under its name: its name was not
// generated. Operators make such pods, some for a volume and some with a new name each time.
func mayReturnByName(p *corev1.Pod) bool {
	return returnsByName(p) || p.GenerateName == "" && owner(p) != ""
}

// size returns a short key of a pod's requests.
func size(p *corev1.Pod) string {
	var w podkey.Writer
	w.Requests(p)
	h := fnv.New64a()
	h.Write(w.Buf)
	return strconv.FormatUint(h.Sum64(), 36)
}

// write returns the text of groups, or "" for none.
func write(groups []group) string {
	if len(groups) == 0 {
		return ""
	}
	text, err := json.Marshal(groups)
	if err != nil {
		return "" // fails only for a year beyond 9999, which Reserve refuses
	}
	return string(text)
}

// read parses the text of write. It refuses unknown fields, because a newer version may have
// written them.
func read(text string) ([]group, error) {
	if text == "" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	var groups []group
	if err := d.Decode(&groups); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the list")
	}
	for i, g := range groups {
		if g.At.IsZero() {
			return nil, fmt.Errorf("[%d].at: missing", i)
		}
		if len(g.Pods) == 0 {
			return nil, fmt.Errorf("[%d].pods: missing", i)
		}
		if len(g.Names) > 0 && len(g.Names) != len(g.Pods) {
			return nil, fmt.Errorf("[%d].names: %d for %d pods", i, len(g.Names), len(g.Pods))
		}
		if slices.Contains(g.Pods, "") {
			return nil, fmt.Errorf("[%d].pods: a UID is empty", i)
		}
	}
	return groups, nil
}
