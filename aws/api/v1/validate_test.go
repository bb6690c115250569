package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// faults decodes the fields of a spec, in YAML of one line, fills in what the
// smallest valid class has, and returns the faults with paths below spec.
func faults(t *testing.T, fields string) []string {
	t.Helper()
	c, err := v1.DecodeEC2NodeClass([]byte("{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, spec: {" + fields + "}}"))
	require.NoError(t, err)
	base := class()
	if c.Spec.SubnetSelectorTerms == nil {
		c.Spec.SubnetSelectorTerms = base.Spec.SubnetSelectorTerms
	}
	if c.Spec.SecurityGroupSelectorTerms == nil {
		c.Spec.SecurityGroupSelectorTerms = base.Spec.SecurityGroupSelectorTerms
	}
	if c.Spec.AMISelectorTerms == nil {
		c.Spec.AMISelectorTerms = base.Spec.AMISelectorTerms
	}
	if c.Spec.Role == "" && c.Spec.InstanceProfile == nil {
		c.Spec.Role = base.Spec.Role
	}
	before := c.DeepCopy()
	got := messages(c.Validate())
	require.Equal(t, before, c, "inputs are not changed")
	c.Default()
	require.Equal(t, got, messages(c.Validate()), "defaults are assumed anyway")
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "spec.")
	}
	return got
}

const alone = ", which decides alone; put it in a term of its own, or remove it"

func TestValidateTerms(t *testing.T) {
	for fields, want := range map[string][]string{
		"subnetSelectorTerms: []":                   {"subnetSelectorTerms: Required value: give at least one term, such as {tags: {karpenter.sh/discovery: my-cluster}}"},
		"subnetSelectorTerms: [{}, {id: subnet-1}]": {"subnetSelectorTerms[0]: Required value: select by tags or id"},
		"subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}, {id: subnet-2}]": {
			"subnetSelectorTerms[0].tags: Forbidden: does not go with id" + alone},
		"subnetSelectorTerms: [{id: xsubnet-1}, {id: subnet-}, {id: subnet-A}]": {
			`subnetSelectorTerms[0].id: Invalid value: "xsubnet-1": want "subnet-" and then lower-case letters and digits`,
			`subnetSelectorTerms[1].id: Invalid value: "subnet-": want "subnet-" and then lower-case letters and digits`,
			`subnetSelectorTerms[2].id: Invalid value: "subnet-A": want "subnet-" and then lower-case letters and digits`},
		"subnetSelectorTerms: [{tags: {}}]": {
			"subnetSelectorTerms[0]: Required value: select by tags or id",
			"subnetSelectorTerms[0].tags: Required value: name at least one tag, or leave tags out: none would select everything"},
		"subnetSelectorTerms: [{tags: {'': a, b: ''}}]": {
			`subnetSelectorTerms[0].tags: Invalid value: "": a tag must have a key`,
			`subnetSelectorTerms[0].tags[b]: Invalid value: "": a tag must have a value; write "*" for any`},
		"securityGroupSelectorTerms: []": {"securityGroupSelectorTerms: Required value: give at least one term, such as {tags: {karpenter.sh/discovery: my-cluster}}"},
		"securityGroupSelectorTerms: [{}, {id: sg-1, name: a, tags: {a: b}}, {name: a, tags: {a: b}}]": {
			"securityGroupSelectorTerms[0]: Required value: select by tags, id or name",
			"securityGroupSelectorTerms[1].name: Forbidden: does not go with id" + alone,
			"securityGroupSelectorTerms[1].tags: Forbidden: does not go with id" + alone,
			"securityGroupSelectorTerms[2].tags: Forbidden: does not go with name" + alone},
		"capacityReservationSelectorTerms: [{}, {ownerID: '1'}, {id: xcr-1, ownerID: '012345678901', instanceMatchCriteria: close, tags: {a: b}}]": {
			"capacityReservationSelectorTerms[0]: Required value: select by tags, id or instanceMatchCriteria",
			"capacityReservationSelectorTerms[1]: Required value: an owner alone does not select; add tags or instanceMatchCriteria",
			`capacityReservationSelectorTerms[1].ownerID: Invalid value: "1": want the twelve digits of an AWS account`,
			"capacityReservationSelectorTerms[2].instanceMatchCriteria: Forbidden: does not go with id" + alone,
			"capacityReservationSelectorTerms[2].ownerID: Forbidden: does not go with id" + alone,
			"capacityReservationSelectorTerms[2].tags: Forbidden: does not go with id" + alone,
			`capacityReservationSelectorTerms[2].id: Invalid value: "xcr-1": want "cr-" and then lower-case letters and digits`,
			`capacityReservationSelectorTerms[2].instanceMatchCriteria: Unsupported value: "close": supported values: "open", "targeted"`},
		"capacityReservationSelectorTerms: []": {"capacityReservationSelectorTerms: Required value: give a term, or leave the field out: the API server refuses an empty list"},
		"placementGroupSelector: {name: a}":    nil,
		"placementGroupSelector: {id: pg-0a}":  nil,
		"placementGroupSelector: {}":           {"placementGroupSelector: Required value: select by name or id, or leave the selector out"},
		"placementGroupSelector: {name: '', id: 'a-pg-1'}": {
			"placementGroupSelector.name: Forbidden: does not go with id; remove one",
			"placementGroupSelector.name: Required value: name the placement group",
			`placementGroupSelector.id: Invalid value: "a-pg-1": want "pg-" and then lower-case letters and digits`},
	} {
		require.Equal(t, want, faults(t, fields), fields)
	}
}

