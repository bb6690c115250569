package fleet

import (
	"cmp"
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/internal/nodeindex"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// keptFor is how long replacements of a command, and nodes on which kube-scheduler preempts pods,
// are nominated. The next Read comes long before that.
const keptFor = 10 * time.Second

// Objects has all objects of each kind in a cluster, in any order. They must have UIDs, because
// promises identify pods by them. Nil entries are passed over.
type Objects struct {
	NodeClaims           []*v1.NodeClaim
	Nodes                []*corev1.Node
	Pods                 []*corev1.Pod
	DaemonSets           []*appsv1.DaemonSet
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget

	// RuntimeClasses add their overhead, node selector and tolerations to the pods of DaemonSets.
	// Optional: without them these are not counted.
	RuntimeClasses []*nodev1.RuntimeClass

	// VolumeAttachments and PersistentVolumeClaims are for Leave, which waits until volumes are
	// detached. Leave does not wait for volumes of pods that stay until their machine ends; the
	// claims link pods to volumes.
	VolumeAttachments      []*storagev1.VolumeAttachment
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
}

// withoutNil returns the objects without nil entries.
func (o Objects) withoutNil() Objects {
	o.NodeClaims, o.Nodes, o.Pods, o.DaemonSets = given(o.NodeClaims), given(o.Nodes), given(o.Pods), given(o.DaemonSets)
	o.PodDisruptionBudgets, o.RuntimeClasses = given(o.PodDisruptionBudgets), given(o.RuntimeClasses)
	o.VolumeAttachments, o.PersistentVolumeClaims = given(o.VolumeAttachments), given(o.PersistentVolumeClaims)
	return o
}

// given returns a list without nil entries, the list itself if there are none.
func given[T any](list []*T) []*T {
	if !slices.Contains(list, nil) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(o *T) bool { return o == nil })
}

// Fleet is a cluster at an instant. An object with a UID and a resourceVersion is a shallow copy of
// the one in Objects, and the same copy at each Read with that version. So Memory does not retain
// the lists that were passed to Read.
type Fleet struct {
	Objects

	// Input has Nodes, Pods, DaemonSetPods, PodDisruptionBudgets, MarkedForDeletion, Nominations,
	// PodEvents and UnavailableOfferings. The caller adds the rest before Prepare and Propose: at
	// least NodePools, with v1.NodePool.Default called, and InstanceTypes. Its pods have no
	// tolerations of promises: see nomination.Plain.
	Input disruption.Input
	// Promises are the present promises.
	Promises nomination.State
	// Hints are the places of Promises.Pods whose node exists, and whose pod has its toleration but
	// not the name of the node yet: write status.nominatedNodeName. kube-scheduler clears the name
	// after a failure, and the hint is not repeated. There are at most HintsAtOnce.
	Hints []nomination.Place
	// Commands are the commands under way, and writes that clear leftovers.
	Commands command.Recovery
	// Memory is for the next Read. Bind, PutOff, Refuse, SoldOut and News add to it.
	Memory Memory
	// Now is when it was read.
	Now time.Time

	claims   map[string]*v1.NodeClaim
	nodes    map[string]*corev1.Node
	index    nodeindex.Index
	podsOn   map[string][]*corev1.Pod
	promised map[types.UID]bool
	lost     map[types.UID]bool // NodeClaims whose machine the cloud has not

	preempting []*corev1.Pod
}

// Read makes a Fleet, in this order: it reviews promises; it joins Nodes, NodeClaims and pods, with
// each pod on its promised node; pods without a node and without promise that are neither gated,
// nor being deleted, nor preempting become Input.Pods; it finds commands in their records; and it
// determines the last pod event of each NodeClaim with a Node.
//
// The error joins those of nomination.Review and provisioning.Match, and one of
// provisioning.Admitted for each DaemonSet whose pods the API server would refuse, which is left
// out. The Fleet is valid for all other objects. Its time grows with the objects like that of
// nomination.Review.
func Read(now time.Time, o Objects, m Memory) (*Fleet, error) {
	o = o.withoutNil()
	seen, refused := m.seen.next(&o)
	f := &Fleet{Objects: o, Memory: m.live(o.Pods, now), Now: now, claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}, index: nodeindex.New(o.Nodes), podsOn: map[string][]*corev1.Pod{}, promised: map[types.UID]bool{}, lost: map[types.UID]bool{}}
	for _, c := range o.NodeClaims {
		f.claims[c.Name] = c
	}
	for _, n := range o.Nodes {
		f.nodes[n.Name] = n
	}
	for _, p := range o.Pods {
		if p.Spec.NodeName != "" {
			f.podsOn[p.Spec.NodeName] = append(f.podsOn[p.Spec.NodeName], p)
		}
	}
	f.Memory.seen = seen
	for _, ds := range o.DaemonSets {
		if pod := seen.daemons[ds]; pod != nil {
			f.Input.DaemonSetPods = append(f.Input.DaemonSetPods, pod)
		}
	}
	f.Input.PodDisruptionBudgets, f.Input.UnavailableOfferings = o.PodDisruptionBudgets, f.Memory.shortages
	errs := [3]error{2: refused}
	f.Promises, errs[0] = nomination.Review(now, nomination.Input{NodeClaims: o.NodeClaims, Nodes: o.Nodes, Pods: o.Pods, Refused: f.Memory.givenUp(), Bindings: m.bindings}, nil)
	f.Memory.bindings = f.Promises.Bindings
	f.hint()
	errs[1] = f.join()
	f.decide()
	f.watch()
	return f, errors.Join(errs[:]...)
}

