package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// drawRareFields sets fields of pods, nodes and storage objects that kube-scheduler reads and that
// no Feature uses. testdata/fields.txt lists them.
func (p *problem) drawRareFields() {
	for i, pods := range p.someWorkloads(50) {
		p.drawPodFields(i, pods)
	}
	for _, pod := range p.bound() {
		if p.chance(15) {
			p.resize(pod)
		}
		p.drawTermFields(pod)
	}
	for _, i := range p.machines() {
		p.drawNodeFields(&p.in.Nodes[i])
	}
	p.drawStorageFields()
	p.drawCSI()
}

// drawPodFields gives the pods of a workload one field that few have.
func (p *problem) drawPodFields(number int, pods []*corev1.Pod) {
	kind := p.below(12)
	group, no := fmt.Sprintf("group-%d", number), false
	ports, volumes := p.drawHostPorts(), p.drawRareVolumes()
	always := corev1.ContainerRestartPolicyAlways
	rules := []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	for _, pod := range pods {
		spec := &pod.Spec
		p.drawTermFields(pod)
		switch kind {
		case 0:
			spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
		case 1:
			spec.HostNetwork, spec.Containers[0].Ports = true, append([]corev1.ContainerPort(nil), ports...)
			spec.Containers[0].Ports[0].HostIP = "::"
		case 2:
			spec.HostNetwork, spec.HostUsers = true, &no
		case 3:
			spec.Containers[0].RestartPolicyRules, spec.Containers[0].RestartPolicy = rules, &always
		case 4:
			if len(spec.InitContainers) > 0 {
				spec.InitContainers[0].RestartPolicyRules = rules
			}
		case 5, 6:
			spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: quantity("1500m"), corev1.ResourceMemory: quantity("2Gi"),
			}}
		case 7:
			name := "claim-of-" + pod.Name
			spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "own", ResourceClaimName: &name}, {Name: "made", ResourceClaimTemplateName: &group}}
			pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "made", ResourceClaimName: &name}}
		case 8, 9:
			spec.Volumes = append(spec.Volumes, (&corev1.PodSpec{Volumes: volumes}).DeepCopy().Volumes...)
		case 10:
			p.nominate(pod)
		}
	}
}

// drawRareVolumes returns volumes of in-tree plugins that CSI drivers have replaced, and an
// ephemeral volume, for which a claim is created.
func (p *problem) drawRareVolumes() []corev1.Volume {
	managed := corev1.AzureManagedDisk
	disk := fmt.Sprintf("disk-%d", p.below(2))
	v := corev1.Volume{Name: "rare"}
	switch p.below(4) {
	case 0:
		v.Cinder = &corev1.CinderVolumeSource{VolumeID: disk}
	case 1:
		v.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: disk, DataDiskURI: disk, Kind: &managed}
	case 2:
		v.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: disk}
	default:
		v = scratch("waits")
		if p.contested {
			v = scratch("found")
		}
		v.Name = "rare"
		template := v.Ephemeral.VolumeClaimTemplate
		p.drawClaimSpec(&template.Spec)
		if p.chance(30) {
			template.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "zonal"}
		}
		if p.chance(5) {
			template.Spec.VolumeName = "no-such-volume"
		}
	}
	return []corev1.Volume{v}
}

// free returns the storage class of a claim: for one claim, or for all claims of a contested
// problem, found, which allows only existing volumes; otherwise waits, which makes volumes.
func (p *problem) free() string {
	if p.claimed && !p.contested {
		return "waits"
	}
	p.claimed = true
	return "found"
}

