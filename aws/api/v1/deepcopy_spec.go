package v1

import "maps"

// DeepCopyInto copies s into out. Nothing is shared.
func (s *EC2NodeClassSpec) DeepCopyInto(out *EC2NodeClassSpec) {
	out.SubnetSelectorTerms = deepCopySlice(s.SubnetSelectorTerms)
	out.SecurityGroupSelectorTerms = deepCopySlice(s.SecurityGroupSelectorTerms)
	out.CapacityReservationSelectorTerms = deepCopySlice(s.CapacityReservationSelectorTerms)
	out.PlacementGroupSelector = s.PlacementGroupSelector.DeepCopy()
	out.AssociatePublicIPAddress = clonePointer(s.AssociatePublicIPAddress)
	out.IPPrefixCount = clonePointer(s.IPPrefixCount)
	out.AMISelectorTerms = deepCopySlice(s.AMISelectorTerms)
	out.AMIFamily = clonePointer(s.AMIFamily)
	out.UserData = clonePointer(s.UserData)
	out.Role = s.Role
	out.InstanceProfile = clonePointer(s.InstanceProfile)
	out.Tags = maps.Clone(s.Tags)
	out.Kubelet = s.Kubelet.DeepCopy()
	out.BlockDeviceMappings = deepCopySlice(s.BlockDeviceMappings)
	out.InstanceStorePolicy = clonePointer(s.InstanceStorePolicy)
	out.NetworkInterfaces = cloneSlice(s.NetworkInterfaces)
	out.DetailedMonitoring = clonePointer(s.DetailedMonitoring)
	out.MetadataOptions = s.MetadataOptions.DeepCopy()
	out.EnclaveOptions = s.EnclaveOptions.DeepCopy()
	out.ConnectionTracking = s.ConnectionTracking.DeepCopy()
	out.Context = clonePointer(s.Context)
	out.CPUOptions = s.CPUOptions.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *EC2NodeClassSpec) DeepCopy() *EC2NodeClassSpec {
	return deepCopy(s)
}

// DeepCopyInto copies t into out. Nothing is shared.
func (t *SubnetSelectorTerm) DeepCopyInto(out *SubnetSelectorTerm) {
	*out = *t
	out.Tags = maps.Clone(t.Tags)
}

// DeepCopy returns a copy that shares nothing with t, or nil for nil.
func (t *SubnetSelectorTerm) DeepCopy() *SubnetSelectorTerm {
	return deepCopy(t)
}

// DeepCopyInto copies t into out. Nothing is shared.
func (t *SecurityGroupSelectorTerm) DeepCopyInto(out *SecurityGroupSelectorTerm) {
	*out = *t
	out.Tags = maps.Clone(t.Tags)
}

// DeepCopy returns a copy that shares nothing with t, or nil for nil.
func (t *SecurityGroupSelectorTerm) DeepCopy() *SecurityGroupSelectorTerm {
	return deepCopy(t)
}

// DeepCopyInto copies t into out. Nothing is shared.
func (t *CapacityReservationSelectorTerm) DeepCopyInto(out *CapacityReservationSelectorTerm) {
	*out = *t
	out.Tags = maps.Clone(t.Tags)
}

// DeepCopy returns a copy that shares nothing with t, or nil for nil.
func (t *CapacityReservationSelectorTerm) DeepCopy() *CapacityReservationSelectorTerm {
	return deepCopy(t)
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *PlacementGroupSelector) DeepCopyInto(out *PlacementGroupSelector) {
	out.Name = clonePointer(s.Name)
	out.ID = clonePointer(s.ID)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *PlacementGroupSelector) DeepCopy() *PlacementGroupSelector {
	return deepCopy(s)
}

// DeepCopyInto copies t into out. Nothing is shared.
func (t *AMISelectorTerm) DeepCopyInto(out *AMISelectorTerm) {
	*out = *t
	out.Tags = maps.Clone(t.Tags)
}

// DeepCopy returns a copy that shares nothing with t, or nil for nil.
func (t *AMISelectorTerm) DeepCopy() *AMISelectorTerm {
	return deepCopy(t)
}

