package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Write writes instance types as JSON that Read reads, a line a
// type, sorted by name, with offerings in the order of their keys.
//
// Reading gives the same types back, but for two things: the parts of the
// overhead come back as their sum, and well-known labels that a type left open
// are completed. Types that were read before come back the same, byte for byte.
//
// The error joins every fault: those that Sorted finds, and what could not be read
// back. The types are not changed.
func Write(types []*cloudprovider.InstanceType) ([]byte, error) {
	sorted, err := Sorted(types)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	var b bytes.Buffer
	var errs []error
	b.WriteString("{\n\"instanceTypes\": [")
	for i, t := range sorted {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		line, err := marshal(t)
		if err != nil {
			errs = append(errs, fmt.Errorf("instance type %s: %w", t.Name, err))
		}
		b.Write(line)
	}
	b.WriteString("\n]\n}\n")
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	// Labels are checked when they are read only, and a file that cannot be
	// read is worse than none.
	if _, err := Read(b.Bytes()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// The file* types fix the names and the order of the fields in the file.
type (
	fileType struct {
		Name                   string            `json:"name"`
		Requirements           []fileRequirement `json:"requirements"`
		Capacity               fileAmounts       `json:"capacity"`
		Overhead               fileAmounts       `json:"overhead,omitempty"`
		VolumeAttachmentLimits map[string]int64  `json:"volumeAttachmentLimits,omitempty"`
		Offerings              []fileOffering    `json:"offerings"`
	}
	fileRequirement struct {
		Key      string                      `json:"key"`
		Operator corev1.NodeSelectorOperator `json:"operator"`
		Values   []string                    `json:"values,omitempty"`
	}
	fileOffering struct {
		Zone                string            `json:"zone"`
		CapacityType        string            `json:"capacityType"`
		Price               float64           `json:"price"`
		NodeCost            float64           `json:"nodeCost,omitempty"`
		Available           bool              `json:"available"`
		ReservationID       string            `json:"reservationID,omitempty"`
		ReservationCapacity int               `json:"reservationCapacity,omitempty"`
		Requirements        []fileRequirement `json:"requirements,omitempty"`
		Capacity            fileAmounts       `json:"capacity,omitempty"`
		Overhead            fileAmounts       `json:"overhead,omitempty"`
		ID                  string            `json:"id,omitempty"`
	}
	fileAmounts map[corev1.ResourceName]string
)

// marshal writes a type on one line.
func marshal(t *cloudprovider.InstanceType) ([]byte, error) {
	overhead, err := t.Overhead.Total()
	if err != nil {
		return nil, err
	}
	out := fileType{
		Name:                   t.Name,
		Requirements:           fileRequirements(t.Requirements),
		Capacity:               fileQuantities(t.Capacity),
		Overhead:               fileQuantities(overhead),
		VolumeAttachmentLimits: t.VolumeAttachmentLimits,
		Offerings:              make([]fileOffering, len(t.Offerings)),
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		out.Offerings[i] = fileOffering{
			Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price, NodeCost: o.NodeCost, Available: o.Available,
			ReservationID: o.ReservationID, ReservationCapacity: o.ReservationCapacity,
			Requirements: fileRequirements(o.Requirements), ID: o.ID,
		}
		if o.Capacity != nil {
			out.Offerings[i].Capacity = fileQuantities(*o.Capacity)
		}
		if o.Overhead != nil {
			out.Offerings[i].Overhead = fileQuantities(*o.Overhead)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(out)
	return bytes.TrimSpace(b.Bytes()), err
}

func fileRequirements(set requirements.Set) []fileRequirement {
	reqs := set.NodeSelectorRequirements()
	out := make([]fileRequirement, len(reqs))
	for i, r := range reqs {
		out[i] = fileRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
	}
	return out
}

func fileQuantities(list resources.List) fileAmounts {
	out := make(fileAmounts, list.Len())
	for name, amount := range list.All() {
		out[name] = resources.Format(name, amount)
	}
	return out
}

// Sorted returns a copy of instance types in the order that
// cloudprovider.CloudProvider asks for: by name, with offerings by key. The error joins
// every fault: types that are nil, have the name of another, or do not pass
// cloudprovider.InstanceType.Validate.
func Sorted(types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	out := make([]*cloudprovider.InstanceType, 0, len(types))
	var errs []error
	seen := map[string]bool{}
	for i, t := range types {
		if t == nil {
			errs = append(errs, fmt.Errorf("instance type %d of the list: nil; leave it out", i+1))
			continue
		}
		if err := t.Validate(); err != nil {
			errs = append(errs, unjoin(err)...)
		}
		if t.Name != "" && seen[t.Name] {
			errs = append(errs, fmt.Errorf("instance type %s: there is another one of that name; keep one", t.Name))
		}
		seen[t.Name] = true
		t = t.Clone()
		slices.SortFunc(t.Offerings, func(a, b cloudprovider.Offering) int { return a.Key(t.Name).Compare(b.Key(t.Name)) })
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *cloudprovider.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out, errors.Join(errs...)
}
