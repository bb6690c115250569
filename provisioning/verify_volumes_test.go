package provisioning_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// claim makes a claim of 1Gi, bound to a volume if one is named, and lets pods
// use it.
func (s *scene) claim(name, class, volume string, pods ...*corev1.Pod) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.VolumeName, c.Spec.StorageClassName = volume, &class
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	if volume != "" {
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
	s.in.Volumes.Claims = append(s.in.Volumes.Claims, c)
	for _, pod := range pods {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	return c
}

// volume makes a free volume, in a zone if one is named.
func (s *scene) volume(name, class, zone, size string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.StorageClassName = class
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: name}
	v.Status.Phase = corev1.VolumeAvailable
	if zone != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
		}}}}
	}
	s.in.Volumes.Volumes = append(s.in.Volumes.Volumes, v)
	return v
}

func (s *scene) class(name, provisioner string, mode storagev1.VolumeBindingMode, zones ...string) {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	if len(zones) > 0 {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: corev1.LabelTopologyZone, Values: zones},
		}}}
	}
	s.in.Volumes.Classes = append(s.in.Volumes.Classes, c)
}

const (
	waits     = storagev1.VolumeBindingWaitForFirstConsumer
	immediate = storagev1.VolumeBindingImmediate
)

func TestVerifyBoundVolumes(t *testing.T) {
	broken := rules(provisioning.RuleVolumes)
	// tiny goes to old, in zone a.
	in := func(zone string) func(*scene) {
		return func(s *scene) { s.volume("v", "", zone, "1Gi"); s.claim("c", "", "v", s.tiny) }
	}
	labelled := func(key, value string) func(*scene) {
		return func(s *scene) { in("")(s); s.in.Volumes.Volumes[0].Labels = map[string]string{key: value} }
	}
	onNew := func(zone string) func(*scene) {
		return func(s *scene) { s.volume("v", "", zone, "1Gi"); s.claim("c", "", "v", s.webs[0]) }
	}
	judge(t, []verdict{
		{"anywhere", in(""), nil, ""},
		{"in reach", in("a"), nil, ""},
		{"out of reach", in("b"), broken, "node old: pod default/tiny: volume v of its claim c cannot be reached from the node, which may have topology.kubernetes.io/zone=a"},
		{"a selector of nothing", func(s *scene) { in("a")(s); s.in.Volumes.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms = nil }, broken, ""},
		{"a new node in either zone", onNew("a"), broken, "which may have topology.kubernetes.io/zone=b"},
		{"a new node in the zone", func(s *scene) { onNew("a")(s); s.pin(s.first(), "a") }, nil, ""},
		{"label of the zone", labelled(corev1.LabelTopologyZone, "a"), nil, ""},
		{"label of several zones", labelled(corev1.LabelTopologyZone, "c__a"), nil, ""},
		{"label of another zone", labelled(corev1.LabelTopologyZone, "c__b"), broken, "cannot be reached"},
		{"old label of the zone", labelled(corev1.LabelFailureDomainBetaZone, "a"), nil, ""},
		{"old label of another zone", labelled(corev1.LabelFailureDomainBetaZone, "b"), broken, ""},
		{"label that makes no sense", labelled(corev1.LabelTopologyZone, ""), nil, ""},
		{"a node without zones", func(s *scene) {
			labelled(corev1.LabelTopologyZone, "b")(s)
			delete(s.old.Node.Labels, corev1.LabelTopologyZone)
		}, nil, ""},
		{"no volume", func(s *scene) { s.claim("c", "", "v", s.tiny) }, broken, "its claim c has volume v, which is not in the input"},
		{"no claim", func(s *scene) { s.claim("c", "", "v", s.tiny); s.in.Volumes.Claims = nil }, broken, "its claim c is not in the input"},
		{"a claim of another namespace", func(s *scene) { in("a")(s); s.in.Volumes.Claims[0].Namespace = "else" }, broken, "is not in the input"},
		{"a lost claim", func(s *scene) { in("a")(s); s.in.Volumes.Claims[0].Status.Phase = corev1.ClaimLost }, broken, "has lost its volume"},
		{"a claim being deleted", func(s *scene) { in("a")(s); s.in.Volumes.Claims[0].DeletionTimestamp = &metav1.Time{} }, broken, "is being deleted"},
		{"a volume of another claim", func(s *scene) {
			in("a")(s)
			s.in.Volumes.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "d"}
		}, broken, "belongs to claim default/d"},
		{"an ephemeral volume", func(s *scene) { s.ephemeral(s.tiny); s.class("fast", "disk.example.com", waits) }, nil, ""},
		{"an ephemeral volume of no class", func(s *scene) { s.ephemeral(s.tiny) }, broken, "its claim tiny-e has no volume, and its storage class fast is not in the input"},
		{"an ephemeral volume with the claim of another", func(s *scene) {
			s.ephemeral(s.tiny)
			s.tiny.UID = "u-1"
			s.class("fast", "disk.example.com", waits)
			s.claim("tiny-e", "fast", "")
		}, broken, "is not owned by the pod"},
		{"one pod only, and it is the one", func(s *scene) { in("a")(s); s.oncePod() }, nil, ""},
		{"one pod only, and one runs", func(s *scene) { in("a")(s); s.oncePod(); s.plain.Pods = []*corev1.Pod{s.user("c")} }, broken, "may be used by one pod only"},
		{"one pod only, and one comes before", func(s *scene) { onNew("")(s); s.oncePod(); s.webs[1].Spec.Volumes = s.webs[0].Spec.Volumes }, broken, "default/web-2"},
		{"many pods", func(s *scene) { onNew("")(s); s.webs[1].Spec.Volumes = s.webs[0].Spec.Volumes }, nil, ""},
	})
}

