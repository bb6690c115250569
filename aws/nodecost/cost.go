package nodecost

import (
	"fmt"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// Cost is the cost of a node in addition to its instance, in USD per hour.
type Cost struct {
	// Volumes, PublicIPv4 and PerNode are the costs by the rates of these names.
	Volumes, PublicIPv4, PerNode float64
}

// Total returns the sum.
func (c Cost) Total() float64 { return c.Volumes + c.PublicIPv4 + c.PerNode }

// String returns one line, such as "0.0105 USD/h (volumes 0.0055, public address 0.0050)".
func (c Cost) String() string {
	text := fmt.Sprintf("%.4f USD/h (volumes %.4f", c.Total(), c.Volumes)
	if c.PublicIPv4 != 0 {
		text += fmt.Sprintf(", public address %.4f", c.PublicIPv4)
	}
	if c.PerNode != 0 {
		text += fmt.Sprintf(", by the node %.4f", c.PerNode)
	}
	return text + ")"
}

// The assumed properties of a volume for which the class does not give them.
const (
	assumedType = "gp3"
	assumedGiB  = 20 // as for its ephemeral storage
)

// Of returns what a node of a class costs in addition to its instance. A class without
// blockDeviceMappings has the volumes that its family gives it, or one of 20 GiB if the
// images say; a mapping without a size counts as 20 GiB, and one without a type as gp3. An
// address counts if associatePublicIPAddress is true. Nil rates are free.
func (r *Rates) Of(class *awsv1.EC2NodeClass) Cost {
	if r == nil {
		return Cost{}
	}
	c := Cost{PerNode: r.PerNode}
	for _, v := range volumesOf(class) {
		c.Volumes += r.volume(v)
	}
	if public := class.Spec.AssociatePublicIPAddress; public != nil && *public {
		c.PublicIPv4 = r.PublicIPv4
	}
	return c
}

// volume is a volume of a node.
type volume struct {
	kind                  string
	gib, iops, throughput int64
}

// volume returns the cost of a volume, in USD per hour.
func (r *Rates) volume(v volume) float64 {
	rate := r.Volumes[v.kind]
	return (float64(float64(v.gib)*rate.GiB) + charge(rate.IOPS, v.iops) + charge(rate.Throughput, v.throughput)) / HoursPerMonth
}

func volumesOf(class *awsv1.EC2NodeClass) (out []volume) {
	const gib = 1 << 30
	for i := range class.Spec.BlockDeviceMappings {
		v := volume{kind: assumedType, gib: assumedGiB}
		if d := class.Spec.BlockDeviceMappings[i].EBS; d != nil {
			if d.VolumeType != nil {
				v.kind = *d.VolumeType
			}
			if d.VolumeSize != nil && d.VolumeSize.Sign() > 0 {
				v.gib = (d.VolumeSize.Value()-1)/gib + 1
			}
			v.iops, v.throughput = positive(d.IOPS), positive(d.Throughput)
		}
		out = append(out, v)
	}
	if len(out) > 0 {
		return out
	}
	for _, d := range bootstrap.FeaturesOf(class.ResolvedAMIFamily()).Devices {
		out = append(out, volume{kind: assumedType, gib: d.GiB})
	}
	if len(out) == 0 {
		out = append(out, volume{kind: assumedType, gib: assumedGiB})
	}
	return out
}

func positive(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(*n, 0)
}
