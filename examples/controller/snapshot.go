package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nodepool"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// watched are the kinds that a snapshot is made of.
func watched() []client.Object {
	return []client.Object{&v1.NodePool{}, &v1.NodeClaim{}, &corev1.Node{}, &corev1.Pod{}, &appsv1.DaemonSet{}, &policyv1.PodDisruptionBudget{},
		&corev1.Namespace{}, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolume{}, &storagev1.StorageClass{}, &storagev1.CSINode{}}
}

// snapshot is the cluster at the beginning of a pass. Objects are those of the caches,
// and read-only.
type snapshot struct {
	now      time.Time
	in       disruption.Input // what decisions are made from
	pools    []*v1.NodePool   // as they are stored
	classes  map[string]error // why the class of a pool cannot be used
	claims   []*v1.NodeClaim
	nodes    map[string]*corev1.Node
	pods     []*corev1.Pod
	podsOn   map[string][]*corev1.Pod // as they are stored, by Node
	promises nomination.State
	promised map[types.UID]bool // pods that count as being on another node
	commands command.Recovery
}

// all lists the objects of a kind, uncopied.
func all[T any, L client.ObjectList](ctx context.Context, c client.Reader, list L, items func(L) []T, errs *error) (out []*T) {
	*errs = errors.Join(*errs, c.List(ctx, list, client.UnsafeDisableDeepCopy))
	have := items(list)
	for i := range have {
		out = append(out, &have[i])
	}
	return out
}

// snapshot reads the caches. They show what this process has written.
func (a *autoscaler) snapshot(ctx context.Context, now time.Time) (*snapshot, error) {
	var err error
	s := &snapshot{now: now, nodes: map[string]*corev1.Node{}, podsOn: map[string][]*corev1.Pod{}}
	in := &s.in
	s.pods = all(ctx, a, &corev1.PodList{}, func(l *corev1.PodList) []corev1.Pod { return l.Items }, &err)
	nodes := all(ctx, a, &corev1.NodeList{}, func(l *corev1.NodeList) []corev1.Node { return l.Items }, &err)
	s.claims = all(ctx, a, &v1.NodeClaimList{}, func(l *v1.NodeClaimList) []v1.NodeClaim { return l.Items }, &err)
	s.pools = all(ctx, a, &v1.NodePoolList{}, func(l *v1.NodePoolList) []v1.NodePool { return l.Items }, &err)
	in.PodDisruptionBudgets = all(ctx, a, &policyv1.PodDisruptionBudgetList{}, func(l *policyv1.PodDisruptionBudgetList) []policyv1.PodDisruptionBudget { return l.Items }, &err)
	in.Namespaces = all(ctx, a, &corev1.NamespaceList{}, func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }, &err)
	in.Volumes.Claims = all(ctx, a, &corev1.PersistentVolumeClaimList{}, func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items }, &err)
	in.Volumes.Volumes = all(ctx, a, &corev1.PersistentVolumeList{}, func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items }, &err)
	in.Volumes.Classes = all(ctx, a, &storagev1.StorageClassList{}, func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }, &err)
	in.Volumes.CSINodes = all(ctx, a, &storagev1.CSINodeList{}, func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items }, &err)
	for _, ds := range all(ctx, a, &appsv1.DaemonSetList{}, func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, &err) {
		pod := &corev1.Pod{ObjectMeta: *ds.Spec.Template.ObjectMeta.DeepCopy(), Spec: ds.Spec.Template.Spec}
		pod.Namespace, pod.Name = ds.Namespace, ds.Name
		in.DaemonSetPods = append(in.DaemonSetPods, resources.WithDefaultRequests(pod))
	}
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		s.nodes[n.Name] = n
	}
	for _, p := range s.pods {
		if p.Spec.NodeName != "" {
			s.podsOn[p.Spec.NodeName] = append(s.podsOn[p.Spec.NodeName], p)
		}
	}
	a.readPools(ctx, s)
	a.readPromises(ctx, s, nodes)
	a.readNodes(ctx, s, nodes)
	a.readDisruption(s)
	return s, nil
}

// readPools takes up the NodePools, with conditions as they should be by now: one that
// cannot be used launches nothing, and keeps no other from it.
func (a *autoscaler) readPools(ctx context.Context, s *snapshot) {
	s.in.Vocabulary = cloudprovider.Vocabulary(a.cloud)
	s.in.InstanceTypes, s.classes = map[string][]*cloudprovider.InstanceType{}, map[string]error{}
	for _, stored := range s.pools {
		pool := stored.DeepCopy()
		pool.Default()
		if len(pool.Validate()) > 0 {
			pool.Spec.Template.Spec.Requirements = nil // nothing that cannot be read
		} else if types, err := a.classAndTypes(ctx, pool); err != nil {
			s.classes[pool.Name] = err
		} else {
			s.in.InstanceTypes[pool.Name] = a.stock.Apply(types)
		}
		pool.Status = nodepool.Edit(stored, s.classes[pool.Name], nil, s.now).Status
		s.in.NodePools = append(s.in.NodePools, pool)
	}
}

// classAndTypes is what the cloud sells to a pool.
func (a *autoscaler) classAndTypes(ctx context.Context, pool *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := cloudprovider.NodeClassReady(ctx, a.cloud, *pool.Spec.Template.Spec.NodeClassRef); err != nil {
		return nil, err
	}
	return a.cloud.InstanceTypes(ctx, pool)
}

