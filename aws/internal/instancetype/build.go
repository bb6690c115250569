package instancetype

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Catalog has the instance types that one class can launch at one instant. The caller owns it, but
// the instance types are read-only, as everywhere.
type Catalog struct {
	// Types are the instance types, sorted by name, each with its offerings in
	// the order of OfferingKey.
	Types []*cloudprovider.InstanceType
	// Images has the image of the class that boots a type, by the name of the type. A type that no
	// image boots is missing.
	Images map[string]string
	// Kubelets are the settings of the kubelet by the name of the type, in which
	// expressions of the class are replaced by their values. It is empty if the
	// class has none.
	Kubelets map[string]*awsv1.KubeletConfiguration
	// Unevaluated are the types for which an expression of the class has no value,
	// sorted by type. They are in Problems, too.
	Unevaluated []Problem
	// Exclusions say why the class cannot launch a type, sorted by type. All
	// offerings of such a type are not Available.
	Exclusions []Exclusion
	// Problems are about types that are not in the catalog, sorted by type.
	Problems []Problem
	// Unpriced are the offerings without a price, which are not Available, and Stale those with a
	// price that is out of date. Both are sorted. Offerings of reservations are in neither, because
	// one more instance there costs nothing.
	Unpriced, Stale []cloudprovider.OfferingKey
}

// Build returns the catalog of a class. For each type of the inventory:
//
//  1. Labels. Every well-known label of awsv1.Vocabulary is in the requirements
//     of the type, or in those of each of its offerings: with its values, or with
//     DoesNotExist.
//  2. Image: the first in status.amis whose requirements go with these labels.
//  3. Capacity. Memory is what nodes of the type have reported with that image, or else
//     overhead.Machine.Memory. Ephemeral storage is that of the disks of the machine, if the class
//     joins them, or else of the volume that pods write to. Pods are those of
//     overhead.Settings.Pods; a type with zero pods is left out with a Problem, and so is a type
//     for which an expression has no value. Devices of dynamic resource allocation are those of the
//     tables, if asked for. Extended resources that are zero are left out.
//  4. Overhead: overhead.Settings.Overhead.
//  5. Exclusions: each field of the class that the type does not support.
//  6. Offerings: one for each zone that has the type and each of on-demand and spot in which it is
//     sold, and one for each capacity reservation of the class. See the table below.
//  7. Prices: those of Input.Prices at Input.Now, plus the cost of what a node of the class has in
//     addition to its instance, by Options.NodeRates.
//
// An offering is Available if all of this holds: the type has no Exclusion; the class has a subnet
// in the zone; no zonal shift moves traffic away from it; the placement group exists, if the class
// names one; and for
//
//	on-demand, spot   there is a price
//	reserved          the reservation has neither ended nor is about to
//
// A reservation that is full is Available, with ReservationCapacity 0. Input.Prices computes its
// price from the on-demand price. A type without an on-demand price gets a price of the same
// magnitude from its vCPUs, so that a larger type still costs more.
//
// A type that does not pass InstanceType.Validate, because a number of EC2 or of the class is
// absurd, is left out with a Problem. The error lists every fault of the input and of the options:
// no region or class, a zone with two ids, kubelet settings or requirements of an image that cannot
// be read.
func (i *Inventory) Build(in Input, opts *Options) (*Catalog, error) {
	if err := errors.Join(in.validate(), opts.Validate()); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	b, err := newBuilder(&in, opts)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	c := &Catalog{Images: map[string]string{}, Kubelets: map[string]*awsv1.KubeletConfiguration{}}
	b.all(i, c)
	b.price(c)
	for _, k := range b.kept {
		k.description.Offerings = k.sold.Offerings
		t, err := k.description.InstanceType(b.wellKnown...)
		if err != nil {
			c.leaveOut(k.machine, err)
			continue
		}
		c.Types = append(c.Types, t)
	}
	slices.SortStableFunc(c.Problems, compareProblems)
	slices.SortStableFunc(c.Unevaluated, compareProblems)
	return c, nil
}

func (c *Catalog) leaveOut(m *machine, err error) {
	delete(c.Images, m.name)
	c.Problems = append(c.Problems, Problem{m.name, err.Error() + "; left out"})
}

// all describes every type of the inventory.
func (b *builder) all(i *Inventory, c *Catalog) {
	if i == nil {
		return
	}
	for j := range i.machines {
		m := &i.machines[j]
		settings, err := b.settings.For(m.limits, *b.opts.Cluster)
		if err != nil {
			c.leaveOut(m, err)
			c.Unevaluated = append(c.Unevaluated, Problem{m.name, err.Error()})
			continue
		}
		t, image, err := b.describe(m, settings)
		if err != nil {
			c.leaveOut(m, err)
			continue
		}
		if t.Capacity.Get(corev1.ResourcePods) <= 0 {
			c.Problems = append(c.Problems, Problem{m.name,
				"no address for a pod is left because of maxPods, podsPerCore, reserved or efa-only network interfaces; left out"})
			continue
		}
		exclusions := b.exclusions(m)
		if len(b.images) > 0 && image == "" {
			exclusions = append(exclusions, Exclusion{m.name, "status.amis", "no image boots the type; select one for it"})
		}
		if image != "" {
			c.Images[m.name] = image
		}
		if k := settings.Evaluated(); k != nil {
			c.Kubelets[m.name] = k
		}
		c.Exclusions = append(c.Exclusions, exclusions...)
		b.kept = append(b.kept, kept{m, t, &cloudprovider.InstanceType{Name: m.name, Offerings: b.offerings(m, len(exclusions) == 0)}})
	}
}

