package offline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/classtypes"
	"github.com/dovetail-sdk/dovetail/aws/kubeletcel"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
)

const classKind = awsv1.EC2NodeClassKind

func (w *World) note(format string, args ...any) {
	w.Cluster.Notes = append(w.Cluster.Notes, fmt.Sprintf(format, args...))
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// stock makes the instance types of each class.
func (w *World) stock(everywhere bool) error {
	if len(w.Cluster.Classes) == 0 {
		return nil
	}
	if err := w.openMarket(); err != nil {
		return err
	}
	for _, class := range w.Cluster.Classes {
		ready := w.ready(class, everywhere)
		made, err := w.market.facts.Build(time.Time{}, w.launching(ready))
		if err != nil {
			w.note("EC2NodeClass %s: it has no say: %s", class.Name, oneLine(err))
			continue
		}
		w.noteExcluded(class.Name, made)
		if w.rates != nil {
			w.extras = append(w.extras, w.rates.Of(ready).String()+" with EC2NodeClass "+class.Name)
			w.bill = true
		}
		w.classes[class.Name] = w.labelled(made.Types)
	}
	return nil
}

// labelled returns the types with a label that the fake cloud knows and the provider does not:
// whether Nitro enclaves are supported.
func (w *World) labelled(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	known := map[string]*cloudprovider.InstanceType{}
	for _, it := range w.types {
		known[it.Name] = it
	}
	out := make([]*cloudprovider.InstanceType, len(types))
	for i, it := range types {
		changed := *it
		if r, found := known[it.Name].Requirements.Get(catalog.LabelInstanceNitroEnclavesSupported); found {
			changed.Requirements = changed.Requirements.With(r)
		}
		out[i] = &changed
	}
	return out
}

// settings are the fields of a class that its instance types depend on, each with a function that
// clears it.
var settings = map[string]func(*awsv1.EC2NodeClassSpec){
	"spec.kubelet":             func(s *awsv1.EC2NodeClassSpec) { s.Kubelet = nil },
	"spec.blockDeviceMappings": func(s *awsv1.EC2NodeClassSpec) { s.BlockDeviceMappings = nil },
	"spec.instanceStorePolicy": func(s *awsv1.EC2NodeClassSpec) { s.InstanceStorePolicy = nil },
	"spec.networkInterfaces":   func(s *awsv1.EC2NodeClassSpec) { s.NetworkInterfaces = nil },
	"spec.cpuOptions":          func(s *awsv1.EC2NodeClassSpec) { s.CPUOptions = nil },
	"spec.enclaveOptions":      func(s *awsv1.EC2NodeClassSpec) { s.EnclaveOptions = nil },
	"spec.connectionTracking":  func(s *awsv1.EC2NodeClassSpec) { s.ConnectionTracking = nil },
}

// ready returns the class in a form from which the catalog can be made, and adds notes on ignored
// fields. Wrong settings are ignored, such as a role that is still a placeholder; so are a
// placement group, because only EC2 knows its strategy, and the size of reservations. A class
// without a subnet in the zones of the cluster launches in all of them, and so does every class if
// the zones were given by flags.
func (w *World) ready(class *awsv1.EC2NodeClass, everywhere bool) *awsv1.EC2NodeClass {
	out := class.DeepCopy()
	faults := append(class.Validate(), class.ValidateExpressions(kubeletcel.New())...)
	for _, field := range slices.Sorted(maps.Keys(settings)) {
		var why []string
		for _, fault := range faults {
			if strings.HasPrefix(fault.Field, field) {
				why = append(why, oneLine(fault))
			}
		}
		if len(why) > 0 {
			settings[field](&out.Spec)
			w.note("EC2NodeClass %s: %s has no say: %s", class.Name, field, strings.Join(why, "; "))
		}
	}
	if out.Spec.PlacementGroupSelector != nil {
		out.Spec.PlacementGroupSelector = nil
		w.note("EC2NodeClass %s: spec.placementGroupSelector has no say, as only EC2 knows the group", class.Name)
	}
	if n := len(out.Status.CapacityReservations); n > 0 {
		w.note("EC2NodeClass %s: %d capacity reservations are taken to be full, as only EC2 knows what they hold", class.Name, n)
	}
	sold := func(s awsv1.Subnet) bool {
		return slices.ContainsFunc(w.market.zones, func(z classtypes.Zone) bool { return z.Name == s.Zone })
	}
	switch {
	case everywhere:
	case slices.ContainsFunc(out.Status.Subnets, sold):
		w.noteStranded(out)
		return out
	case len(out.Status.Subnets) == 0:
		w.note("EC2NodeClass %s: no subnets in its status; it is taken to launch in every zone of the cluster", class.Name)
	default:
		w.note("EC2NodeClass %s: none of its subnets is where the cluster is; it is taken to launch in every zone", class.Name)
	}
	w.everywhere(out)
	return out
}

// noteStranded adds a note on zones in which nodes of a class run but the class has no subnet:
// these nodes cannot be replaced in their zone.
func (w *World) noteStranded(class *awsv1.EC2NodeClass) {
	missing, nodes := map[string]bool{}, 0
	for _, n := range w.Cluster.Nodes {
		if n.NodeClaim == nil || n.NodeClaim.Spec.NodeClassRef == nil || n.NodeClaim.Spec.NodeClassRef.Name != class.Name {
			continue
		}
		zone := n.NodeClaim.Labels[corev1.LabelTopologyZone]
		if zone != "" && !slices.ContainsFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.Zone == zone }) {
			missing[zone] = true
			nodes++
		}
	}
	if zones := slices.Sorted(maps.Keys(missing)); nodes > 0 {
		w.note("EC2NodeClass %s: no subnet of its status is in %s, where nodes of it run (%d): it launches nothing there", class.Name, strings.Join(zones, ", "), nodes)
	}
}

