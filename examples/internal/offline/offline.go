// Package offline reads the input of programs that need neither a cloud nor a cluster: manifests,
// and a catalog of instance types.
//
// The instance types are those of the fake cloud in the zones of the cluster, or those of a file.
// From the fake cloud, package aws/classtypes makes the instance types of a NodePool by its
// EC2NodeClass, with the code of the AWS provider:
//
//   - spec.kubelet and the image family determine the number of pods and the overhead;
//   - blockDeviceMappings and instanceStorePolicy determine the ephemeral storage;
//   - the subnets in the status determine the zones;
//   - the images and the other settings of the class determine which instance types remain.
package offline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/manifest"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Files names the files to read; "-" is standard input.
type Files struct {
	Manifests      []string // empty for the sample
	InstanceTypes  string   // empty for the catalog of the fake cloud
	Place          place.Asked
	InstancePrices bool      // leave out of prices what a node costs in addition to its instance
	AsPools        bool      // read node groups as NodePools
	Now            time.Time // instant to decide at; zero for the present, or that of the sample
	Sample         []byte
}

// sampled is the instant of the samples.
var sampled = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// Flags declares -f, -instance-types, -region, -zones, -bill, -as-pools and -now.
func (f *Files) Flags(set *flag.FlagSet) {
	command.Files(set, &f.Manifests, "manifests")
	set.StringVar(&f.InstanceTypes, "instance-types", "", "`FILE` take instance types and prices from FILE instead of the fake cloud's catalog")
	f.Place.Flags(set)
	set.BoolFunc("bill", "`=false` take the prices of instances alone. Otherwise prices include the volumes and the public address of a node where its EC2NodeClass is read", func(text string) error {
		bill, err := strconv.ParseBool(text)
		f.InstancePrices = !bill
		return err
	})
	command.Time(set, "now", &f.Now, "`TIME` the instant to decide at, such as 2026-03-02T12:00:00Z. Default: when the sample was taken, or else the present")
	set.BoolVar(&f.AsPools, "as-pools", false, "read each node group of EKS, GKE or AKS as a NodePool of the instance types and zones of its nodes")
}

// Check lists what is wrong with the flags -f, -instance-types, -region and -zones.
func (f Files) Check(faults *command.Faults) {
	faults.Twice(f.Manifests)
	faults.If(f.InstanceTypes == "-" && slices.Contains(f.Manifests, "-"), `invalid value "-" for flag -instance-types: standard input holds the manifests already`)
	faults.If(f.InstanceTypes != "" && f.Place.Given(), "-region and -zones say where the fake cloud sells; leave them out with -instance-types, which says so itself")
	f.Place.Check(faults)
}

// World is the input that was read.
type World struct {
	Cluster *manifest.Cluster
	Now     time.Time                                // instant to decide at, in UTC
	Present bool                                     // Now is the present
	types   []*cloudprovider.InstanceType            // of pools without a class, or whose class is not used
	classes map[string][]*cloudprovider.InstanceType // by class name
	region  string
	market  *market         // nil until a class is used
	rates   *nodecost.Rates // rates of what a node has in addition to its instance; nil if that does not count
	bill    bool            // some class, of the cluster or of its Policies, defines volumes or other parts with a price
	extras  []string        // costs of nodes in addition to their instances, by class
	given   bool            // the instance types were read from a file
	devices bool            // drivers of dynamic resource allocation run in the cluster
	auto    bool            // EKS Auto Mode launches nodes of a pool of the cluster or of its Policies
}

// Open reads the input as Read does, for a program that decides at an instant: the pods of departing
// nodes are pending. Remarks on the input go to stderr.
func Open(program string, files Files, stdin io.Reader, stderr io.Writer) (*World, error) {
	w, err := Read(files, stdin)
	if err == nil {
		w.Say(program, stderr, append(w.Remarks(), w.Cluster.Depart(w.Now)...)...)
	}
	return w, err
}

// Say writes remarks of a program to stderr, one line each. Empty ones are left out.
func (w *World) Say(program string, stderr io.Writer, remarks ...string) {
	for _, line := range remarks {
		if line != "" {
			command.Say(stderr, program+": "+line)
		}
	}
}

// Read reads the manifests and the instance types. It reports the faults of both together.
func Read(files Files, stdin io.Reader) (*World, error) {
	w := &World{Now: files.Now.UTC(), classes: map[string][]*cloudprovider.InstanceType{}, given: files.InstanceTypes != ""}
	switch {
	case !files.Now.IsZero():
	case len(files.Manifests) == 0:
		w.Now = sampled
	default:
		w.Now, w.Present = time.Now().UTC().Truncate(time.Second), true
	}
	cluster, err := manifest.ReadFiles(rules(), files.Manifests, stdin, files.Sample)
	types, typesErr := readTypes(files.InstanceTypes, stdin)
	if err := errors.Join(err, typesErr); err != nil {
		return nil, err
	}
	w.Cluster, w.types, w.auto = cluster, types, slices.ContainsFunc(cluster.NodePools, ofAutoMode)
	w.devices = len(cluster.Devices.Classes) > 0
	if files.AsPools {
		w.asPools()
	}
	if files.InstancePrices {
		w.types = pricing.AddNodeCost(w.types, func(*cloudprovider.InstanceType) float64 { return 0 })
	} else {
		w.rates = nodecost.BuiltIn()
	}
	if files.InstanceTypes == "" {
		at := place.Find(cluster, files.Place)
		if w.types, err = at.Catalog(); err != nil {
			return nil, err
		}
		if w.region = at.Region; w.region != catalog.DefaultRegion {
			w.note("prices are those of %s, as those of %s are not known here; -instance-types takes others", catalog.DefaultRegion, w.region)
		}
		if len(files.Place.Zones) == 0 {
			w.noteZones(at)
		}
		if w.devices {
			if err := w.publish(); err != nil {
				return nil, err
			}
		}
	}
	return w, w.launchable(files)
}