func (s *scene) ephemeral(pod *corev1.Pod) {
	class := "fast"
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "e", VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class},
		}},
	}})
}

func (s *scene) oncePod() {
	s.in.Volumes.Claims[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

// user is a pod that runs and uses a claim.
func (s *scene) user(claims ...string) *corev1.Pod {
	pod := scenePod("user", "1m", "1Mi")
	for _, name := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	return pod
}

func TestVerifyUnboundVolumes(t *testing.T) {
	broken := rules(provisioning.RuleVolumes)
	made := func(mode storagev1.VolumeBindingMode, zones ...string) func(*scene) {
		return func(s *scene) { s.class("fast", "disk.example.com", mode, zones...); s.claim("c", "fast", "", s.tiny) }
	}
	found := func(zone, size string) func(*scene) {
		return func(s *scene) {
			s.class("local", "kubernetes.io/no-provisioner", waits)
			s.claim("c", "local", "", s.tiny)
			s.volume("v", "local", zone, size)
		}
	}
	both := func(plants ...func(*scene)) func(*scene) {
		return func(s *scene) {
			for _, plant := range plants {
				plant(s)
			}
		}
	}
	judge(t, []verdict{
		{"made anywhere", made(waits), nil, ""},
		{"made in the zone", made(waits, "a"), nil, ""},
		{"made in another zone", made(waits, "b"), broken, "its storage class makes none where the node may be"},
		{"made in one of the zones of a new node", func(s *scene) {
			s.class("fast", "disk.example.com", waits, "a")
			s.claim("c", "fast", "", s.webs[0])
		}, broken, "node general-1"},
		{"made in the zone of a new node", func(s *scene) {
			s.class("fast", "disk.example.com", waits, "a")
			s.claim("c", "fast", "", s.webs[0])
			s.pin(s.first(), "a")
		}, nil, ""},
		{"made by now", made(immediate), broken, "does not wait for a pod"},
		{"no class", func(s *scene) { s.claim("c", "", "", s.tiny) }, broken, "neither a volume nor a storage class"},
		{"a class that is not there", func(s *scene) { s.claim("c", "slow", "", s.tiny) }, broken, "storage class slow is not in the input"},
		{"made for another node", both(made(waits), func(s *scene) {
			s.in.Volumes.Claims[0].Annotations = map[string]string{"volume.kubernetes.io/selected-node": "plain"}
		}), broken, "waits for its volume on node plain"},
		{"made for the node", both(made(waits), func(s *scene) {
			s.in.Volumes.Claims[0].Annotations = map[string]string{"volume.kubernetes.io/selected-node": "old"}
		}), nil, ""},
		{"found", found("a", "1Gi"), nil, ""},
		{"found elsewhere", found("b", "1Gi"), broken, "has no volume that the node can reach"},
		{"too small", found("a", "1Mi"), broken, "has no volume"},
		{"taken", both(found("a", "1Gi"), func(s *scene) { s.in.Volumes.Volumes[0].Status.Phase = corev1.VolumeBound }), broken, "has no volume"},
		{"set aside for it", both(found("a", "1Gi"), func(s *scene) {
			s.in.Volumes.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "c"}
			s.in.Volumes.Volumes[0].Status.Phase = corev1.VolumeBound
		}), nil, ""},
		{"set aside for another", both(found("a", "1Gi"), func(s *scene) {
			s.in.Volumes.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "d"}
		}), broken, "has no volume"},
		{"other modes", both(found("a", "1Gi"), func(s *scene) {
			s.in.Volumes.Claims[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		}), broken, "has no volume"},
		{"other labels", both(found("a", "1Gi"), func(s *scene) { s.in.Volumes.Claims[0].Spec.Selector = teamSelector("t") }), broken, "has no volume"},
		{"one volume for two claims", both(found("", "1Gi"), func(s *scene) { s.claim("d", "local", "", s.webs[0]) }), broken, "has no volume"},
		{"two volumes for two claims", both(found("", "1Gi"), func(s *scene) { s.claim("d", "local", "", s.webs[0]); s.volume("w", "local", "", "2Gi") }), nil, ""},
		{"two claims of one pod", both(found("a", "1Gi"), func(s *scene) { s.claim("d", "local", "", s.tiny) }), broken, "its claim d has no volume"},
		{"one claim of two pods on one node", func(s *scene) {
			s.class("fast", "disk.example.com", waits)
			s.claim("c", "fast", "", s.webs...)
		}, nil, ""},
		{"one claim of two pods in two zones", func(s *scene) {
			s.class("fast", "disk.example.com", waits)
			s.claim("c", "fast", "", s.webs[0], s.tiny)
		}, broken, "which may be in another zone"},
		{"one shared claim of two pods in two zones", func(s *scene) {
			s.class("fast", "disk.example.com", waits)
			s.claim("c", "fast", "", s.webs[0], s.tiny).Spec.AccessModes[0] = corev1.ReadWriteMany
		}, nil, ""},
		{"one claim of two pods in one zone", func(s *scene) {
			s.class("fast", "disk.example.com", waits)
			s.claim("c", "fast", "", s.webs[0], s.tiny)
			s.pin(s.first(), "a")
		}, nil, ""},
	})
}

func TestVerifyAttachments(t *testing.T) {
	broken := rules(provisioning.RuleVolumes)
	csi := func(count int32) *storagev1.CSINode {
		n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
		n.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "disk.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}
		return n
	}
	// tiny uses some volumes, and goes to old, where pod user has c-0.
	use := func(count int, limit int32) func(*scene) {
		return func(s *scene) {
			for i := range count + 1 {
				pods := []*corev1.Pod{s.tiny}
				if i == 0 {
					pods = nil
				}
				s.volume(fmt.Sprintf("v-%d", i), "", "", "1Gi")
				s.claim(fmt.Sprintf("c-%d", i), "", fmt.Sprintf("v-%d", i), pods...)
			}
			s.old.Pods = append(s.old.Pods, s.user("c-0"))
			s.in.Volumes.CSINodes = []*storagev1.CSINode{csi(limit)}
		}
	}
	onNew := func(count int, limit int64, types ...string) func(*scene) {
		return func(s *scene) {
			s.class("fast", "disk.example.com", waits)
			for i := range count {
				s.claim(fmt.Sprintf("c-%d", i), "fast", "", s.webs[i%2])
			}
			if slices.Contains(types, "small") {
				s.small.VolumeAttachmentLimits = map[string]int64{"disk.example.com": limit}
			}
			if slices.Contains(types, "large") {
				s.large.VolumeAttachmentLimits = map[string]int64{"disk.example.com": limit}
			}
		}
	}
	judge(t, []verdict{
		{"as many as go", use(2, 3), nil, ""},
		{"one too many", use(3, 3), broken, "node old: its pods use 4 volumes of driver disk.example.com, but it can attach 3"},
		{"attached already", func(s *scene) { use(2, 2)(s); s.tiny.Spec.Volumes = s.user("c-0").Spec.Volumes }, nil, ""},
		{"over the limit already, and no more", func(s *scene) { use(2, 0)(s); s.tiny.Spec.Volumes = s.user("c-0").Spec.Volumes }, nil, ""},
		{"another driver", func(s *scene) { use(3, 3)(s); s.in.Volumes.CSINodes[0].Spec.Drivers[0].Name = "else" }, nil, ""},
		{"no limit", func(s *scene) { use(3, 3)(s); s.in.Volumes.CSINodes[0].Spec.Drivers[0].Allocatable = nil }, nil, ""},
		{"limit of the instance type", func(s *scene) {
			use(3, 3)(s)
			s.in.Volumes.CSINodes = nil
			s.old.Node.Labels[corev1.LabelInstanceTypeStable] = "small"
			s.small.VolumeAttachmentLimits = map[string]int64{"disk.example.com": 3}
		}, broken, "it can attach 3"},
		{"a plugin that a driver has taken over from", func(s *scene) {
			use(3, 3)(s)
			s.in.Volumes.CSINodes[0].Spec.Drivers[0].Name = "ebs.csi.aws.com"
			s.in.Volumes.CSINodes[0].Annotations = map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
			for _, v := range s.in.Volumes.Volumes {
				v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: v.Name}}
			}
		}, broken, "4 volumes of driver ebs.csi.aws.com"},
		{"new node, as many as go", onNew(3, 3, "small", "large"), nil, ""},
		{"new node, one too many", onNew(4, 3, "small", "large"), broken, "node general-1: its pods use 4 volumes"},
		{"new node, one too many for some option", onNew(4, 3, "large"), broken, "it can attach 3"},
		{"new node, no limits", onNew(4, 3), nil, ""},
		{"new node, one volume twice", func(s *scene) {
			onNew(3, 3, "small")(s)
			s.webs[0].Spec.Volumes = s.user("c-0", "c-1", "c-2").Spec.Volumes
		}, nil, ""},
	})
}
