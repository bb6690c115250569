// Package storage reads the storage objects of an input: which claims a pod has, which volume a
// claim may be bound to on a node, which nodes reach a volume, and which driver attaches it. It
// reads objects as kube-scheduler's filters VolumeBinding, VolumeZone, VolumeRestrictions and
// NodeVolumeLimits do. It does not record which pods use which volumes; the referee does.
package storage
