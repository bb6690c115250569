package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func (b *builder) addType(bl block) error {
	name, amounts, _ := strings.Cut(bl.rest, " ")
	capacity, err := resources.Parse(amounts)
	if err != nil {
		return bl.fault("type %s: %w", name, err)
	}
	if _, ok := capacity.Lookup(corev1.ResourcePods); !ok {
		capacity = capacity.With(corev1.ResourcePods, 110)
	}
	t := &cloudprovider.InstanceType{Name: name, Capacity: capacity}
	var own requirements.Set
	err = each(bl, func(l line) (err error) {
		switch l.word {
		case "offer":
			return addOffers(t, l.rest)
		case "keeps":
			t.Overhead.KubeReserved, err = resources.Parse(l.rest)
		case "labels":
			own, err = requirements.Parse(expand(l.rest))
		case "attaches":
			t.VolumeAttachmentLimits, err = parseLimits(l.rest)
		case "device":
			var d cloudprovider.InstanceDevice
			d, err = parseDevices(l.rest)
			t.Devices = append(t.Devices, d)
		default:
			err = unknownOf("offer", "keeps", "labels", "attaches", "device")
		}
		return err
	})
	t.Requirements = typeLabels(t, own)
	b.types = append(b.types, t)
	return err
}

// typeLabels returns the labels of a type: its own, and the usual ones for all other keys.
func typeLabels(t *cloudprovider.InstanceType, own requirements.Set) requirements.Set {
	var zones, capacityTypes []string
	for _, o := range t.Offerings {
		zones = append(zones, o.Zone)
		capacityTypes = append(capacityTypes, o.CapacityType)
	}
	labels := requirements.NewSet(
		requirements.In(corev1.LabelInstanceTypeStable, t.Name),
		requirements.In(corev1.LabelArchStable, v1.ArchitectureAmd64),
		requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
		requirements.In(corev1.LabelTopologyRegion, "r"),
		requirements.In(corev1.LabelTopologyZone, zones...),
		requirements.In(v1.CapacityTypeLabelKey, capacityTypes...),
		requirements.DoesNotExist(corev1.LabelWindowsBuild),
	)
	for r := range own.All() {
		labels = labels.Without(r.Key()).With(r)
	}
	return labels
}

// addOffers reads an offer, one offering for each zone.
func addOffers(t *cloudprovider.InstanceType, text string) error {
	fields := split(text, ' ')
	if len(fields) < 3 {
		return fmt.Errorf("%q is not ZONES CAPACITY-TYPE PRICE", text)
	}
	price, err := strconv.ParseFloat(fields[2], 64)
	if err != nil {
		return fmt.Errorf("price: %w", err)
	}
	offer := cloudprovider.Offering{CapacityType: fields[1], Price: price, Available: true}
	for _, word := range fields[3:] {
		if err := changeOffer(&offer, word); err != nil {
			return err
		}
	}
	for _, zone := range strings.Split(fields[0], ",") {
		offer.Zone = zone
		t.Offerings = append(t.Offerings, offer)
	}
	slices.SortStableFunc(t.Offerings, func(a, b cloudprovider.Offering) int {
		return a.Key(t.Name).Compare(b.Key(t.Name))
	})
	return nil
}

// changeOffer reads one of the words behind the price.
func changeOffer(o *cloudprovider.Offering, word string) error {
	name, inner, _ := strings.Cut(strings.TrimSuffix(word, ")"), "(")
	var amounts resources.List
	var err error
	switch {
	case word == "unavailable":
		o.Available = false
	case strings.HasPrefix(word, "reservation="):
		id, count, _ := strings.Cut(strings.TrimPrefix(word, "reservation="), ":")
		o.ReservationID = id
		o.ReservationCapacity, err = strconv.Atoi(count)
	case name == "capacity":
		amounts, err = resources.Parse(inner)
		o.Capacity = &amounts
	case name == "overhead":
		amounts, err = resources.Parse(inner)
		o.Overhead = &amounts
	case name == "labels":
		o.Requirements, err = requirements.Parse(expand(inner))
	default:
		err = fmt.Errorf("%q is not known behind a price; use one of unavailable, reservation=ID:COUNT, capacity(AMOUNTS), "+
			"overhead(AMOUNTS), labels(CLAUSES)", word)
	}
	return err
}

// parseLimits reads DRIVER=N.
func parseLimits(text string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, part := range list(text) {
		driver, count, _ := strings.Cut(part, "=")
		n, err := number(count, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; write DRIVER=N", driver, err)
		}
		out[driver] = int64(n)
	}
	return out, nil
}
