package manifest

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// MaxPods limits the number of pods that one reading may add for workloads, so that a typing error
// in spec.replicas is reported.
const MaxPods = 200_000

// Source is a named text to read.
type Source struct {
	Name string // for messages: a file name, or "-" for standard input
	Data []byte
}

// Cluster is the content of the sources, ready for planning. The pods of one workload share memory;
// treat all of it as read-only.
type Cluster struct {
	// Input has the objects, each list sorted by namespace and name, Controllers by UID. The caller
	// adds InstanceTypes and the Vocabulary.
	//
	//   - Nodes joins Nodes, their NodeClaims and the pods bound to them. Nodes that are being deleted
	//     are included: they take no pods, but count for limits and topology until they are gone.
	//   - Pods are the pods to place: the pending pods of the input, and the pods that workloads still
	//     lack. Depart adds those of nodes that are being deleted.
	//   - DaemonSetPods holds one pod for each DaemonSet, and Buffers the CapacityBuffers, resolved.
	//   - Volumes include the claims that StatefulSets will make for pending pods.
	//   - Controllers are the ReplicaSets, StatefulSets and ReplicationControllers that have
	//     selectors, and the ReplicaSets that Deployments will make. Those without a UID get one
	//     computed from their name.
	//   - Devices are selected by package devicecel.
	disruption.Input

	// Classes are the EC2NodeClasses that can be read, sorted by name, and ClassObjects all of any
	// version, in the order of the input.
	Classes      []*awsv1.EC2NodeClass
	ClassObjects []*Object

	// Ignored counts the objects of kinds that do not affect a plan, sorted by kind.
	Ignored []KindCount

	// Notes are remarks on the input, one line each. They are not faults.
	Notes []string

	ranks  map[string]int   // by source name: its place in the order of reading
	places map[string]place // by the name that the engine uses for an object
}

// KindCount is a number of objects of one kind.
type KindCount struct {
	Kind  string
	Count int
}

// Rules are a provider's additions to the validation of its kinds; nil adds nothing.
type Rules struct {
	NodePools    *v1.Rules // for NodeClaims as well
	NodeOverlays *v1.Rules
	Classes      bool // faults of EC2NodeClasses are faults; otherwise they are notes
}

// Read reads a cluster from all sources together. If any source has a fault, the error is of type
// Faults and lists all of them, and the Cluster is nil. A source without any object is a fault too,
// because it usually means that the command which should have written it failed.
//
// rules are the provider's additions to validation.
func Read(rules Rules, sources ...Source) (*Cluster, error) {
	r := &reader{
		kinds:   kinds(rules),
		rules:   rules,
		seen:    map[string]*Object{},
		ignored: map[string]int{},
		found:   objects{},
		cluster: &Cluster{ranks: map[string]int{}, places: map[string]place{}},
	}
	for i, s := range sources {
		if _, seen := r.cluster.ranks[s.Name]; !seen {
			r.cluster.ranks[s.Name] = i
		}
		r.read(s)
	}
	r.judgeOlder()
	// A workload that could not be read is missing from the picture, and what
	// depends on it would be reported as wrong. So only a clean reading goes on.
	if len(r.faults) == 0 {
		r.assemble()
	}
	if len(r.faults) > 0 {
		return nil, r.faults.rendered(sources).sorted(r.cluster.ranks)
	}
	return r.cluster, nil
}

// reader is the state of one Read.
type reader struct {
	kinds   map[string]kind
	rules   Rules
	older   []older
	seen    map[string]*Object // by kind, namespace and name
	found   objects
	ignored map[string]int
	faults  Faults
	cluster *Cluster
}

// assemble makes the cluster from the decoded objects.
func (r *reader) assemble() {
	c := r.cluster
	c.NodePools = values[*v1.NodePool](r.found)
	for _, kind := range sortedKeys(r.ignored) {
		c.Ignored = append(c.Ignored, KindCount{Kind: kind, Count: r.ignored[kind]})
	}
	r.surround()
	r.join()
	r.expand()
	each(r.found, func(d item[*appsv1.DaemonSet]) { // for each, one pod stands for those that it runs
		if t := r.newTemplate(d.Object, d.value, &d.value.Spec.Template); t != nil {
			t.OwnerReferences[0].UID = d.value.UID                                 // a made one would be that of no pod: without one the name decides
			c.DaemonSetPods = append(c.DaemonSetPods, t.pod(member{name: d.Name})) // the engine adds tolerations
			c.places["DaemonSet Pod "+d.Namespace+"/"+d.Name] = place{d.Object, "spec.template"}
		}
	})
	slices.SortFunc(c.Pods, compareNames)
	r.addClaims()
	r.addBuffers()
	r.prioritize()
	r.noteRuntimes()
	c.Devices.Matcher = devicecel.New()
	slices.SortFunc(c.Controllers, func(a, b provisioning.Controller) int { return cmp.Compare(a.UID, b.UID) })
	slices.Sort(c.Notes)
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// ReadFiles reads a cluster from the named files, as Sources and Read do. The error has the faults of
// both.
func ReadFiles(rules Rules, names []string, stdin io.Reader, sample []byte) (*Cluster, error) {
	sources, err := Sources(names, stdin, sample)
	cluster, faults := Read(rules, sources...)
	if err := errors.Join(err, faults); err != nil {
		return nil, err
	}
	return cluster, nil
}

// Sources reads the named files, "-" being standard input. Without names it returns the sample. If
// a file cannot be read, the others are still read; the error joins all failures.
func Sources(names []string, stdin io.Reader, sample []byte) ([]Source, error) {
	if len(names) == 0 {
		return []Source{{Name: "sample.yaml", Data: sample}}, nil
	}
	var errs []error
	var sources []Source
	for _, name := range names {
		data, err := command.ReadFile(name, stdin)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sources = append(sources, Source{Name: name, Data: data})
	}
	return sources, errors.Join(errs...)
}
