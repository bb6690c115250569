package volume_test

import (
	"fmt"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

// A pod has a disk in one of two zones and gets another where it is placed.
func Example() {
	x, err := volume.New(objects(
		claimOf("data", "fast", boundTo("disk-1")),
		volumeOf("disk-1", "fast", csi(ebs, "vol-1"), on("zone in (a, b)")),
		claimOf("log", "fast"),
		classOf("fast", ebs, allowed("zone", "b", "c")),
		csiNodeOf("node-1", counted(ebs, 2)),
	), nil, minors.Range{})
	if err != nil {
		fmt.Println(err)
		return
	}
	needs, err := x.Of(podOf("data", "log"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a new node:", needs.Alternatives[0])
	fmt.Println("node-1:", x.Admits(&needs, "node-1", map[string]string{"topology.kubernetes.io/zone": "a"}, false))
	fmt.Println("to attach:", needs.Attach[0].Count())
	// Output:
	// a new node: topology.kubernetes.io/zone = b
	// node-1: false
	// to attach: 2
}

func ExampleNew() {
	_, err := volume.New(volume.Objects{Classes: []*storagev1.StorageClass{nil, {}}}, nil, minors.Range{})
	fmt.Println(err)
	// Output:
	// Volumes.Classes[0]: is nil; leave it out
	// Volumes.Classes[1]: metadata.name: is empty; objects are told apart by their names
}

func ExampleIndex_Of_conflict() {
	x, _ := volume.New(objects(
		claimOf("data", "fast", boundTo("disk-1")), volumeOf("disk-1", "fast", on("zone = a")),
		claimOf("log", "fast", boundTo("disk-2")), volumeOf("disk-2", "fast", on("zone = b")),
	), nil, minors.Range{})
	_, err := x.Of(podOf("data", "log"))
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", ";\n"))
	// Output:
	// PersistentVolumeClaim "shop/log" asks for topology.kubernetes.io/zone = b, which no node can have that serves PersistentVolumeClaim "shop/data" too;
	// move the volumes to where one node can reach all
}

func ExampleIndex_Limit() {
	x, _ := volume.New(objects(csiNodeOf("node-1", counted(ebs, 25), storagev1.CSINodeDriver{Name: "efs.csi.aws.com"})), nil, minors.Range{})
	for _, driver := range []string{ebs, "efs.csi.aws.com", "pd.csi.storage.gke.io"} {
		n, state := x.Limit("node-1", driver)
		switch state {
		case volume.LimitCounted:
			fmt.Println(driver, n)
		case volume.LimitUnbounded:
			fmt.Println(driver, "any number")
		case volume.LimitUnpublished:
			fmt.Println(driver, "ask the instance type")
		}
	}
	// Output:
	// ebs.csi.aws.com 25
	// efs.csi.aws.com any number
	// pd.csi.storage.gke.io ask the instance type
}

// Pods with ephemeral volumes of one template are alike, so that their Needs
// are worked out once.
func ExampleIndex_Key() {
	x, _ := volume.New(objects(classOf("fast", ebs)), nil, minors.Range{})
	fmt.Println(x.Key(ephemeralPod("web-1", "fast")) == x.Key(ephemeralPod("web-2", "fast")))
	// Output: true
}

// Pods of a StatefulSet each have a claim; nobody else has.
func ExampleNeeds_Private() {
	x, _ := volume.New(objects(classOf("fast", ebs), claimOf("data-0", "fast"), claimOf("data-1", "fast")), nil, minors.Range{})
	a, _ := x.Of(podOf("data-0"))
	b, _ := x.Of(podOf("data-1"))
	fmt.Println(a.Key() == b.Key())
	alone := func(string) bool { return false }
	a, b = a.Private(alone), b.Private(alone)
	fmt.Println(a.Key() == b.Key(), a.Attach)
	// Output:
	// false
	// true [{ebs.csi.aws.com 1 []}]
}

func ExampleClaims() {
	fmt.Println(volume.Claims(podOf("log", "data", "log")))
	// Output: [shop/data shop/log]
}