// readPromises finds which pods a node is promised to.
func (a *autoscaler) readPromises(ctx context.Context, s *snapshot, nodes []*corev1.Node) {
	in := nomination.Input{NodeClaims: s.claims, Nodes: nodes, Pods: s.pods, Refused: a.refused, Bindings: a.bindings}
	var err error
	if s.promises, err = nomination.Review(in, s.now, nil); err != nil {
		a.failed(ctx, "review promises", err)
	}
	a.bindings = s.promises.Bindings
}

// readNodes joins Nodes, NodeClaims and pods. Pods that a node is promised to count as
// if they were there, also those that still run on a node that goes: the others are
// planned around them.
func (a *autoscaler) readNodes(ctx context.Context, s *snapshot, nodes []*corev1.Node) {
	plain := make([]*corev1.Pod, len(s.pods))
	for i, p := range s.pods {
		plain[i] = nomination.Plain(p)
	}
	joined, err := provisioning.Join(nodes, s.claims, plain)
	if err != nil {
		a.failed(ctx, "join nodes, claims and pods", err)
	}
	index := map[string]int{}
	for i, n := range joined.Nodes {
		index[n.Name()] = i
		if n.NodeClaim != nil {
			index[n.NodeClaim.Name] = i
		}
	}
	s.promised = map[types.UID]bool{}
	for _, place := range slices.Concat(s.promises.Pods, s.promises.Moving) {
		to, ok := index[cmp.Or(place.Node, place.NodeClaim)]
		if !ok {
			continue
		}
		s.promised[place.Pod.UID] = true
		if from, ok := index[place.Pod.Spec.NodeName]; ok {
			joined.Nodes[from].Pods = slices.DeleteFunc(joined.Nodes[from].Pods, func(p *corev1.Pod) bool { return p.UID == place.Pod.UID })
		}
		there := *nomination.Plain(place.Pod)
		there.Spec.NodeName = joined.Nodes[to].Name()
		joined.Nodes[to].Pods = append(joined.Nodes[to].Pods, &there)
	}
	s.in.Nodes = joined.Nodes
	for _, p := range joined.Pending {
		if p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0 && !s.promised[p.UID] {
			s.in.Pods = append(s.in.Pods, p)
		}
	}
}

// readDisruption adds what decisions about nodes need to know beside.
func (a *autoscaler) readDisruption(s *snapshot) {
	s.commands = command.Recover(s.view())
	s.in.MarkedForDeletion = map[string]disruption.Reason{}
	kept := disruption.Nominations(s.promises.Nominations())
	for _, c := range s.commands.Commands {
		for _, source := range c.Sources {
			s.in.MarkedForDeletion[cmp.Or(source.Node, source.NodeClaim)] = disruption.Reason(c.Reason)
		}
		for _, r := range c.Replacements {
			name := r.Token
			if claim := s.claim(name); claim != nil {
				name = cmp.Or(claim.Status.NodeName, name)
			}
			kept = kept.Keep(name, s.now.Add(lookEvery))
		}
	}
	a.watchPods(s)
	s.in.Nominations, s.in.PodEvents, s.in.Drift = kept, a.podEvents, a.drift
	s.in.UnavailableOfferings, s.in.CatalogCache, s.in.RepairPolicies = a.shortages, a.catalogs, cloudprovider.RepairPolicies(a.cloud)
}

// watchPods notes when pods, not of DaemonSets, come to a node or leave it, beyond what
// is on record.
func (a *autoscaler) watchPods(s *snapshot) {
	events := map[string]time.Time{}
	for _, claim := range s.claims {
		if node := s.nodeOf(claim); node != nil {
			events[node.Name] = nodeclaim.LastPodEvent(claim, a.podsOn[node.Name], s.podsOn[node.Name], s.now)
			if known := a.podEvents[node.Name]; known.After(events[node.Name]) {
				events[node.Name] = known
			}
		}
	}
	a.podsOn, a.podEvents = s.podsOn, events
}

func ofDaemonSet(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "DaemonSet"
}

// claim is a NodeClaim by name, nil if there is none.
func (s *snapshot) claim(name string) *v1.NodeClaim {
	i := slices.IndexFunc(s.claims, func(c *v1.NodeClaim) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return s.claims[i]
}

// view is what commands look at. A replacement that is ready but for its promises
// counts as initialized: the pods that it is promised to are still to be evicted.
func (s *snapshot) view() (v command.View) {
	filling := map[string]bool{}
	for _, n := range s.promises.Nodes {
		filling[n.NodeClaim] = n.Phase == nomination.Filling
	}
	for _, claim := range s.claims {
		node := s.nodes[claim.Status.NodeName]
		moving := 0
		for _, p := range s.podsOn[claim.Status.NodeName] {
			if !ofDaemonSet(p) {
				moving++
			}
		}
		c := command.ObserveClaim(claim, node, moving)
		c.Initialized = c.Initialized || filling[claim.Name]
		v.Claims = append(v.Claims, c)
	}
	for _, node := range s.nodes { // in any order
		v.Nodes = append(v.Nodes, command.ObserveNode(node))
	}
	return v
}

func key(o client.Object) string { return fmt.Sprint(client.ObjectKeyFromObject(o)) }