func TestValidateImages(t *testing.T) {
	for fields, want := range map[string][]string{
		"amiSelectorTerms: []": {
			"amiSelectorTerms: Required value: give at least one term, such as {alias: al2023@latest}",
			"amiFamily: Required value: say which family the images are of, or select by alias"},
		"amiSelectorTerms: [{id: ami-1}]": {"amiFamily: Required value: say which family the images are of, or select by alias"},
		"amiSelectorTerms: [{alias: al2023@1@2}]": {
			`amiSelectorTerms[0].alias: Invalid value: "al2023@1@2": has more than one "@"; write family@version, such as al2023@latest`},
		"amiFamily: AL2":    {"amiFamily: Invalid value: \"AL2\": the alias is of family AL2023: write that, or Custom, or leave the field out"},
		"amiFamily: Ubuntu": {`amiFamily: Unsupported value: "Ubuntu": supported values: "AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"`},
		"amiFamily: ''":     {`amiFamily: Unsupported value: "": supported values: "AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"`},
		"amiFamily: Custom, amiSelectorTerms: [{id: ami-1, ssmParameter: /a}]": {
			"amiSelectorTerms[0].ssmParameter: Forbidden: does not go with id" + alone},
	} {
		require.Equal(t, want, faults(t, fields), fields)
	}
}

func TestValidateIdentityAndTags(t *testing.T) {
	c := class()
	c.Spec.Role = ""
	require.Equal(t, []string{"spec.role: Required value: name the IAM role of nodes, or an instanceProfile that has one"}, messages(c.Validate()))
	for fields, want := range map[string][]string{
		"role: a, instanceProfile: b": {"instanceProfile: Forbidden: does not go with role; remove one"},
		"instanceProfile: ''":         {"instanceProfile: Required value: name an instance profile, or leave the field out and give a role"},
		"tags: {'': a, kubernetes.io/cluster/x: owned, kubernetes.io/clusters: a, karpenter.sh/nodepool: a, karpenter.sh/nodeclaim: a, karpenter.k8s.aws/ec2nodeclass: a, 'eks:eks-cluster-name': a, 'aws:x': a}": {
			`tags: Invalid value: "": a tag must have a key`,
			`tags[aws:x]: Forbidden: keys that begin with "aws:" are kept for AWS; use another`,
			`tags[eks:eks-cluster-name]: Forbidden: this tag is set by the controller; remove it`,
			`tags[karpenter.k8s.aws/ec2nodeclass]: Forbidden: this tag is set by the controller; remove it`,
			`tags[karpenter.sh/nodeclaim]: Forbidden: this tag is set by the controller; remove it`,
			`tags[karpenter.sh/nodepool]: Forbidden: this tag is set by the controller; remove it`,
			`tags[kubernetes.io/cluster/x]: Forbidden: this tag is set by the controller; remove it`,
			`tags[kubernetes.io/clusters]: Forbidden: this tag is set by the controller; remove it`},
		"ipPrefixCount: 0":  nil,
		"ipPrefixCount: -1": {"ipPrefixCount: Invalid value: -1: want 0 or more"},
	} {
		require.Equal(t, want, faults(t, fields), fields)
	}
}

