// Package offline reads what programs work on that need neither a cloud nor a
// cluster: manifests, and instance types in place of a cloud's.
//
// The instance types are those that the fake cloud sells where the cluster is, or
// those of a file. Of the fake cloud a NodePool has the instance types of its
// EC2NodeClass as package aws/classtypes makes them, by the code of the AWS provider: pods
// and overhead by spec.kubelet and the family of images, ephemeral storage by
// blockDeviceMappings and instanceStorePolicy, zones by the subnets in its status, types
// by the images there and by what else the class asks of them.
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

// Files names what to read; "-" is standard input.
type Files struct {
	Manifests      []string // none is the sample
	InstanceTypes  string   // empty is the catalog of the fake cloud
	Place          place.Asked
	InstancePrices bool // prices leave out what a node costs in addition to its instance
	AsPools        bool // node groups are read as NodePools
	Sample         []byte
}

// PoolsUsage describes the flag -as-pools.
const PoolsUsage = `  -as-pools             read each node group of EKS, GKE or AKS as a NodePool of
                        the instance types and zones of its nodes
`

// Flags declares -f, -instance-types, -region, -zones, -bill and -as-pools.
func (f *Files) Flags(set *flag.FlagSet) {
	command.Files(set, &f.Manifests)
	set.StringVar(&f.InstanceTypes, "instance-types", "", "")
	f.Place.Flags(set)
	set.BoolFunc("bill", "", func(text string) error {
		bill, err := strconv.ParseBool(text)
		f.InstancePrices = !bill
		return err
	})
	set.BoolVar(&f.AsPools, "as-pools", false, "")
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
	return append(faults, f.Place.Faults()...)
}

// World is what was read.
type World struct {
	Cluster *manifest.Cluster
	types   []*cloudprovider.InstanceType            // of pools without a class that has a say
	classes map[string][]*cloudprovider.InstanceType // by the name of a class that has one
	region  string
	market  *market         // nil until a class has a say
	rates   *nodecost.Rates // of what a node has in addition to its instance; nil if that does not count
	bill    bool            // a class of the cluster, or of its Policies, says what a node has
	extras  []string        // what a node costs in addition to its instance, by class
	read    int             // classes of which the notes say more than that they are ignored
	given   bool            // the instance types are those of a file
	devices bool            // drivers of dynamic resource allocation run in the cluster
	auto    bool            // EKS Auto Mode launches nodes of a pool, today or by Policies
}

// Read reads the manifests and the instance types. Faults in either do not keep
// the other from being looked at.
func Read(files Files, stdin io.Reader) (*World, error) {
	w := &World{classes: map[string][]*cloudprovider.InstanceType{}, given: files.InstanceTypes != ""}
	sources, sourcesErr := manifest.Sources(files.Manifests, stdin, files.Sample)
	cluster, clusterErr := manifest.Read(rules(), sources...)
	types, typesErr := readTypes(files.InstanceTypes, stdin)
	if err := errors.Join(sourcesErr, clusterErr, typesErr); err != nil {
		return nil, err
	}
	w.Cluster, w.types, w.auto = cluster, types, slices.ContainsFunc(cluster.NodePools, ofAutoMode)
	w.devices = len(cluster.Devices.Classes) > 0
	classes := w.readClasses(sources)
	if files.AsPools {
		w.asPools()
	}
	if files.InstancePrices {
		w.types = pricing.AddNodeCost(w.types, func(*cloudprovider.InstanceType) float64 { return 0 })
	} else {
		w.rates = nodecost.BuiltIn()
	}
	if files.InstanceTypes == "" {
		at := place.Find(cluster, classes, files.Place)
		if err := w.sell(at); err != nil {
			return nil, err
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
	return w, w.launchable(classes, files)
}

// launchable makes the instance types of classes, unless those of a file are taken.
func (w *World) launchable(classes []*awsv1.EC2NodeClass, files Files) (err error) {
	if files.InstanceTypes == "" {
		err = w.stock(classes, len(files.Place.Zones) > 0)
	} else if n := len(classes); n > 0 {
		w.read += n
		w.note("%d EC2NodeClass without a say: the instance types are taken as %s has them", n, files.InstanceTypes)
	}
	w.noteProviders()
	slices.Sort(w.Cluster.Notes)
	return err
}

// Policies reads a file of policies for the cluster that was read: NodePools, NodeOverlays
// and EC2NodeClasses. Input of the answer has these and their catalogs, of the same instance
// types, and nothing else. Objects of other kinds in the file are counted as ignored. Input
// of both is to be asked for afterwards, as their labels are those of the pools of both.
func (w *World) Policies(file string, files Files, stdin io.Reader) (*World, error) {
	sources, err := manifest.Sources([]string{file}, stdin, nil)
	if err != nil {
		return nil, err
	}
	cluster, err := manifest.Read(rules(), sources...)
	if err != nil {
		return nil, err
	}
	w.auto = w.auto || slices.ContainsFunc(cluster.NodePools, ofAutoMode)
	out := &World{Cluster: cluster, types: w.types, classes: maps.Clone(w.classes), region: w.region, market: w.market, rates: w.rates, bill: w.bill, given: w.given, devices: w.devices, auto: w.auto}
	err = out.launchable(out.readClasses(sources), files)
	w.bill = out.bill
	return out, err
}

// sell takes the instance types that the fake cloud sells in a place.
func (w *World) sell(at place.Place) (err error) {
	w.region = at.Region
	if w.types, err = at.Catalog(); err == nil && at.Region != catalog.DefaultRegion {
		w.note("prices are those of %s, as those of %s are not known here; -instance-types takes others", catalog.DefaultRegion, at.Region)
	}
	return err
}

// noteZones remarks on NodePools that can launch in none of the zones which were found in the
// manifests: where all nodes are in one zone, the others are not known.
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

// rules are those of the provider that the manifests are written for.
func rules() manifest.Rules {
	overlays := awsv1.NodeOverlayRules()
	overlays.WellKnownLabels = append(overlays.WellKnownLabels, catalog.LabelInstanceNitroEnclavesSupported)
	return manifest.Rules{NodePools: catalog.NodePoolRules(), NodeOverlays: overlays}
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

// Input makes the engine's input. A pool may launch what its class can.
func (w *World) Input() provisioning.Input {
	in := w.Cluster.Input()
	in.Vocabulary = w.vocabulary()
	plain := w.plainTypes()
	for _, pool := range in.NodePools {
		if w.foreign(pool) == "" {
			in.InstanceTypes[pool.Name] = w.labelledFor(pool, w.typesOf(pool, plain))
		}
	}
	return in
}

// plainTypes returns the instance types of nodes without a class. Where a class says what its nodes
// have, these nodes have a volume as well, so that pools with and without a class compare.
func (w *World) plainTypes() []*cloudprovider.InstanceType {
	if !w.bill {
		return w.types
	}
	extra := w.extraWithoutClass().Total()
	return pricing.AddNodeCost(w.types, func(*cloudprovider.InstanceType) float64 { return extra })
}

// extraWithoutClass returns what a node without a class costs in addition to its instance.
func (w *World) extraWithoutClass() nodecost.Cost { return w.rates.Of(&awsv1.EC2NodeClass{}) }

// Remarks says what of the manifests had no say in the input.
func (w *World) Remarks() []string {
	var lines, kinds []string
	for _, k := range w.Cluster.Ignored {
		if k.Kind == classKind {
			k.Count -= w.read
		}
		if k.Count > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", k.Count, k.Kind))
		}
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

// HasNode says that the input has no node of this name, which -without is about.
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
