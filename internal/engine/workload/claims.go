package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/volumes"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/topology"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
)

// claims are the PersistentVolumeClaims that pods to be placed have in common
// with each other, or with pods that run.
type claims struct {
	Users   map[string]*ClaimUsers // by namespace, slash and name
	Shared  map[string]bool        // volumes, claims and disks that several pods have, by name
	Holders map[string]Holder      // of claims that one pod only may use
	Reaches map[string]string      // of claims that get their volume where their pods go: the label these must have in common
}

// ClaimUsers are the pods that use a claim.
type ClaimUsers struct {
	Waiting []int32  // pods to be placed, by pod ID
	Running []string // pods on nodes, but those that are to be placed anew
}

// Holder is the pod that may use a claim which only one may use.
type Holder struct {
	Pod   string
	PodID int32 // -1 if it runs
	Rival bool  // another pod to be placed could have it instead
}

// PodName tells pods apart.
func PodName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// HasDisks says whether a pod names a disk that pods of one node may not share.
func HasDisks(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.ISCSI != nil || v.RBD != nil
	})
}

// SharedDisks are the disks of a pod that others name as well.
func (x *Extras) SharedDisks(n *volume.Needs) []volume.Disk {
	return slices.DeleteFunc(slices.Clone(n.Disks), func(d volume.Disk) bool { return !x.Claims.Shared[d.Name] })
}

// mayUse says why a pod must leave claims that are for one pod only to another.
func (x *Extras) mayUse(pod *corev1.Pod, exclusive []string) error {
	name := PodName(pod)
	for _, claim := range exclusive {
		if h, ok := x.Claims.Holders[claim]; ok && h.Pod != name {
			if h.PodID < 0 {
				return fmt.Errorf("claim %s is for one pod only (ReadWriteOncePod), and pod %s uses it", claim, h.Pod)
			}
			return fmt.Errorf("claim %s is for one pod only (ReadWriteOncePod), and pod %s gets it", claim, h.Pod)
		}
	}
	return nil
}

// HasZones says whether any node or offering is in a zone.
func HasZones(in *model.Input) bool {
	for i := range in.Nodes {
		if in.Nodes[i].Node == nil && in.Nodes[i].NodeClaim == nil {
			continue // a fault, which is reported elsewhere
		}
		if _, ok := in.Nodes[i].Labels()[corev1.LabelTopologyZone]; ok {
			return true
		}
	}
	for _, types := range in.InstanceTypes {
		for _, t := range types {
			if t != nil && len(t.Offerings) > 0 {
				return true // an offering has a zone
			}
		}
	}
	return false
}

// AddSharing adds to the constraints of a pod that it goes with the others it
// shares a claim with, where these get their volume.
func (r *TermReader) AddSharing(terms []Term, x *Extras, claims []string) []Term {
	for _, claim := range claims {
		terms = append(terms, Term{Kind: topology.Together, Key: x.Claims.Reaches[claim], Pods: r.claimSelection(claim), Storage: true})
	}
	slices.SortFunc(terms, compareTerms)
	return slices.Compact(terms)
}

// Sharing lists the claims of a pod that get their volume where it and others
// go.
func (x *Extras) Sharing(pod *corev1.Pod, podID int) []string {
	if len(x.Claims.Reaches) == 0 || !volumes.HasClaims(pod) {
		return nil
	}
	need := x.Known(pod, podID)
	return slices.DeleteFunc(slices.Clone(need.Unbound), func(claim string) bool { return x.Claims.Reaches[claim] == "" })
}