func TestValidateKubelet(t *testing.T) {
	signals := `supported values: "imagefs.available", "imagefs.inodesFree", "memory.available", "nodefs.available", "nodefs.inodesFree", "pid.available"`
	threshold := "want a quantity that is not negative, such as 500Mi, or a percentage from 0% to 100%, such as 12.5%"
	for fields, want := range map[string][]string{
		"maxPods: -1, podsPerCore: -2": {"kubelet.maxPods: Invalid value: -1: want 0 or more", "kubelet.podsPerCore: Invalid value: -2: want 0 or more"},
		"kubeReserved: {cpu: '1e9999999', memory: '1e-9999999'}": {
			`kubelet.kubeReserved[cpu]: Invalid value: "1e9999999": want a quantity that is not negative, such as 100m or 256Mi, or an expression`,
			`kubelet.kubeReserved[memory]: Invalid value: "1e-9999999": want a quantity that is not negative, such as 100m or 256Mi, or an expression`},
		"kubeReserved: {gpu: '1'}": {`kubelet.kubeReserved[gpu]: Unsupported value: "gpu": supported values: "cpu", "ephemeral-storage", "memory", "pid"`},
		"systemReserved: {cpu: '0', memory: '', pid: '-1Gi'}": {
			`kubelet.systemReserved[memory]: Invalid value: "": want a quantity that is not negative, such as 100m or 256Mi, or an expression`,
			`kubelet.systemReserved[pid]: Invalid value: "-1Gi": want a quantity that is not negative, such as 100m or 256Mi, or an expression`},
		"evictionHard: {memory.free: 5%, memory.available: 101%, nodefs.available: 5 %, nodefs.inodesFree: '%', imagefs.available: '', pid.available: 100.01%, imagefs.inodesFree: nan%}": {
			`kubelet.evictionHard[imagefs.available]: Invalid value: "": ` + threshold,
			`kubelet.evictionHard[imagefs.inodesFree]: Invalid value: "nan%": ` + threshold,
			`kubelet.evictionHard[memory.available]: Invalid value: "101%": ` + threshold,
			`kubelet.evictionHard[memory.free]: Unsupported value: "memory.free": ` + signals,
			`kubelet.evictionHard[nodefs.available]: Invalid value: "5 %": ` + threshold,
			`kubelet.evictionHard[nodefs.inodesFree]: Invalid value: "%": ` + threshold,
			`kubelet.evictionHard[pid.available]: Invalid value: "100.01%": ` + threshold},
		"evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {nodefs.available: -1s}": {
			"kubelet.evictionSoftGracePeriod[memory.available]: Required value: a signal of evictionSoft needs a grace period, such as 1m",
			`kubelet.evictionSoftGracePeriod[nodefs.available]: Invalid value: "-1s": must not be negative`,
			"kubelet.evictionSoft[nodefs.available]: Required value: a signal of evictionSoftGracePeriod needs a threshold, or remove it there"},
		"evictionSoftGracePeriod: {free: 1s}, evictionSoft: {free: '1'}": {
			`kubelet.evictionSoft[free]: Unsupported value: "free": ` + signals,
			`kubelet.evictionSoftGracePeriod[free]: Unsupported value: "free": ` + signals},
		"evictionMaxPodGracePeriod: -1": {"kubelet.evictionMaxPodGracePeriod: Invalid value: -1: want 0 or more"},
		"maxPods: ''":                   {`kubelet.maxPods: Invalid value: "": want a whole number or an expression`},
		"kubeReserved: {cpu: '-vcpus'}": {`kubelet.kubeReserved[cpu]: Invalid value: "-vcpus": want a quantity that is not negative, such as 100m or 256Mi, or an expression`},
		"imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80": {
			"kubelet.imageGCHighThresholdPercent: Invalid value: 80: must be above imageGCLowThresholdPercent"},
		"imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0":                          nil,
		"imageGCLowThresholdPercent: 100":                                                        nil,
		"evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: 0s}": nil,
		"imageGCHighThresholdPercent: 101, imageGCLowThresholdPercent: -1": {
			"kubelet.imageGCHighThresholdPercent: Invalid value: 101: want 0 to 100",
			"kubelet.imageGCLowThresholdPercent: Invalid value: -1: want 0 to 100"},
	} {
		require.Equal(t, want, faults(t, "kubelet: {"+fields+"}"), fields)
	}
	for family, want := range map[amiselect.Family][]string{
		amiselect.FamilyAL2023: nil,
		amiselect.FamilyCustom: nil,
		amiselect.FamilyAL2:    {`kubelet.clusterDNS: Invalid value: "10.0.0.1, 10.0.0.2": the family AL2 takes one address; keep one`},
		amiselect.FamilyBottlerocket: {
			`kubelet.clusterDNS: Invalid value: "10.0.0.1, 10.0.0.2": the family Bottlerocket takes one address; keep one`,
			"kubelet.podsPerCore: Forbidden: Bottlerocket has no such setting; use maxPods"},
	} {
		got := faults(t, fmt.Sprintf("amiFamily: %s, amiSelectorTerms: [{id: ami-1}], kubelet: {clusterDNS: [10.0.0.1, 10.0.0.2], podsPerCore: 2}", family))
		require.Equal(t, want, got, family)
	}
	require.Equal(t, []string{`kubelet.clusterDNS[0]: Invalid value: "dns": Bottlerocket takes no text that is not an IP address`},
		faults(t, "amiFamily: Bottlerocket, amiSelectorTerms: [{id: ami-1}], kubelet: {clusterDNS: [dns]}"))
	require.Empty(t, faults(t, "amiFamily: AL2, amiSelectorTerms: [{id: ami-1}], kubelet: {clusterDNS: [dns]}"), "the kubelet warns of it")
}