// nominate names the node that kube-scheduler has made room on for a pod.
func (p *problem) nominate(pod *corev1.Pod) {
	if len(p.in.Nodes) == 0 {
		return
	}
	pod.Status.NominatedNodeName = pick(p.source, p.in.Nodes).Name()
	if p.in.Nominated == nil {
		p.in.Nominated = map[types.NamespacedName]string{}
	}
	p.in.Nominated[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod.Status.NominatedNodeName
}

// drawTermFields adds rare kinds of preferences and terms to a pod.
func (p *problem) drawTermFields(pod *corev1.Pod) {
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	if a.NodeAffinity != nil {
		for i := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			if p.chance(20) {
				a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference.MatchFields = p.drawFields()
			}
		}
	}
	var terms []*corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			terms = append(terms, &required[i])
		}
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
	}
	if t := a.PodAffinity; t != nil {
		add(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if t := a.PodAntiAffinity; t != nil {
		add(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for _, t := range terms {
		switch n := p.below(100); {
		case n < 15:
			t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: some(p.source, 1, teams())},
			}}
		case n < 40:
			if version, ok := pod.Labels[versionLabel]; ok && onlyApp(t.LabelSelector) && len(t.MatchLabelKeys) == 0 {
				// As the API server leaves it: the selector rules the key's value out.
				t.MismatchLabelKeys = []string{versionLabel}
				t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{
					Key: versionLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{version},
				})
			}
		}
	}
}

// resize turns a pod into a running pod whose resources are being changed in place.
func (p *problem) resize(pod *corev1.Pod) {
	more := corev1.ResourceList{corev1.ResourceCPU: quantity(pick(p.source, []string{"20m", "300m"}))}
	status := func(containers []corev1.Container) (out []corev1.ContainerStatus) {
		for i := range containers {
			out = append(out, corev1.ContainerStatus{
				Name: containers[i].Name, AllocatedResources: more, Resources: &corev1.ResourceRequirements{Requests: more},
			})
		}
		return out
	}
	if p.chance(40) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: p.drawDaemonRequests()}}
	}
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = status(pod.Spec.Containers), status(pod.Spec.InitContainers)
	if p.chance(30) {
		pod.Status.AllocatedResources, pod.Status.Resources = more, &corev1.ResourceRequirements{Requests: more}
	}
	if p.chance(30) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: pick(p.source, []string{corev1.PodReasonInfeasible, corev1.PodReasonDeferred}),
		}}
	}
}

// drawNodeFields removes the hostname label of a node, sets it to the name of another node, or
// makes the node declare features.
func (p *problem) drawNodeFields(n *provisioning.Node) {
	if n.Node == nil {
		return
	}
	switch k := p.below(100); {
	case k < 10:
		delete(n.Node.Labels, corev1.LabelHostname)
	case k < 18:
		n.Node.Labels[corev1.LabelHostname] = p.in.Nodes[0].Name()
	}
	if p.chance(20) {
		n.Node.Status.DeclaredFeatures = []string{"UserNamespacesHostNetworkSupport"}
	}
}

// drawStorageFields sets rare fields of storage classes, claims and volumes.
func (p *problem) drawStorageFields() {
	waits := storagev1.VolumeBindingWaitForFirstConsumer
	class := func(name, provisioner string, annotations map[string]string) {
		c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Provisioner: provisioner, VolumeBindingMode: &waits}
		c.CreationTimestamp = metav1.Unix(int64(p.below(3)), 0)
		p.in.Volumes.Classes = append(p.in.Volumes.Classes, c)
	}
	class("found", "kubernetes.io/no-provisioner", nil)
	for i, key := range some(p.source, 0, []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}) {
		class(fmt.Sprintf("standard-%d", i), pick(p.source, append(drivers(), "kubernetes.io/no-provisioner")), map[string]string{key: "true"})
	}
	p.drawFreeVolumes()
	for i, pods := range p.someWorkloads(25) {
		for j, pod := range pods {
			p.drawRareClaim(pod, fmt.Sprintf("rare-%d-%d", i, j))
		}
	}
	for i, c := range p.in.Volumes.CSINodes {
		if p.chance(40) {
			p.in.Volumes.CSINodes[i].Annotations = map[string]string{
				"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/cinder,kubernetes.io/azure-disk",
			}
			c.Spec.Drivers = append(c.Spec.Drivers, storagev1.CSINodeDriver{Name: "cinder.csi.openstack.org", NodeID: c.Name})
		}
	}
}