// DeepCopyInto copies k into out. Nothing is shared.
func (k *KubeletConfiguration) DeepCopyInto(out *KubeletConfiguration) {
	out.ClusterDNS = cloneSlice(k.ClusterDNS)
	out.MaxPods = clonePointer(k.MaxPods)
	out.PodsPerCore = clonePointer(k.PodsPerCore)
	out.SystemReserved = maps.Clone(k.SystemReserved)
	out.KubeReserved = maps.Clone(k.KubeReserved)
	out.EvictionHard = maps.Clone(k.EvictionHard)
	out.EvictionSoft = maps.Clone(k.EvictionSoft)
	out.EvictionSoftGracePeriod = maps.Clone(k.EvictionSoftGracePeriod)
	out.EvictionMaxPodGracePeriod = clonePointer(k.EvictionMaxPodGracePeriod)
	out.ImageGCHighThresholdPercent = clonePointer(k.ImageGCHighThresholdPercent)
	out.ImageGCLowThresholdPercent = clonePointer(k.ImageGCLowThresholdPercent)
	out.CPUCFSQuota = clonePointer(k.CPUCFSQuota)
	out.Extra = copyObject(k.Extra)
	out.AsRead = maps.Clone(k.AsRead)
}

// DeepCopy returns a copy that shares nothing with k, or nil for nil.
func (k *KubeletConfiguration) DeepCopy() *KubeletConfiguration {
	return deepCopy(k)
}

// DeepCopyInto copies m into out. Nothing is shared.
func (m *BlockDeviceMapping) DeepCopyInto(out *BlockDeviceMapping) {
	out.DeviceName = clonePointer(m.DeviceName)
	out.EBS = m.EBS.DeepCopy()
	out.RootVolume = m.RootVolume
}

// DeepCopy returns a copy that shares nothing with m, or nil for nil.
func (m *BlockDeviceMapping) DeepCopy() *BlockDeviceMapping {
	return deepCopy(m)
}

// DeepCopyInto copies d into out. Nothing is shared.
func (d *BlockDevice) DeepCopyInto(out *BlockDevice) {
	out.DeleteOnTermination = clonePointer(d.DeleteOnTermination)
	out.Encrypted = clonePointer(d.Encrypted)
	out.IOPS = clonePointer(d.IOPS)
	out.KMSKeyID = clonePointer(d.KMSKeyID)
	out.SnapshotID = clonePointer(d.SnapshotID)
	out.Throughput = clonePointer(d.Throughput)
	out.VolumeInitializationRate = clonePointer(d.VolumeInitializationRate)
	out.VolumeSize = nil
	if d.VolumeSize != nil {
		size := d.VolumeSize.DeepCopy()
		out.VolumeSize = &size
	}
	out.VolumeType = clonePointer(d.VolumeType)
}

// DeepCopy returns a copy that shares nothing with d, or nil for nil.
func (d *BlockDevice) DeepCopy() *BlockDevice {
	return deepCopy(d)
}

// DeepCopyInto copies o into out. Nothing is shared.
func (o *MetadataOptions) DeepCopyInto(out *MetadataOptions) {
	out.HTTPEndpoint = clonePointer(o.HTTPEndpoint)
	out.HTTPProtocolIPv6 = clonePointer(o.HTTPProtocolIPv6)
	out.HTTPPutResponseHopLimit = clonePointer(o.HTTPPutResponseHopLimit)
	out.HTTPTokens = clonePointer(o.HTTPTokens)
}

// DeepCopy returns a copy that shares nothing with o, or nil for nil.
func (o *MetadataOptions) DeepCopy() *MetadataOptions {
	return deepCopy(o)
}

// DeepCopyInto copies o into out. Nothing is shared.
func (o *EnclaveOptions) DeepCopyInto(out *EnclaveOptions) {
	out.Enabled = clonePointer(o.Enabled)
}

// DeepCopy returns a copy that shares nothing with o, or nil for nil.
func (o *EnclaveOptions) DeepCopy() *EnclaveOptions {
	return deepCopy(o)
}

// DeepCopyInto copies t into out. Nothing is shared.
func (t *ConnectionTracking) DeepCopyInto(out *ConnectionTracking) {
	out.TCPEstablishedTimeout = clonePointer(t.TCPEstablishedTimeout)
	out.UDPStreamTimeout = clonePointer(t.UDPStreamTimeout)
	out.UDPTimeout = clonePointer(t.UDPTimeout)
}

// DeepCopy returns a copy that shares nothing with t, or nil for nil.
func (t *ConnectionTracking) DeepCopy() *ConnectionTracking {
	return deepCopy(t)
}

// DeepCopyInto copies o into out. Nothing is shared.
func (o *CPUOptions) DeepCopyInto(out *CPUOptions) {
	out.NestedVirtualization = clonePointer(o.NestedVirtualization)
}

// DeepCopy returns a copy that shares nothing with o, or nil for nil.
func (o *CPUOptions) DeepCopy() *CPUOptions {
	return deepCopy(o)
}