func TestValidateVolumes(t *testing.T) {
	for fields, want := range map[string][]string{
		"[{}]": {
			"blockDeviceMappings[0].deviceName: Required value: name the device, such as /dev/xvda",
			"blockDeviceMappings[0].ebs: Required value: describe the volume, such as {volumeSize: 20Gi, volumeType: gp3}"},
		"[{deviceName: a, ebs: {}}]":               {"blockDeviceMappings[0].ebs.volumeSize: Required value: give a volumeSize or a snapshotID"},
		"[{deviceName: a, ebs: {snapshotID: ''}}]": {"blockDeviceMappings[0].ebs.volumeSize: Required value: give a volumeSize or a snapshotID"},
		"[{deviceName: a, ebs: {volumeSize: 1Gi, volumeInitializationRate: 99, volumeType: gp4, iops: -1, throughput: -1}}]": {
			"blockDeviceMappings[0].ebs.iops: Invalid value: -1: want 0 or more",
			"blockDeviceMappings[0].ebs.throughput: Invalid value: -1: want 0 or more",
			"blockDeviceMappings[0].ebs.volumeInitializationRate: Invalid value: 99: want 100 to 300",
			"blockDeviceMappings[0].ebs.snapshotID: Required value: volumeInitializationRate is for volumes from a snapshot; name it, or remove the rate",
			`blockDeviceMappings[0].ebs.volumeType: Unsupported value: "gp4": supported values: "gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"`},
		"[{deviceName: a, rootVolume: true, ebs: {volumeSize: 1Gi}}, {deviceName: a, rootVolume: true, ebs: {volumeSize: 1Gi}}]": {
			`blockDeviceMappings[1].deviceName: Duplicate value: "a": spec.blockDeviceMappings[0].deviceName has the same device; rename or remove one`,
			"blockDeviceMappings[1].rootVolume: Forbidden: spec.blockDeviceMappings[0] is the root volume already; keep one"},
	} {
		require.Equal(t, want, faults(t, "blockDeviceMappings: "+fields), fields)
	}
	require.Equal(t, []string{`instanceStorePolicy: Unsupported value: "RAID1": supported values: "RAID0"`}, faults(t, "instanceStorePolicy: RAID1"))
}

