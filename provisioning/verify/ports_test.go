package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func listen(pod *corev1.Pod, ports ...corev1.ContainerPort) {
	pod.Spec.Containers[0].Ports = ports
}

func TestHostPorts(t *testing.T) {
	port := func(n int32, ip string, protocol corev1.Protocol) corev1.ContainerPort {
		return corev1.ContainerPort{HostPort: n, HostIP: ip, Protocol: protocol}
	}
	// tiny goes to old, beside pod bound.
	both := func(a, b corev1.ContainerPort) func(*scene) {
		return func(s *scene) { listen(s.Tiny, a); listen(s.Old.Pods[0], b) }
	}
	always := corev1.ContainerRestartPolicyAlways
	broken := rules(verify.RuleHostPorts)
	judge(t, []verdict{
		{"free", func(s *scene) { listen(s.Tiny, port(80, "", "")) }, nil, ""},
		{"taken", both(port(80, "", ""), port(80, "", "TCP")), broken, "node old: pod default/tiny: it asks for port 80/TCP, which default/bound has there"},
		{"another port", both(port(80, "", ""), port(81, "", "")), nil, ""},
		{"another protocol", both(port(80, "", "TCP"), port(80, "", "UDP")), nil, ""},
		{"another address", both(port(80, "10.0.0.1", ""), port(80, "10.0.0.2", "")), nil, ""},
		{"the same address", both(port(80, "10.0.0.1", ""), port(80, "10.0.0.1", "")), broken, ""},
		{"any address", both(port(80, "10.0.0.1", ""), port(80, "0.0.0.0", "")), broken, ""},
		{"no host port", both(corev1.ContainerPort{ContainerPort: 80}, port(80, "", "")), nil, ""},
		{"twice in one pod", func(s *scene) { listen(s.Tiny, port(80, "", ""), port(80, "10.0.0.1", "")) }, nil, ""},
		{"an init container that ends", func(s *scene) {
			listen(s.Old.Pods[0], port(80, "", ""))
			s.Tiny.Spec.InitContainers = []corev1.Container{{Ports: []corev1.ContainerPort{port(80, "", "")}}}
		}, nil, ""},
		{"a sidecar", func(s *scene) {
			listen(s.Old.Pods[0], port(80, "", ""))
			s.Tiny.Spec.InitContainers = []corev1.Container{{Ports: []corev1.ContainerPort{port(80, "", "")}, RestartPolicy: &always}}
		}, broken, ""},
		{"on one new node", func(s *scene) { listen(s.Webs[0], port(80, "", "")); listen(s.Webs[1], port(80, "", "")) }, broken, "node general-1: pod default/web-2"},
		{"on two nodes", func(s *scene) { listen(s.Webs[0], port(80, "", "")); listen(s.Night, port(80, "", "")) }, nil, ""},
		{"a DaemonSet on a new node", func(s *scene) { listen(s.Webs[0], port(80, "", "")); listen(s.Daemon, port(80, "", "")) }, broken, "default/agent has there"},
		{"a DaemonSet that comes to an old node", func(s *scene) { listen(s.Tiny, port(80, "", "")); listen(s.Daemon, port(80, "", "")) }, broken, "default/agent has there"},
		{"the other pod is done", func(s *scene) {
			both(port(80, "", ""), port(80, "", ""))(s)
			s.Old.Pods[0].Status.Phase = corev1.PodFailed
		}, nil, ""},
	})
}

func TestInlineDisks(t *testing.T) {
	mount := func(pod *corev1.Pod, source corev1.VolumeSource) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}}
	}
	both := func(a, b corev1.VolumeSource) func(*scene) {
		return func(s *scene) { mount(s.Tiny, a); mount(s.Old.Pods[0], b) }
	}
	gce := func(name string, readOnly bool) corev1.VolumeSource {
		return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
	}
	rbd := func(readOnly bool, monitors ...string) corev1.VolumeSource {
		return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: "p", RBDImage: "i", ReadOnly: readOnly}}
	}
	aws := corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1", ReadOnly: true}}
	iscsi := corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: "iqn-1"}}
	broken := rules(verify.RuleVolumes)
	judge(t, []verdict{
		{"one disk", both(gce("d", false), gce("d", true)), broken, "it asks for disk d, which default/bound has there"},
		{"one disk, read only", both(gce("d", true), gce("d", true)), nil, ""},
		{"two disks", both(gce("d", false), gce("e", false)), nil, ""},
		{"one EBS volume, even read only", both(aws, aws), broken, "volume vol-1"},
		{"one target", both(iscsi, iscsi), broken, "target iqn-1"},
		{"one image by one monitor", both(rbd(false, "m", "n"), rbd(true, "n")), broken, "image i of pool p at n"},
		{"one image by other monitors", both(rbd(false, "m"), rbd(false, "n")), nil, ""},
		{"no disk", both(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, aws), nil, ""},
	})
}
