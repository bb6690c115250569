package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReasons(t *testing.T) {
	edit := func(edits ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
		return claimOf("data", "fast", edits...)
	}
	annotated := func(key, value string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { c.Annotations[key] = value }
	}
	noTemplate := ephemeralPod("web", "fast")
	noTemplate.Spec.Volumes[0].Ephemeral.VolumeClaimTemplate = nil
	fast, local := classOf("fast", ebs), classOf("fast", "kubernetes.io/no-provisioner")
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		objects []any
		want    string
	}{
		"no pod": {nil, nil, `the pod is nil; leave it out`},
		"claim missing": {podOf("data"), nil,
			`PersistentVolumeClaim "shop/data" is not found; create it`},
		"claim in another namespace": {podOf("data"), []any{edit(func(c *corev1.PersistentVolumeClaim) { c.Namespace = "bank" })},
			`PersistentVolumeClaim "shop/data" is not found; create it`},
		"claim being deleted": {podOf("data"), []any{fast, edit(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })},
			`PersistentVolumeClaim "shop/data" is being deleted; create it anew once it is gone`},
		"claim lost": {podOf("data"), []any{edit(boundTo("v"), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })},
			`PersistentVolumeClaim "shop/data" has lost volume "v"; bring the volume back or create the claim anew`},
		"not bound completely": {podOf("data"), []any{fast, volumeOf("v", "fast"), edit(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" })},
			`PersistentVolumeClaim "shop/data" asks for volume "v" and is not bound to it yet; wait for that, or see whether the two match`},
		"volume missing": {podOf("data"), []any{edit(boundTo("v"))},
			`PersistentVolumeClaim "shop/data" is bound to volume "v", which does not exist; bring the volume back or create the claim anew`},
		"volume nowhere": {podOf("data"), []any{edit(boundTo("v")), volumeOf("v", "fast", on())},
			`PersistentVolumeClaim "shop/data": the node affinity of volume "v" admits no node; correct the volume`},
		"no default class": {podOf("data"), []any{fast, claimOf("data", "")},
			`PersistentVolumeClaim "shop/data" names no StorageClass and none is the default; name one, or mark one as the default`},
		"empty class": {podOf("data"), []any{fast, edit(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("") })},
			`PersistentVolumeClaim "shop/data" is not bound, and it asks for no StorageClass that could make a volume; create a volume that matches it`},
		"empty class by annotation": {podOf("data"), []any{fast, edit(annotated(corev1.BetaStorageClassAnnotation, ""))},
			`PersistentVolumeClaim "shop/data" is not bound, and it asks for no StorageClass that could make a volume; create a volume that matches it`},
		"class missing": {podOf("data"), []any{edit()},
			`PersistentVolumeClaim "shop/data": StorageClass "fast" is not found; create it or name another`},
		"class binds at once": {podOf("data"), []any{classOf("fast", ebs, immediate), edit()},
			`PersistentVolumeClaim "shop/data" is not bound, and StorageClass "fast" does not wait for a pod to bind it; ` +
				`see the events of the claim, or use a class with volumeBindingMode WaitForFirstConsumer`},
		"class without a mode": {podOf("data"), []any{classOf("fast", ebs, func(c *storagev1.StorageClass) { c.VolumeBindingMode = nil }), edit()},
			`PersistentVolumeClaim "shop/data" is not bound, and StorageClass "fast" does not wait for a pod to bind it; ` +
				`see the events of the claim, or use a class with volumeBindingMode WaitForFirstConsumer`},
		"no volume to be had": {podOf("data"), []any{local, edit()},
			`PersistentVolumeClaim "shop/data": no free volume matches it, and StorageClass "fast" makes none; create a volume of 10Gi or more that matches`},
		"topologies nowhere": {podOf("data"), []any{classOf("fast", ebs, allowed("zone")), edit()},
			`PersistentVolumeClaim "shop/data": allowedTopologies of StorageClass "fast" admit no node (term 0: [0].values: Required value: ` +
				`label "topology.kubernetes.io/zone": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent); correct the class`},
		"chosen node without a name": {podOf("data"), []any{fast, edit(annotated(chosen, ""))},
			`PersistentVolumeClaim "shop/data": the annotation volume.kubernetes.io/selected-node names no node; remove it`},
		"chosen node without provisioning": {podOf("data"), []any{local, edit(annotated(chosen, "n1"))},
			`PersistentVolumeClaim "shop/data" was to get a new volume on node "n1", but StorageClass "fast" makes none; ` +
				`remove the annotation volume.kubernetes.io/selected-node`},
		"two chosen nodes": {podOf("data", "log"), []any{fast, edit(annotated(chosen, "n1")), claimOf("log", "fast", annotated(chosen, "n2"))},
			`PersistentVolumeClaim "shop/log" is to get its volume on node "n2", and another claim of the pod on node "n1"; ` +
				`remove the annotation volume.kubernetes.io/selected-node from one`},
		"selector": {podOf("data"), []any{fast, edit(func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
		})}, `PersistentVolumeClaim "shop/data": spec.selector: "Near" is not a valid label selector operator; correct it`},
		"ephemeral claim of another": {ephemeralPod("web", "fast"), []any{fast, claimOf("web-scratch", "fast")},
			`PersistentVolumeClaim "shop/web-scratch" has the name that the claim of ephemeral volume "scratch" must have, ` +
				`and is not owned by the pod; delete the claim or rename the volume`},
		"ephemeral without template": {noTemplate, nil,
			`volume "scratch": ephemeral.volumeClaimTemplate is missing; fill it in`},
		"ephemeral class missing": {ephemeralPod("web", "slow"), []any{fast},
			`ephemeral volume "scratch": StorageClass "slow" is not found; create it or name another`},
		"inline EBS": {inlinePod(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://a/disk"}}), nil,
			`volume "disk": awsElasticBlockStore.volumeID is "aws://a/disk", which names no volume; use a form such as vol-0123`},
		"inline Azure": {inlinePod(corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{Kind: new(corev1.AzureSharedBlobDisk)}}), nil,
			`volume "disk": azureDisk.kind is "Shared", which no CSI driver serves; use a managed disk`},
		"several": {podOf("a", "b"), nil,
			`PersistentVolumeClaim "shop/a" is not found; create it; PersistentVolumeClaim "shop/b" is not found; create it`},
		"two zones": {podOf("a", "b"), []any{claimOf("a", "fast", boundTo("va")), claimOf("b", "fast", boundTo("vb")),
			volumeOf("va", "fast", on("zone = za")), volumeOf("vb", "fast", on("zone = zb"))},
			`PersistentVolumeClaim "shop/b" asks for topology.kubernetes.io/zone = zb, which no node can have that serves ` +
				`PersistentVolumeClaim "shop/a" too; move the volumes to where one node can reach all`},
		"affinity against label": {podOf("a"), []any{claimOf("a", "fast", boundTo("va")), volumeOf("va", "fast", on("zone = za"), labelled(zoneKey, "zb"))},
			`PersistentVolumeClaim "shop/a" asks for topology.kubernetes.io/zone in (), which no node can have; ` +
				`correct the labels or the node affinity of its volume`},
		"bound here, made there": {podOf("a", "b"), []any{claimOf("a", "fast", boundTo("va")), claimOf("b", "fast"),
			volumeOf("va", "fast", on("zone = za")), classOf("fast", ebs, allowed("zone", "zb", "zc"))},
			`PersistentVolumeClaim "shop/b" asks for topology.kubernetes.io/zone in (zb, zc), which no node can have that serves ` +
				`PersistentVolumeClaim "shop/a" too; move the volumes to where one node can reach all`},
		"one volume for two claims": {podOf("a", "b"), []any{local, claimOf("a", "fast"), claimOf("b", "fast"), volumeOf("v", "fast")},
			`PersistentVolumeClaim "shop/b" asks for a volume of its own, which no node can have that serves ` +
				`PersistentVolumeClaim "shop/a" too; move the volumes to where one node can reach all`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := indexOf(t, tc.objects...).Of(tc.pod)
			require.EqualError(t, err, tc.want)
		})
	}
}
