package minors

// Change is a difference between minor versions: a row of the table.
type Change int

const (
	// MatchLabelKeys is older than all supported minor versions, so that no reader asks for it.
	MatchLabelKeys Change = iota
	// DeclaredFeatures concerns Node.status.declaredFeatures.
	DeclaredFeatures
	// ExtendedResources concerns DeviceClass.spec.extendedResourceName.
	ExtendedResources
	// PodResizes concerns the status of a pod whose pod-level resources are resized in place.
	PodResizes
	// ContainerResizes concerns the status of containers that are resized in place.
	ContainerResizes
	// NamespaceSelectors concerns the namespaceSelector of required pod affinity and anti-affinity.
	NamespaceSelectors
	// MissingDrivers concerns CSIDriver.spec.preventPodSchedulingIfMissing.
	MissingDrivers
	// EmptySelectors concerns the labelSelector of topology spread constraints.
	EmptySelectors
	// StorageCapacities concerns the amounts of CSIStorageCapacity objects.
	StorageCapacities
)

// Row describes a Change.
type Row struct {
	// From is the first minor version with the reading After.
	From Minor
	// Before and After are the two readings of kube-scheduler with its default feature gates.
	Before, After string
	// Source is the KEP, the change, or the feature gate of Kubernetes.
	Source string
}

// table has the rows by Change. The sources of Kubernetes 1.34.0, 1.35.0, 1.36.3, 1.37.2 and
// 1.38.0-beta.0 were read for it.
var table = [...]Row{
	MatchLabelKeys: {34,
		"matchLabelKeys of a topology spread constraint stay apart from its labelSelector",
		"the API server merges matchLabelKeys into the labelSelector, as it does for pod affinity (with mismatchLabelKeys) since 1.33",
		"KEP-3243, gate MatchLabelKeysInPodTopologySpreadSelectorMerge; KEP-3633, gate MatchLabelKeysInPodAffinity"},
	DeclaredFeatures: {36,
		"no pod asks for a declared feature",
		"a pod that needs a feature goes only on nodes whose status.declaredFeatures has it",
		"KEP-5328, gate NodeDeclaredFeatures: beta and on in 1.36, GA in 1.37"},
	ExtendedResources: {36,
		"only status.allocatable has extended resources",
		"where status.allocatable does not have the resource, devices of the DeviceClass that maps it serve it",
		"KEP-5004, gate DRAExtendedResource: beta and on in 1.36, GA in 1.37"},
	PodResizes: {36,
		"pod-level requests are those of the spec",
		"pod-level requests are the greatest of the spec and the status, and those of the status alone after a resize that is infeasible",
		"KEP-5419, gate InPlacePodLevelResourcesVerticalScaling: beta and on in 1.36"},
	ContainerResizes: {37,
		"each container counts with the greatest of its spec and its status if the status has resources, and an init container that does not restart with its spec",
		"a pod counts with the greatest of three sums: of specs, of what is allocated and of what is in use, also for init containers",
		"KEP-1287, component-helpers/resource.PodRequests of 1.37, gate InPlacePodVerticalScalingInitContainers"},
	NamespaceSelectors: {37,
		"while a pod is placed, a selector that matches no labels (NotIn, DoesNotExist) selects every namespace",
		"a selector selects the namespaces whose labels it matches",
		"kubernetes#141526: mergeAffinityTermNamespacesIfNotEmpty changes the term, and no longer a copy of it"},
	MissingDrivers: {37,
		"a node whose CSINode does not have the driver takes pods with volumes of it",
		"it takes none of them if the CSIDriver has preventPodSchedulingIfMissing",
		"KEP-5030, gate VolumeLimitScaling: beta and on in 1.37"},
	EmptySelectors: {38,
		"labelSelector: {} counts no pod",
		"labelSelector: {} counts every pod of the namespace",
		"kubernetes#141339, #141340: countPodsMatchSelector"},
	StorageCapacities: {38,
		"the size of a claim and the capacity are compared in whole bytes, both rounded up",
		"they are compared exactly",
		"capacitySufficient of the plugin VolumeBinding"},
}

// Row returns the row of a change.
func (c Change) Row() Row { return table[c] }

// Changes lists all changes in the order of the table.
func Changes() []Change {
	out := make([]Change, len(table))
	for i := range out {
		out[i] = Change(i)
	}
	return out
}
