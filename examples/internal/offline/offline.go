// Package offline reads what programs work on that need neither a cloud nor a
// cluster: manifests, and instance types in place of a cloud's.
//
// The instance types are those that the fake cloud sells where the cluster is, or
// those of a file. On those of the fake cloud the spec.kubelet of EC2NodeClasses has its effect: the nodes of a
// NodePool have the pods and the overhead that its class says, as on EC2. Nothing
// else of a class has any.
package offline

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Files names what to read; "-" is standard input.
type Files struct {
	Manifests     []string // none is the sample
	InstanceTypes string   // empty is the catalog of the fake cloud
	Place         place.Asked
	Sample        []byte
}

// Faults lists what is wrong with the flags -f, -instance-types, -region and -zones.
func (f Files) Faults() []string {
	faults := command.Duplicates(f.Manifests)
	if f.InstanceTypes == "-" && slices.Contains(f.Manifests, "-") {
		faults = append(faults, `invalid value "-" for flag -instance-types: standard input holds the manifests already`)
	}
	if f.InstanceTypes != "" && f.Place.Given() {
		faults = append(faults, "-region and -zones say where the fake cloud sells; leave them out with -instance-types, which says so itself")
	}
	return faults
}

// World is what was read.
type World struct {
	Cluster *manifest.Cluster
	types   []*cloudprovider.InstanceType
	classes map[string]*kubeletOf // those whose spec.kubelet has a say, by name
	older   int                   // classes of other versions beside those
}

// Read reads the manifests and the instance types. Faults in either do not keep
// the other from being looked at.
func Read(files Files, stdin io.Reader) (*World, error) {
	w := &World{classes: map[string]*kubeletOf{}}
	sources, sourcesErr := manifest.Sources(files.Manifests, stdin, files.Sample)
	cluster, clusterErr := manifest.Read(rules(), sources...)
	types, typesErr := readTypes(files.InstanceTypes, stdin)
	if err := errors.Join(sourcesErr, clusterErr, typesErr); err != nil {
		return nil, err
	}
	w.Cluster, w.types = cluster, types
	var classes []*awsv1.EC2NodeClass
	for _, kind := range cluster.Ignored {
		if kind.Kind == classKind {
			classes = w.readClasses(sources, files.InstanceTypes)
		}
	}
	if files.InstanceTypes == "" {
		if err := w.sell(place.Find(cluster, classes, files.Place)); err != nil {
			return nil, err
		}
	}
	slices.Sort(w.Cluster.Notes)
	return w, nil
}

// Policies reads a file of policies for the cluster that was read: NodePools, NodeOverlays
// and EC2NodeClasses. Input of the answer has these and their catalogs, of the same instance
// types, and nothing else. Objects of other kinds in the file are counted as ignored.
func (w *World) Policies(file string, files Files, stdin io.Reader) (*World, error) {
	sources, err := manifest.Sources([]string{file}, stdin, nil)
	if err != nil {
		return nil, err
	}
	cluster, err := manifest.Read(rules(), sources...)
	if err != nil {
		return nil, err
	}
	out := &World{Cluster: cluster, types: w.types, classes: maps.Clone(w.classes)}
	if slices.ContainsFunc(cluster.Ignored, func(k manifest.KindCount) bool { return k.Kind == classKind }) {
		out.readClasses(sources, files.InstanceTypes)
	}
	slices.Sort(cluster.Notes)
	return out, nil
}

// sell takes the instance types that the fake cloud sells in a place.
func (w *World) sell(at place.Place) (err error) {
	if w.types, err = at.Catalog(); err == nil && at.Region != catalog.DefaultRegion {
		w.note("prices are those of %s, as those of %s are not known here; -instance-types takes others", catalog.DefaultRegion, at.Region)
	}
	return err
}

// rules are those of the provider that the manifests are written for.
func rules() *v1.Rules {
	return &v1.Rules{WellKnownLabels: catalog.WellKnownLabels(), RestrictedDomains: []string{catalog.LabelDomain}}
}

// readTypes reads the file of instance types if there is one.
func readTypes(file string, stdin io.Reader) ([]*cloudprovider.InstanceType, error) {
	if file == "" {
		return nil, nil
	}
	data, err := command.ReadFile(file, stdin)
	if err != nil {
		return nil, err
	}
	types, err := catalog.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return types, nil
}

// Input makes the engine's input. Every pool may launch every type.
func (w *World) Input() provisioning.Input {
	c := w.Cluster
	in := provisioning.Input{
		NodePools:     c.NodePools,
		InstanceTypes: make(map[string][]*cloudprovider.InstanceType, len(c.NodePools)),
		Nodes:         c.Nodes,
		Pods:          c.Pods,
		DaemonSetPods: c.DaemonSetPods,
		Namespaces:    c.Namespaces,
		Volumes:       c.Volumes,
		Devices:       c.Devices,
		Overlays:      c.Overlays,
		Buffers:       c.Buffers,
		Services:      c.Services,
		Controllers:   c.Controllers,
		Vocabulary:    fake.Vocabulary(),
	}
	in.Devices.Matcher = devicecel.New()
	catalogs := map[string][]*cloudprovider.InstanceType{} // by class
	for _, pool := range c.NodePools {
		class := w.class(pool)
		if class == nil {
			in.InstanceTypes[pool.Name] = w.types
			continue
		}
		if catalogs[class.name] == nil {
			catalogs[class.name] = class.apply(w.types)
		}
		in.InstanceTypes[pool.Name] = catalogs[class.name]
	}
	return in
}

// Remarks says what of the manifests had no say in the input.
func (w *World) Remarks() []string {
	var lines, kinds []string
	for _, k := range w.Cluster.Ignored {
		if k.Kind == classKind {
			k.Count -= len(w.classes) + w.older // those are in the notes
		}
		if k.Count > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.Count, k.Kind))
		}
	}
	if len(kinds) > 0 {
		lines = append(lines, "ignored "+strings.Join(kinds, ", "))
	}
	return append(lines, w.Cluster.Notes...)
}