// launchable makes the instance types of classes, unless instance types were read from a file.
func (w *World) launchable(files Files) (err error) {
	if files.InstanceTypes == "" {
		err = w.stock(len(files.Place.Zones) > 0)
	} else if n := len(w.Cluster.Classes); n > 0 {
		w.note("%d EC2NodeClass without a say: the instance types are taken as %s has them", n, files.InstanceTypes)
	}
	w.noteProviders()
	slices.Sort(w.Cluster.Notes)
	return err
}

// Policies reads a file of policies for the cluster: NodePools, NodeOverlays and EC2NodeClasses.
// Input of the result has these objects and their catalogs, made from the same instance types, and
// nothing else. Objects of other kinds are counted as ignored. Call Policies before Input of either
// World, because each World knows the labels of the pools of both.
func (w *World) Policies(file string, files Files, stdin io.Reader) (*World, error) {
	cluster, err := manifest.ReadFiles(rules(), []string{file}, stdin, nil)
	if err != nil {
		return nil, err
	}
	w.auto = w.auto || slices.ContainsFunc(cluster.NodePools, ofAutoMode)
	out := *w
	out.Cluster, out.classes, out.extras = cluster, maps.Clone(w.classes), nil
	err = out.launchable(files)
	w.bill = out.bill
	return &out, err
}

// noteZones adds a note on NodePools that can launch in none of the zones found in the manifests.
// If all nodes are in one zone, the other zones are unknown.
func (w *World) noteZones(at place.Place) {
	var names []string
	for _, z := range at.Zones {
		names = append(names, z.Name)
	}
	for _, pool := range w.Cluster.NodePools {
		asked, err := requirements.FromNodePool(pool, w.vocabulary())
		if err != nil {
			continue // which is a fault
		}
		if zone, found := asked.Get(corev1.LabelTopologyZone); found && !slices.ContainsFunc(names, zone.Has) {
			w.note("NodePool %s can launch in none of the zones that the manifests name (%s); -zones names all zones of the cluster", pool.Name, strings.Join(names, ", "))
		}
	}
}

// rules returns the validation rules of the provider of the manifests.
func rules() manifest.Rules {
	overlays := awsv1.NodeOverlayRules()
	overlays.WellKnownLabels = append(overlays.WellKnownLabels, catalog.LabelInstanceNitroEnclavesSupported)
	return manifest.Rules{NodePools: catalog.NodePoolRules(), NodeOverlays: overlays}
}

// readTypes reads the file of instance types, if one is named.
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

// Input returns the input of the engine. Each pool has the instance types of its class.
func (w *World) Input() provisioning.Input {
	in := w.Cluster.Input.Input
	in.Vocabulary, in.InstanceTypes = w.vocabulary(), map[string][]*cloudprovider.InstanceType{}
	plain := w.plainTypes()
	for _, pool := range in.NodePools {
		if w.foreign(pool) != "" {
			continue
		}
		types := w.classOf(pool)
		if types == nil {
			types = plain
		}
		in.InstanceTypes[pool.Name] = w.labelledFor(pool, types)
	}
	return in
}

// plainTypes returns the instance types of nodes without a class. If some class adds the cost of
// volumes to its nodes, these nodes have the cost of a volume too, so that pools with and without a
// class are comparable.
func (w *World) plainTypes() []*cloudprovider.InstanceType {
	if !w.bill {
		return w.types
	}
	extra := w.extraWithoutClass().Total()
	return pricing.AddNodeCost(w.types, func(*cloudprovider.InstanceType) float64 { return extra })
}

// extraWithoutClass returns what a node without a class costs in addition to its instance.
func (w *World) extraWithoutClass() nodecost.Cost { return w.rates.Of(&awsv1.EC2NodeClass{}) }

// Remarks returns notes on the parts of the manifests that the input does not use.
func (w *World) Remarks() []string {
	var lines, kinds []string
	for _, k := range w.Cluster.Ignored {
		kinds = append(kinds, fmt.Sprintf("%d %s", k.Count, k.Kind))
	}
	if len(kinds) > 0 {
		lines = append(lines, "ignored "+strings.Join(kinds, ", "))
	}
	if w.bill {
		extras := w.extras
		if slices.ContainsFunc(w.Cluster.NodePools, func(p *v1.NodePool) bool { return w.classOf(p) == nil }) {
			extras = append(slices.Clip(extras), w.extraWithoutClass().String()+" without a class that is read")
		}
		lines = append(lines, "prices include what a node costs in addition to its instance, in "+catalog.DefaultRegion+": "+
			strings.Join(extras, ", ")+"; -bill=false leaves it out")
	}
	return append(lines, w.Cluster.Notes...)
}

// HasNode returns an error if the input has no node of the name given to -without.
func HasNode(in provisioning.Input, name string) error {
	var names []string
	for i := range in.Nodes {
		names = append(names, in.Nodes[i].Name())
	}
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("-without %s: the input has no such node%s", name, command.DidYouMean(name, names))
}