// join fills Input.Nodes and Input.Pods. Promises of nodes that are gone are ignored.
func (f *Fleet) join() error {
	plain := make([]*corev1.Pod, len(f.Objects.Pods))
	for i, p := range f.Objects.Pods {
		plain[i] = cmp.Or(f.Memory.seen.plain[p], p)
	}
	joined, err := provisioning.Match(f.Objects.Nodes, f.NodeClaims, plain)
	index := map[string]int{}
	for i, n := range joined.Nodes {
		index[n.Name()] = i
		if n.NodeClaim != nil {
			index[n.NodeClaim.Name] = i
		}
	}
	for _, place := range slices.Concat(f.Promises.Pods, f.Promises.Moving) {
		to, ok := index[cmp.Or(place.Node, place.NodeClaim)]
		if !ok {
			continue
		}
		f.promised[place.Pod.UID] = true
		if from, ok := index[place.Pod.Spec.NodeName]; ok {
			joined.Nodes[from].Pods = slices.DeleteFunc(joined.Nodes[from].Pods, func(p *corev1.Pod) bool { return p.UID == place.Pod.UID })
		}
		there := *nomination.Plain(place.Pod)
		there.Spec.NodeName = joined.Nodes[to].Name()
		joined.Nodes[to].Pods = append(joined.Nodes[to].Pods, &there)
	}
	f.Input.Nodes, f.preempting = joined.Nodes, joined.Preempting
	for _, p := range joined.Pending {
		if p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0 && !f.promised[p.UID] {
			f.Input.Pods = append(f.Input.Pods, p)
		}
	}
	return err
}

// decide finds commands and sets the fields of Input that depend on them.
func (f *Fleet) decide() {
	f.Commands = command.Recover(f.CommandInput())
	f.Input.MarkedForDeletion = map[string]disruption.Reason{}
	kept := f.Promises.Nominations()
	keep := func(node string) {
		if until := f.Now.Add(keptFor); until.After(kept[node]) {
			kept[node] = until
		}
	}
	for _, c := range f.Commands.Commands {
		for _, source := range c.Sources {
			f.Input.MarkedForDeletion[cmp.Or(source.Node, source.NodeClaim)] = disruption.Reason(c.Reason)
		}
		for _, r := range c.Replacements {
			name := r.Token
			if claim := f.claims[name]; claim != nil {
				if node := f.NodeOf(claim); node != nil {
					name = node.Name
				}
			}
			keep(name)
		}
	}
	for _, p := range f.preempting { // its node would be removed as empty when the preempted pods have ended
		keep(p.Status.NominatedNodeName)
	}
	f.Input.Nominations = kept
}

// watch notes the last pod events of nodes.
func (f *Fleet) watch() {
	before, known := f.Memory.pods, f.Memory.events
	f.Memory.pods, f.Memory.events = f.podsOn, map[string]time.Time{}
	for _, claim := range f.NodeClaims {
		node := f.NodeOf(claim)
		if node == nil {
			continue
		}
		at := nodeclaim.LastPodEvent(f.Now, claim, before[node.Name], f.podsOn[node.Name])
		if known[node.Name].After(at) {
			at = known[node.Name]
		}
		f.Memory.events[node.Name] = at
	}
	f.Input.PodEvents = f.Memory.events
}

// Claim returns a NodeClaim by name, or nil.
func (f *Fleet) Claim(name string) *v1.NodeClaim { return f.claims[name] }

// Node returns a Node by name, or nil.
func (f *Fleet) Node(name string) *corev1.Node { return f.nodes[name] }

// NodeOf returns the Node of a NodeClaim as provisioning.Match finds it, or nil if it has not joined or
// is gone.
func (f *Fleet) NodeOf(claim *v1.NodeClaim) *corev1.Node { return f.index.Of(claim) }

// Stored returns pods of a plan as they are in the cluster, in the order of Objects.Pods, without
// those that are gone. In a plan the pods of removed nodes are pending, but a promise needs the
// name of their present node.
func (f *Fleet) Stored(pods []*corev1.Pod) (out []*corev1.Pod) {
	wanted := map[types.UID]bool{}
	for _, p := range pods {
		wanted[p.UID] = true
	}
	for _, p := range f.Objects.Pods {
		if wanted[p.UID] {
			out = append(out, p)
		}
	}
	return out
}

// Waiting returns the pods that need a plan: Input.Pods and the pods of disruption.Displaced,
// without those that have a promised node or are put off. Plan with Problem.With and the displaced
// pods.
func (f *Fleet) Waiting() []*corev1.Pod {
	out := slices.Concat(f.Input.Pods, f.Stored(disruption.Displaced(f.Now, f.Input)))
	return slices.DeleteFunc(out, func(p *corev1.Pod) bool { return f.promised[p.UID] || f.Now.Before(f.Memory.putOff[p.UID]) })
}

// CommandInput returns the input of commands: all NodeClaims and Nodes. A replacement that is ready except
// for the taint of its promises counts as initialized, because its pods have yet to be evicted.
func (f *Fleet) CommandInput() (v command.Input) {
	filling := map[string]bool{}
	for _, n := range f.Promises.Nodes {
		filling[n.NodeClaim] = n.Phase == nomination.Filling
	}
	for _, claim := range f.NodeClaims {
		node, moving := f.NodeOf(claim), 0
		if node != nil {
			for _, p := range f.podsOn[node.Name] {
				if podlife.Moves(p) {
					moving++
				}
			}
		}
		c := command.ObserveClaim(claim, node, moving)
		c.Initialized = c.Initialized || filling[claim.Name]
		v.Claims = append(v.Claims, c)
	}
	for _, node := range f.Objects.Nodes {
		v.Nodes = append(v.Nodes, command.ObserveNode(node))
	}
	return v
}
