package verify_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

const (
	waits     = storagev1.VolumeBindingWaitForFirstConsumer
	immediate = storagev1.VolumeBindingImmediate
)

func TestBoundVolumes(t *testing.T) {
	broken := rules(verify.RuleVolumes)
	// tiny goes to old, in zone a.
	in := func(zone string) func(*scene) {
		return func(s *scene) { s.Volume("v", "", zone, "1Gi"); s.Claim("c", "", "v", s.Tiny) }
	}
	labelled := func(key, value string) func(*scene) {
		return func(s *scene) { in("")(s); s.In.Volumes.Volumes[0].Labels = map[string]string{key: value} }
	}
	onNew := func(zone string) func(*scene) {
		return func(s *scene) { s.Volume("v", "", zone, "1Gi"); s.Claim("c", "", "v", s.Webs[0]) }
	}
	judge(t, []verdict{
		{"anywhere", in(""), nil, ""},
		{"in reach", in("a"), nil, ""},
		{"out of reach", in("b"), broken, "node old: pod default/tiny: volume v of its claim c cannot be reached from the node, which may have topology.kubernetes.io/zone=a"},
		{"a selector of nothing", func(s *scene) { in("a")(s); s.In.Volumes.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms = nil }, broken, ""},
		{"a field of another node", func(s *scene) {
			in("a")(s)
			s.In.Volumes.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchFields = []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{"another"}},
			}
		}, nil, ""},
		{"nothing but a field", func(s *scene) {
			in("b")(s)
			s.In.Volumes.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms[0] = corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"old"}},
			}}
		}, nil, ""},
		{"a new node in either zone", onNew("a"), broken, "which may have topology.kubernetes.io/zone=b"},
		{"a new node in the zone", func(s *scene) { onNew("a")(s); s.pin(s.First(), "a") }, nil, ""},
		{"label of the zone", labelled(corev1.LabelTopologyZone, "a"), nil, ""},
		{"label of several zones", labelled(corev1.LabelTopologyZone, "c__a"), nil, ""},
		{"label of another zone", labelled(corev1.LabelTopologyZone, "c__b"), broken, "cannot be reached"},
		{"old label of the zone", labelled(corev1.LabelFailureDomainBetaZone, "a"), nil, ""},
		{"old label of another zone", labelled(corev1.LabelFailureDomainBetaZone, "b"), broken, ""},
		{"label that makes no sense", labelled(corev1.LabelTopologyZone, ""), nil, ""},
		{"a node without zones", func(s *scene) {
			labelled(corev1.LabelTopologyZone, "b")(s)
			delete(s.Old.Node.Labels, corev1.LabelTopologyZone)
		}, nil, ""},
		{"no volume", func(s *scene) { s.Claim("c", "", "v", s.Tiny) }, broken, "its claim c has volume v, which is not in the input"},
		{"no claim", func(s *scene) { s.Claim("c", "", "v", s.Tiny); s.In.Volumes.Claims = nil }, broken, "its claim c is not in the input"},
		{"a claim of another namespace", func(s *scene) { in("a")(s); s.In.Volumes.Claims[0].Namespace = "else" }, broken, "is not in the input"},
		{"a lost claim", func(s *scene) { in("a")(s); s.In.Volumes.Claims[0].Status.Phase = corev1.ClaimLost }, broken, "has lost its volume"},
		{"a claim being deleted", func(s *scene) { in("a")(s); s.In.Volumes.Claims[0].DeletionTimestamp = &metav1.Time{} }, broken, "is being deleted"},
		{"a volume of another claim", func(s *scene) {
			in("a")(s)
			s.In.Volumes.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "d"}
		}, broken, "belongs to claim default/d"},
		{"an ephemeral volume", func(s *scene) { s.ephemeral(s.Tiny); s.Class("fast", "disk.example.com", waits) }, nil, ""},
		{"an ephemeral volume of no class", func(s *scene) { s.ephemeral(s.Tiny) }, broken, "its claim tiny-e has no volume, and its storage class fast is not in the input"},
		{"an ephemeral volume with the claim of another", func(s *scene) {
			s.ephemeral(s.Tiny)
			s.Tiny.UID = "u-1"
			s.Class("fast", "disk.example.com", waits)
			s.Claim("tiny-e", "fast", "")
		}, broken, "is not owned by the pod"},
		{"one pod only, and it is the one", func(s *scene) { in("a")(s); s.oncePod() }, nil, ""},
		{"one pod only, and one runs", func(s *scene) { in("a")(s); s.oncePod(); s.Plain.Pods = []*corev1.Pod{s.user("c")} }, broken, "may be used by one pod only"},
		{"one pod only, and one comes before", func(s *scene) { onNew("")(s); s.oncePod(); s.Webs[1].Spec.Volumes = s.Webs[0].Spec.Volumes }, broken, "default/web-2"},
		{"many pods", func(s *scene) { onNew("")(s); s.Webs[1].Spec.Volumes = s.Webs[0].Spec.Volumes }, nil, ""},
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
	s.In.Volumes.Claims[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

// user returns a pod that runs and uses a claim.
func (s *scene) user(claims ...string) *corev1.Pod {
	pod := scenes.Pod("user", "1m", "1Mi")
	for _, name := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	return pod
}

func TestUnboundVolumes(t *testing.T) {
	broken := rules(verify.RuleVolumes)
	made := func(mode storagev1.VolumeBindingMode, zones ...string) func(*scene) {
		return func(s *scene) { s.Class("fast", "disk.example.com", mode, zones...); s.Claim("c", "fast", "", s.Tiny) }
	}
	found := func(zone, size string) func(*scene) {
		return func(s *scene) {
			s.Class("local", "kubernetes.io/no-provisioner", waits)
			s.Claim("c", "local", "", s.Tiny)
			s.Volume("v", "local", zone, size)
		}
	}
	// byDefault has a claim without a class, and default classes, the oldest first.
	byDefault := func(classes ...string) func(*scene) {
		return func(s *scene) {
			for i, name := range classes {
				provisioner := map[string]string{"fast": "disk.example.com", "local": "kubernetes.io/no-provisioner"}[name]
				s.Class(name, provisioner, waits)
				s.In.Volumes.Classes[i].Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
				s.In.Volumes.Classes[i].CreationTimestamp = metav1.Unix(int64(i), 0)
			}
			s.Claim("c", "", "", s.Tiny).Spec.StorageClassName = nil
		}
	}
	judge(t, []verdict{
		{"made anywhere", made(waits), nil, ""},
		{"made in the zone", made(waits, "a"), nil, ""},
		{"made in another zone", made(waits, "b"), broken, "its storage class makes none where the node may be"},
		{"made in one of the zones of a new node", func(s *scene) {
			s.Class("fast", "disk.example.com", waits, "a")
			s.Claim("c", "fast", "", s.Webs[0])
		}, broken, "node general-1"},
		{"made in the zone of a new node", func(s *scene) {
			s.Class("fast", "disk.example.com", waits, "a")
			s.Claim("c", "fast", "", s.Webs[0])
			s.pin(s.First(), "a")
		}, nil, ""},
		{"made by now", made(immediate), broken, "does not wait for a pod"},
		{"no class", func(s *scene) { s.Claim("c", "", "", s.Tiny) }, broken, "neither a volume nor a storage class"},
		{"a class that is not there", func(s *scene) { s.Claim("c", "slow", "", s.Tiny) }, broken, "storage class slow is not in the input"},
		{"no class, and one is the default", byDefault("fast"), nil, ""},
		{"no class, and the newest default is not one that would do", byDefault("fast", "local"), broken, "its storage class makes none"},
		{"no class, and of equally new defaults the first by name", func(s *scene) {
			byDefault("fast", "local")(s)
			s.In.Volumes.Classes[1].CreationTimestamp = s.In.Volumes.Classes[0].CreationTimestamp
		}, nil, ""},
		{"the class of no name, and one is the default", func(s *scene) {
			byDefault("fast")(s)
			s.In.Volumes.Claims[0].Spec.StorageClassName = new(string)
		}, broken, "neither a volume nor a storage class"},
		{"an ephemeral volume of the default class", func(s *scene) {
			byDefault("fast")(s)
			s.ephemeral(s.Tiny)
			s.Tiny.Spec.Volumes[1].Ephemeral.VolumeClaimTemplate.Spec.StorageClassName = nil
		}, nil, ""},
		{"made for another node", all(made(waits), func(s *scene) {
			s.In.Volumes.Claims[0].Annotations = map[string]string{"volume.kubernetes.io/selected-node": "plain"}
		}), broken, "waits for its volume on node plain"},
		{"made for another node than a new one", func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			s.Claim("c", "fast", "", s.Webs[0]).Annotations = map[string]string{"volume.kubernetes.io/selected-node": "gone"}
		}, broken, "waits for its volume on node gone"},
		{"an ephemeral volume of the class of an annotation", func(s *scene) {
			s.Class("slow", "disk.example.com", waits)
			s.ephemeral(s.Tiny)
			s.Tiny.Spec.Volumes[0].Ephemeral.VolumeClaimTemplate.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "slow"}
		}, nil, ""},
		{"made for the node", all(made(waits), func(s *scene) {
			s.In.Volumes.Claims[0].Annotations = map[string]string{"volume.kubernetes.io/selected-node": "old"}
		}), nil, ""},
		{"found", found("a", "1Gi"), nil, ""},
		{"found elsewhere", found("b", "1Gi"), broken, "has no volume that the node can reach"},
		{"too small", found("a", "1Mi"), broken, "has no volume"},
		{"taken", all(found("a", "1Gi"), func(s *scene) { s.In.Volumes.Volumes[0].Status.Phase = corev1.VolumeBound }), broken, "has no volume"},
		{"set aside for it", all(found("a", "1Gi"), func(s *scene) {
			s.In.Volumes.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "c"}
			s.In.Volumes.Volumes[0].Status.Phase = corev1.VolumeBound
		}), nil, ""},
		{"set aside for another", all(found("a", "1Gi"), func(s *scene) {
			s.In.Volumes.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "d"}
		}), broken, "has no volume"},
		{"other modes", all(found("a", "1Gi"), func(s *scene) {
			s.In.Volumes.Claims[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		}), broken, "has no volume"},
		{"other labels", all(found("a", "1Gi"), func(s *scene) { s.In.Volumes.Claims[0].Spec.Selector = scenes.TeamSelector("t") }), broken, "has no volume"},
		{"one volume for two claims", all(found("", "1Gi"), func(s *scene) { s.Claim("d", "local", "", s.Webs[0]) }), broken, "has no volume"},
		{"two volumes for two claims", all(found("", "1Gi"), func(s *scene) { s.Claim("d", "local", "", s.Webs[0]); s.Volume("w", "local", "", "2Gi") }), nil, ""},
		{"two claims of one pod", all(found("a", "1Gi"), func(s *scene) { s.Claim("d", "local", "", s.Tiny) }), broken, "its claim d has no volume"},
		{"one claim of two pods on one node", func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			s.Claim("c", "fast", "", s.Webs...)
		}, nil, ""},
		{"one claim of two pods in two zones", func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			s.Claim("c", "fast", "", s.Webs[0], s.Tiny)
		}, broken, "which may be in another zone"},
		{"one shared claim of two pods in two zones", func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			s.Claim("c", "fast", "", s.Webs[0], s.Tiny).Spec.AccessModes[0] = corev1.ReadWriteMany
		}, nil, ""},
		{"one claim of two pods in one zone", func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			s.Claim("c", "fast", "", s.Webs[0], s.Tiny)
			s.pin(s.First(), "a")
		}, nil, ""},
	})
}