func TestValidateVolumeSize(t *testing.T) {
	for size, ok := range map[string]bool{
		"1Gi": true, "59000Gi": true, "1G": true, "64000G": true, "1Ti": true, "18Ti": true, "58Ti": true, "64T": true, "1024Mi": true,
		"1.5Ti": true, "2e12": true,
		"0": false, "0Gi": false, "1Mi": false, "999M": false, "1500M": false, "65T": false, "64Ti": false, "1Pi": false, "1Ei": false,
		"1e30": false, "1.5Gi": false, "-1Gi": false, "1073741824.5": false, "1e999": false, "1073741825": false,
	} {
		c, name, quantity := class(), "a", resource.MustParse(size)
		c.Spec.BlockDeviceMappings = []v1.BlockDeviceMapping{{DeviceName: &name, EBS: &v1.BlockDevice{VolumeSize: &quantity}}}
		got := c.Validate()
		require.Equal(t, ok, len(got) == 0, "%s: %v", size, got)
	}
}

func TestValidateNetwork(t *testing.T) {
	for fields, want := range map[string][]string{
		"networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: efa-only}]": {
			"networkInterfaces: Required value: list the primary interface: networkCardIndex 0, deviceIndex 0, interfaceType interface"},
		"networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, {networkCardIndex: -1, deviceIndex: -2}, {networkCardIndex: 0, deviceIndex: 0, interfaceType: efa}, " +
			"{networkCardIndex: 1, deviceIndex: 0, interfaceType: efa-only}, {networkCardIndex: 1, deviceIndex: 1, interfaceType: efa-only}]": {
			"networkInterfaces[1].networkCardIndex: Invalid value: -1: want 0 or more",
			"networkInterfaces[1].deviceIndex: Invalid value: -2: want 0 or more",
			"networkInterfaces[1].interfaceType: Required value: use interface or efa-only",
			`networkInterfaces[2].interfaceType: Unsupported value: "efa": supported values: "efa-only", "interface"`,
			"networkInterfaces[2].deviceIndex: Forbidden: spec.networkInterfaces[0] is at the same card and device; move or remove one",
			"networkInterfaces[4].interfaceType: Forbidden: spec.networkInterfaces[3] is the efa-only interface of this card already; a card takes one"},
		"metadataOptions: {httpEndpoint: 'on', httpProtocolIPv6: '', httpPutResponseHopLimit: 65, httpTokens: always}": {
			`metadataOptions.httpEndpoint: Unsupported value: "on": supported values: "disabled", "enabled"`,
			`metadataOptions.httpProtocolIPv6: Unsupported value: "": supported values: "disabled", "enabled"`,
			"metadataOptions.httpPutResponseHopLimit: Invalid value: 65: want 1 to 64",
			`metadataOptions.httpTokens: Unsupported value: "always": supported values: "optional", "required"`},
		"metadataOptions: {httpPutResponseHopLimit: 64}":                            nil,
		"metadataOptions: {httpPutResponseHopLimit: 0}":                             {"metadataOptions.httpPutResponseHopLimit: Invalid value: 0: want 1 to 64"},
		"enclaveOptions: {enabled: false}":                                          nil,
		"enclaveOptions: {}":                                                        {"enclaveOptions.enabled: Required value: write true or false, or leave enclaveOptions out"},
		"connectionTracking: {udpTimeout: 30}":                                      nil,
		"connectionTracking: {tcpEstablishedTimeout: 432000, udpStreamTimeout: 60}": nil,
		"connectionTracking: {}": {
			"connectionTracking: Required value: set tcpEstablishedTimeout, udpStreamTimeout or udpTimeout, or leave connectionTracking out"},
		"connectionTracking: {tcpEstablishedTimeout: 59, udpStreamTimeout: 181, udpTimeout: 61}": {
			"connectionTracking.tcpEstablishedTimeout: Invalid value: 59: want 60 to 432000",
			"connectionTracking.udpStreamTimeout: Invalid value: 181: want 60 to 180",
			"connectionTracking.udpTimeout: Invalid value: 61: want 30 to 60"},
		"cpuOptions: {nestedVirtualization: 'yes'}": {`cpuOptions.nestedVirtualization: Unsupported value: "yes": supported values: "disabled", "enabled"`},
	} {
		require.Equal(t, want, faults(t, fields), fields)
	}
}