// kept is a type that goes into the catalog.
type kept struct {
	machine     *machine
	description kit.Machine
	sold        *cloudprovider.InstanceType // name and offerings alone
}

// builder is one Build under way.
type builder struct {
	in       *Input
	opts     Options
	class    *awsv1.EC2NodeClass
	family   amiselect.Family
	settings Settings
	storage  storage
	places   places
	group    group
	images   []image
	reserved map[string][]*awsv1.CapacityReservation // by instance type, sorted by id
	efaOnly  int

	common     requirements.Set // labels of the class
	unreserved requirements.Set // labels of the class for types without reservations

	wellKnown []string
	kept      []kept
}

func newBuilder(in *Input, opts *Options) (*builder, error) {
	b := &builder{in: in, opts: opts.orDefault(), class: in.Class, family: in.Class.ResolvedAMIFamily(),
		wellKnown: awsv1.WellKnownLabels()}
	var settingsErr, imagesErr error
	b.settings, settingsErr = NewSettings(in.Class, b.opts.Expressions)
	b.images, imagesErr = newImages(in.Class)
	if err := errors.Join(settingsErr, imagesErr); err != nil {
		return nil, err
	}
	b.storage = newStorage(in.Class, b.family)
	b.places = newPlaces(in)
	b.group = newGroup(in)
	b.reserved = reservationsByType(in.Class)
	for _, n := range in.Class.Spec.NetworkInterfaces {
		if n.InterfaceType == awsv1.InterfaceTypeEFAOnly {
			b.efaOnly++
		}
	}
	release := requirements.DoesNotExist(corev1.LabelWindowsBuild)
	if build := windowsBuild(b.family); build != "" {
		release = requirements.In(corev1.LabelWindowsBuild, build)
	}
	b.common = requirements.NewSet(append(b.group.labels(), release)...)
	b.unreserved = b.common.With(requirements.DoesNotExist(awsv1.LabelCapacityReservationID),
		requirements.DoesNotExist(awsv1.LabelCapacityReservationType),
		requirements.DoesNotExist(awsv1.LabelCapacityReservationInterruptible))
	return b, nil
}

// describe returns the instance type of a machine without its offerings, and the image that it
// boots.
func (b *builder) describe(m *machine, settings Settings) (kit.Machine, string, error) {
	class := b.common
	if len(b.reserved[m.name]) == 0 {
		class = b.unreserved
	}
	labels := m.labels.Intersect(class)
	image := ""
	if len(b.images) > 0 {
		image = b.imageFor(b.own(m, labels))
	}
	memory, known := b.in.Learned.Memory(b.in.Now, Nodes{InstanceType: m.name, Image: image})
	if !known {
		memory = m.limits.Memory(b.opts.Cluster.MemoryLost)
	}
	capacity := b.capacity(m, memory, settings.Pods(m.limits, *b.opts.Cluster))
	t := kit.Machine{
		Name:         m.name,
		Arch:         m.arch,
		OS:           b.systems(m),
		Region:       b.in.Region,
		Requirements: labels,
		Capacity:     capacity,
		Overhead:     settings.Overhead(m.limits, capacity),
		Devices:      b.devices(m),
	}
	if _, err := t.Overhead.Total(); err != nil {
		return t, "", fmt.Errorf("instance type %s: %w", m.name, err)
	}
	if n, limited := b.storage.attachable(m); limited {
		t.VolumeAttachmentLimits = map[string]int64{ebsDriver: n}
	}
	return t, image, nil
}

// own returns the labels by which images are chosen.
func (b *builder) own(m *machine, labels requirements.Set) requirements.Set {
	system := requirements.DoesNotExist(corev1.LabelOSStable)
	if s := b.systems(m)[0]; s != "" {
		system = requirements.In(corev1.LabelOSStable, s)
	}
	return labels.With(
		requirements.In(corev1.LabelInstanceTypeStable, m.name),
		requirements.In(corev1.LabelArchStable, m.arch),
		requirements.In(corev1.LabelTopologyRegion, b.in.Region),
		system,
	)
}

// systems returns the operating systems of nodes of the machine; it is "" if the machine cannot
// boot the one of the class.
func (b *builder) systems(m *machine) []string {
	switch {
	case !b.family.Windows():
		return []string{string(corev1.Linux)}
	case m.limits.Arm64:
		return []string{""}
	}
	return []string{string(corev1.Windows)}
}

func windowsBuild(f amiselect.Family) string {
	switch f {
	case amiselect.FamilyWindows2019:
		return awsv1.Windows2019Build
	case amiselect.FamilyWindows2022:
		return awsv1.Windows2022Build
	case amiselect.FamilyWindows2025:
		return awsv1.Windows2025Build
	}
	return ""
}
