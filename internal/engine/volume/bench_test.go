package volume_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// large returns a cluster with n bound claims in three zones and n local disks.
func large(n int) volume.Objects {
	var o volume.Objects
	o.Classes = objects(classOf("fast", ebs, allowed("zone", "a", "b", "c")), classOf("local", "kubernetes.io/no-provisioner")).Classes
	for i := range n {
		id := strconv.Itoa(i)
		pair := objects(claimOf("bound-"+id, "fast", boundTo("v"+id)),
			volumeOf("v"+id, "fast", csi(ebs, "vol-"+id), on("zone = "+string(rune('a'+i%3)))))
		o.Claims = append(o.Claims, pair.Claims...)
		o.Claims = append(o.Claims, claimOf("free-"+id, "fast"))
		o.Volumes = append(o.Volumes, pair.Volumes...)
		o.Volumes = append(o.Volumes, volumeOf("disk-"+id, "local", on("host = n"+id)))
	}
	o.Claims = append(o.Claims, claimOf("local", "local"))
	return o
}

func BenchmarkNew(b *testing.B) {
	o := large(10000)
	for b.Loop() {
		if _, err := volume.New(o, nil, minors.Range{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	x, err := volume.New(large(2000), nil, minors.Range{})
	require.NoError(b, err)
	for name, claims := range map[string][]string{"none": nil, "bound": {"bound-7"}, "unbound": {"free-7"}, "local": {"local"}} {
		pod := podOf(claims...)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Of(pod); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAdmits(b *testing.B) {
	x, err := volume.New(large(2000), nil, minors.Range{})
	require.NoError(b, err)
	n, err := x.Of(podOf("bound-7", "free-7"))
	require.NoError(b, err)
	labels := labelsOf("zone=b,host=n7")
	for b.Loop() {
		if !x.Admits(&n, "n7", labels, false) {
			b.Fatal("refused")
		}
	}
}