func TestAttachments(t *testing.T) {
	broken := rules(verify.RuleVolumes)
	csi := func(count int32) *storagev1.CSINode {
		n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
		n.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "disk.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}
		return n
	}
	// tiny uses some volumes, and goes to old, where pod user has c-0.
	use := func(count int, limit int32) func(*scene) {
		return func(s *scene) {
			for i := range count + 1 {
				pods := []*corev1.Pod{s.Tiny}
				if i == 0 {
					pods = nil
				}
				s.Volume(fmt.Sprintf("v-%d", i), "", "", "1Gi")
				s.Claim(fmt.Sprintf("c-%d", i), "", fmt.Sprintf("v-%d", i), pods...)
			}
			s.Old.Pods = append(s.Old.Pods, s.user("c-0"))
			s.In.Volumes.CSINodes = []*storagev1.CSINode{csi(limit)}
		}
	}
	onNew := func(count int, limit int64, types ...string) func(*scene) {
		return func(s *scene) {
			s.Class("fast", "disk.example.com", waits)
			for i := range count {
				s.Claim(fmt.Sprintf("c-%d", i), "fast", "", s.Webs[i%2])
			}
			if slices.Contains(types, "small") {
				s.Small.VolumeAttachmentLimits = map[string]int64{"disk.example.com": limit}
			}
			if slices.Contains(types, "large") {
				s.Large.VolumeAttachmentLimits = map[string]int64{"disk.example.com": limit}
			}
		}
	}
	judge(t, []verdict{
		{"as many as go", use(2, 3), nil, ""},
		{"one too many", use(3, 3), broken, "node old: its pods use 4 volumes of driver disk.example.com, but it can attach 3"},
		{"attached already", func(s *scene) { use(2, 2)(s); s.Tiny.Spec.Volumes = s.user("c-0").Spec.Volumes }, nil, ""},
		{"over the limit already, and no more", func(s *scene) { use(2, 0)(s); s.Tiny.Spec.Volumes = s.user("c-0").Spec.Volumes }, nil, ""},
		{"another driver", func(s *scene) { use(3, 3)(s); s.In.Volumes.CSINodes[0].Spec.Drivers[0].Name = "else" }, nil, ""},
		{"no limit", func(s *scene) { use(3, 3)(s); s.In.Volumes.CSINodes[0].Spec.Drivers[0].Allocatable = nil }, nil, ""},
		{"limit of the instance type", func(s *scene) {
			use(3, 3)(s)
			s.In.Volumes.CSINodes = nil
			s.Old.Node.Labels[corev1.LabelInstanceTypeStable] = "small"
			s.Small.VolumeAttachmentLimits = map[string]int64{"disk.example.com": 3}
		}, broken, "it can attach 3"},
		{"a plugin that a driver has taken over from", func(s *scene) {
			use(3, 3)(s)
			s.In.Volumes.CSINodes[0].Spec.Drivers[0].Name = "ebs.csi.aws.com"
			s.In.Volumes.CSINodes[0].Annotations = map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
			for _, v := range s.In.Volumes.Volumes {
				v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: v.Name}}
			}
		}, broken, "4 volumes of driver ebs.csi.aws.com"},
		{"new node, as many as go", onNew(3, 3, "small", "large"), nil, ""},
		{"new node, one too many", onNew(4, 3, "small", "large"), broken, "node general-1: its pods use 4 volumes"},
		{"new node, one too many for some option", onNew(4, 3, "large"), broken, "it can attach 3"},
		{"new node, no limits", onNew(4, 3), nil, ""},
		{"new node, one volume twice", func(s *scene) {
			onNew(3, 3, "small")(s)
			s.Webs[0].Spec.Volumes = s.user("c-0", "c-1", "c-2").Spec.Volumes
		}, nil, ""},
	})
}