// noteExcluded adds a note with the number of types that a class cannot launch, by reason, and the
// number of types left. Types that the image family does not support are left out.
func (w *World) noteExcluded(name string, made *classtypes.Catalog) {
	count := map[string]int{}
	for _, e := range made.Exclusions {
		if e.Field != "spec.amiFamily" {
			count[e.Field]++
		}
	}
	for field, n := range count { // the notes are sorted
		w.note("EC2NodeClass %s: %s rules out %d of %d instance types", name, field, n, len(made.Types))
	}
	if n := len(made.Problems); n > 0 {
		w.note("EC2NodeClass %s: %d instance types are left out; the first is %s", name, n, oneLine(fmt.Errorf("%s", made.Problems[0])))
	}
}

// classOf returns the instance types of the class of a pool, nil if the class is not used.
func (w *World) classOf(pool *v1.NodePool) []*cloudprovider.InstanceType {
	if ref := pool.Spec.Template.Spec.NodeClassRef; ref != nil && ref.Kind == classKind && ref.Group == awsv1.Group {
		return w.classes[ref.Name]
	}
	return nil
}

// publish gives devices to the instance types of pools without a class: those that the EC2 provider
// reports for a class without settings, as drivers of dynamic resource allocation publish them.
// Devices matter only if the manifests have a DeviceClass, which the driver installs.
func (w *World) publish() error {
	if err := w.openMarket(); err != nil {
		return err
	}
	class := &awsv1.EC2NodeClass{}
	class.Name = "default"
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	w.everywhere(class)
	made, err := w.market.facts.Build(time.Time{}, w.launching(class))
	if err != nil {
		return err
	}
	devices := map[string][]cloudprovider.InstanceDevice{}
	for _, it := range made.Types {
		devices[it.Name] = it.Devices
	}
	for i, it := range w.types {
		changed := *it
		changed.Devices = devices[it.Name]
		w.types[i] = &changed
	}
	return nil
}

// everywhere gives a class a subnet in every zone of the market.
func (w *World) everywhere(class *awsv1.EC2NodeClass) {
	class.Status.Subnets = nil
	for _, z := range w.market.zones {
		class.Status.Subnets = append(class.Status.Subnets, awsv1.Subnet{Zone: z.Name, ZoneID: z.ID})
	}
}

// openMarket reads the offer of the fake cloud, once.
func (w *World) openMarket() (err error) {
	if w.market == nil {
		w.market, err = newMarket(w.types)
	}
	return err
}

// launching returns the input from which the instance types of a class are made.
func (w *World) launching(class *awsv1.EC2NodeClass) classtypes.Input {
	return classtypes.Input{
		Region: w.region, Class: class, Zones: w.market.zones, Prices: w.market.prices, KubeletExpressions: kubeletcel.New(),
		NodeRates: cmp.Or(w.rates, new(nodecost.Rates)), NVIDIADevices: w.devices, EFADevices: w.devices,
	}
}
