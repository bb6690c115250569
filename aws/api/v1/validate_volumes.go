package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (v *validator) mappings(path *field.Path, mappings []BlockDeviceMapping) {
	if len(mappings) > maxMappings {
		v.add(field.TooMany(path, len(mappings), maxMappings))
	}
	names := map[string]*field.Path{}
	var root *field.Path
	for i := range mappings {
		m, at := &mappings[i], path.Index(i)
		v.deviceName(at.Child("deviceName"), m.DeviceName, names)
		v.blockDevice(at.Child("ebs"), m.EBS)
		if !m.RootVolume {
			continue
		}
		if root != nil {
			v.add(field.Forbidden(at.Child("rootVolume"), root.String()+" is the root volume already; keep one"))
			continue
		}
		root = at
	}
}

func (v *validator) deviceName(path *field.Path, name *string, names map[string]*field.Path) {
	if name == nil || *name == "" {
		v.add(field.Required(path, "name the device, such as /dev/xvda"))
		return
	}
	if first, ok := names[*name]; ok {
		fault := field.Duplicate(path, *name)
		fault.Detail = first.String() + " has the same device; rename or remove one"
		v.add(fault)
		return
	}
	names[*name] = path
}

func (v *validator) blockDevice(path *field.Path, d *BlockDevice) {
	if d == nil {
		v.add(field.Required(path, "describe the volume, such as {volumeSize: 20Gi, volumeType: gp3}"))
		return
	}
	hasSnapshot := d.SnapshotID != nil && *d.SnapshotID != ""
	if !hasSnapshot && d.VolumeSize == nil {
		v.add(field.Required(path.Child("volumeSize"), "give a volumeSize or a snapshotID"))
	}
	atLeast(v, path.Child("iops"), d.IOPS, 0)
	atLeast(v, path.Child("throughput"), d.Throughput, 0)
	within(v, path.Child("volumeInitializationRate"), d.VolumeInitializationRate, 100, 300)
	if d.VolumeInitializationRate != nil && !hasSnapshot {
		v.add(field.Required(path.Child("snapshotID"), "volumeInitializationRate is for volumes from a snapshot; name it, or remove the rate"))
	}
	if d.VolumeSize != nil && !isVolumeSize(*d.VolumeSize) {
		v.add(field.Invalid(path.Child("volumeSize"), quantityText(*d.VolumeSize), "want a whole number of Gi or G, from 1G to 64T"))
	}
	oneOf(v, path.Child("volumeType"), d.VolumeType, VolumeTypes()...)
}

// isVolumeSize judges by amount, so 1024Gi and 1Ti are the same to it.
func isVolumeSize(q resource.Quantity) bool {
	const gi, g, most = 1 << 30, 1_000_000_000, 64_000_000_000_000
	own := q.DeepCopy()
	// To compare with a number of thousands of digits takes long, so the
	// obviously too large are sorted out by their exponent.
	if dec := own.AsDec(); dec.Scale() < -18 {
		return false
	}
	if own.CmpInt64(g) < 0 || own.CmpInt64(most) > 0 || own.CmpInt64(own.Value()) != 0 {
		return false
	}
	return own.Value()%gi == 0 || own.Value()%g == 0
}
