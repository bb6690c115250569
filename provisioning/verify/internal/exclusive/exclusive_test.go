package exclusive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/exclusive"
)

func port(number int32, ip string, protocol corev1.Protocol) *corev1.Pod {
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: number, HostIP: ip, Protocol: protocol}}}}
	return p
}

func disk(of corev1.VolumeSource) *corev1.Pod {
	p := &corev1.Pod{}
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: of}}
	return p
}

func gce(name string, reads bool) *corev1.Pod {
	return disk(corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: reads}})
}

func ebs(reads bool) *corev1.Pod {
	return disk(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol", ReadOnly: reads}})
}

func iscsi(iqn string, reads bool) *corev1.Pod {
	return disk(corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: iqn, ReadOnly: reads}})
}

func rbd(reads bool, monitors ...string) *corev1.Pod {
	return disk(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: "p", RBDImage: "i", ReadOnly: reads}})
}

// clash says whether two pods take what cannot be had twice, and that it does not matter
// which is asked.
func clash(t *testing.T, a, b *corev1.Pod) bool {
	t.Helper()
	out := false
	for _, x := range exclusive.Of(a) {
		for _, y := range exclusive.Of(b) {
			require.Equal(t, x.Clashes(y), y.Clashes(x), "%v and %v", x, y)
			out = out || x.Clashes(y)
		}
	}
	return out
}

func TestWhatClashes(t *testing.T) {
	for name, c := range map[string]struct {
		a, b *corev1.Pod
		want bool
	}{
		"a port":                            {port(80, "", "TCP"), port(80, "", "TCP"), true},
		"a protocol that is not said":       {port(80, "", ""), port(80, "", "TCP"), true},
		"another protocol":                  {port(80, "", "UDP"), port(80, "", "TCP"), false},
		"another port":                      {port(81, "", "TCP"), port(80, "", "TCP"), false},
		"all addresses":                     {port(80, "0.0.0.0", "TCP"), port(80, "10.0.0.1", "TCP"), true},
		"one address":                       {port(80, "10.0.0.1", "TCP"), port(80, "10.0.0.1", "TCP"), true},
		"another address":                   {port(80, "10.0.0.2", "TCP"), port(80, "10.0.0.1", "TCP"), false},
		"a port of the container alone":     {port(0, "", "TCP"), port(0, "", "TCP"), false},
		"a disk":                            {gce("d", false), gce("d", false), true},
		"a disk that one reads":             {gce("d", true), gce("d", false), true},
		"a disk that both read":             {gce("d", true), gce("d", true), false},
		"another disk":                      {gce("d", false), gce("e", false), false},
		"a volume, read or not":             {ebs(true), ebs(true), true},
		"a target":                          {iscsi("t", false), iscsi("t", true), true},
		"a target that both read":           {iscsi("t", true), iscsi("t", true), false},
		"an image at one monitor in common": {rbd(false, "m1", "m2"), rbd(true, "m2", "m3"), true},
		"an image at other monitors":        {rbd(false, "m1"), rbd(false, "m2"), false},
		"a disk and a port":                 {gce("80/TCP", false), port(80, "", "TCP"), false},
	} {
		require.Equal(t, c.want, clash(t, c.a, c.b), name)
	}
}

// TestInitContainers: those that keep running hold their ports, those that end leave them.
func TestInitContainers(t *testing.T) {
	p := &corev1.Pod{}
	p.Spec.InitContainers = port(80, "", "TCP").Spec.Containers
	require.Empty(t, exclusive.Of(p))
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers[0].RestartPolicy = &always
	require.True(t, clash(t, p, port(80, "", "TCP")))
}