func TestValidateCounts(t *testing.T) {
	c := class()
	s := &c.Spec
	for i := range 51 {
		name := fmt.Sprintf("d%d", i)
		s.BlockDeviceMappings = append(s.BlockDeviceMappings, v1.BlockDeviceMapping{DeviceName: &name, EBS: &v1.BlockDevice{SnapshotID: &name}})
	}
	for i := range 31 {
		s.SubnetSelectorTerms = append(s.SubnetSelectorTerms[:i], v1.SubnetSelectorTerm{ID: "subnet-1"})
		s.SecurityGroupSelectorTerms = append(s.SecurityGroupSelectorTerms[:i], v1.SecurityGroupSelectorTerm{ID: "sg-1"})
		s.CapacityReservationSelectorTerms = append(s.CapacityReservationSelectorTerms, v1.CapacityReservationSelectorTerm{ID: "cr-1"})
	}
	tags := map[string]string{"Name": "x", strings.Repeat("ä", 128): strings.Repeat("ä", 256)}
	for i := range 42 {
		tags[fmt.Sprint(i)] = ""
	}
	s.Tags = tags
	for i := range 151 {
		s.NetworkInterfaces = append(s.NetworkInterfaces, v1.NetworkInterface{DeviceIndex: int32(i), InterfaceType: "interface"})
	}
	require.Equal(t, []string{
		"spec.subnetSelectorTerms: Too many: 31: must have at most 30 items",
		"spec.securityGroupSelectorTerms: Too many: 31: must have at most 30 items",
		"spec.capacityReservationSelectorTerms: Too many: 31: must have at most 30 items",
		"spec.blockDeviceMappings: Too many: 51: must have at most 50 items",
		"spec.networkInterfaces: Too many: 151: must have at most 150 items",
	}, messages(c.Validate()))

	c = class()
	c.Spec.Tags = map[string]string{strings.Repeat("k", 129): strings.Repeat("v", 257)}
	for i := range 43 {
		c.Spec.Tags[fmt.Sprint(i)] = ""
	}
	c.Spec.SubnetSelectorTerms = []v1.SubnetSelectorTerm{{Tags: map[string]string{}}}
	for i := range 21 {
		c.Spec.SubnetSelectorTerms[0].Tags[fmt.Sprint(i)] = "*"
	}
	got := messages(c.Validate())
	require.Len(t, got, 4)
	require.Equal(t, "spec.subnetSelectorTerms[0].tags: Too many: 21: must have at most 20 items", got[0])
	require.Equal(t, "spec.tags: Too many: 44: must have at most 43 items", got[1])
	require.Contains(t, got[2], "may not be more than 128")
	require.Contains(t, got[3], "may not be more than 256")
}

func TestValidateOfNothing(t *testing.T) {
	require.Equal(t, []string{"spec: Required value: the object is nil"}, messages((*v1.EC2NodeClass)(nil).Validate()))
	require.Len(t, (&v1.EC2NodeClass{}).Validate(), 5, "two selectors, images and their family, and a role")
	require.Nil(t, (*v1.EC2NodeClass)(nil).ValidateUpdate(nil))
}