// drawClaimSpec narrows the volumes that a claim may be bound to.
func (p *problem) drawClaimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: quantity(pick(p.source, []string{"1Gi", "5Gi", "20Gi"}))}
	switch p.below(5) {
	case 0:
		spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"speed": "fast"}}
	case 1:
		spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "speed", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"fast"}},
		}}
	case 2:
		mode := pick(p.source, []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem})
		spec.VolumeMode = &mode
	case 3:
		name := "gold"
		spec.VolumeAttributesClassName = &name
	}
}

// drawRareClaim gives a pod a claim without a class, one that waits for a volume that exists, or
// one that is tied to a node.
func (p *problem) drawRareClaim(pod *corev1.Pod, name string) {
	class := "waits"
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: name, UID: types.UID("claim-" + name), Annotations: map[string]string{},
	}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Status.Phase = corev1.ClaimPending
	p.drawClaimSpec(&c.Spec)
	switch p.below(4) {
	case 0:
		class = p.free()
		c.Spec.StorageClassName = &class
	case 1:
		node := "no-such-node"
		if len(p.in.Nodes) > 0 && p.chance(80) {
			node = pick(p.source, p.in.Nodes).Name()
		}
		c.Spec.StorageClassName = &class
		c.Annotations["volume.kubernetes.io/selected-node"] = node
	case 2:
		c.Annotations[corev1.BetaStorageClassAnnotation] = "zonal"
	}
	if p.chance(20) {
		yes := true
		c.Name = pod.Name + "-own"
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes}}
		v := scratch(class)
		v.Name = "own"
		pod.Spec.Volumes = append(pod.Spec.Volumes, v)
	} else {
		mount(pod, c.Name)
	}
	p.in.Volumes.Claims = append(p.in.Volumes.Claims, c)
}

// drawFreeVolumes makes volumes that are bound to no claim yet; some are reserved for a claim.
func (p *problem) drawFreeVolumes() {
	managed := corev1.AzureManagedDisk
	for i := range p.below(6) {
		pv := p.drawVolume(fmt.Sprintf("free-%d", i))
		pv.Status.Phase = corev1.VolumeAvailable
		pv.Spec.StorageClassName = "found"
		pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: quantity(pick(p.source, []string{"2Gi", "10Gi", "50Gi"}))}
		id := pv.Name
		switch p.below(8) {
		case 0:
			pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-" + id}}
		case 1:
			pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: id}}
			pv.Labels = map[string]string{corev1.LabelTopologyZone: pick(p.source, zones())}
		case 2:
			pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DataDiskURI: id, Kind: &managed}}
		case 3:
			pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: id}}
		case 4:
			pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: id}}
		}
		spec := corev1.PersistentVolumeClaimSpec{}
		p.drawClaimSpec(&spec)
		pv.Spec.VolumeMode, pv.Spec.VolumeAttributesClassName = spec.VolumeMode, spec.VolumeAttributesClassName
		if spec.Selector != nil {
			pv.Labels = map[string]string{"speed": "fast"}
		}
		p.troubleVolume(pv)
		p.in.Volumes.Volumes = append(p.in.Volumes.Volumes, pv)
	}
}

// troubleVolume changes some volumes: they are being deleted, have the class of the old annotation,
// are reserved for a claim, or select nodes by a field.
func (p *problem) troubleVolume(pv *corev1.PersistentVolume) {
	switch n := p.below(100); {
	case n < 8:
		pv.DeletionTimestamp = deletedAt()
	case n < 16:
		pv.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "found"}
		pv.Spec.StorageClassName = "other"
	case n < 30:
		pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: pick(p.source, namespaces()), Name: "rare-0-0"}
		if p.chance(50) {
			pv.Spec.ClaimRef.UID = types.UID("claim-" + pv.Spec.ClaimRef.Name)
		}
	case n < 34 && pv.Spec.NodeAffinity != nil:
		pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchFields = p.drawFields()
	}
}

// drawDaemonLabels gives DaemonSets labels that pods have, too.
func (p *problem) drawDaemonLabels() {
	for _, pod := range p.in.DaemonSetPods {
		if p.chance(60) {
			pod.Labels = p.drawLabels()
			pod.Namespace = pick(p.source, namespaces())
		}
	}
}
