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

// claims are the PersistentVolumeClaims that pods to be placed share with each other or with
// running pods.
type claims struct {
	Users   map[string]*ClaimUsers // by claim, as namespace/name
	Shared  map[string]bool        // names of volumes, claims and disks that several pods use
	Holders map[string]Holder      // by claim that only one pod may use
	Reaches map[string]string      // by claim whose volume is made where its pods go: the label that their nodes must have in common
}

// ClaimUsers are the pods that use one claim.
type ClaimUsers struct {
	Waiting []int32  // IDs of pods to be placed
	Running []string // names of pods on nodes, except pods that are to be placed anew
}

// Holder is the pod that gets a claim which only one pod may use.
type Holder struct {
	Pod   string
	PodID int32 // -1 if the pod is running
	Rival bool  // another pod to be placed could get the claim instead
}

// PodName returns namespace/name of a pod.
func PodName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// HasDisks says whether a pod names a disk that two pods of one node may not share.
func HasDisks(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.ISCSI != nil || v.RBD != nil
	})
}

// SharedDisks returns the disks of a pod that other pods name as well.
func (x *Extras) SharedDisks(n *volume.Needs) []volume.Disk {
	return slices.DeleteFunc(slices.Clone(n.Disks), func(d volume.Disk) bool { return !x.Claims.Shared[d.Name] })
}

// mayUse returns an error if another pod has a claim that is exclusive to one pod.
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

// HasZones says whether any node or offering has a zone.
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
				return true // every offering has a zone
			}
		}
	}
	return false
}

// AddSharing adds affinity terms to those of a pod: for each of its claims whose volume is still to
// be made, it must be in one domain with the other pods that use the claim.
func (r *TermReader) AddSharing(terms []Term, x *Extras, claims []string) []Term {
	for _, claim := range claims {
		terms = append(terms, Term{Kind: topology.Together, Key: x.Claims.Reaches[claim], Pods: r.claimSelection(claim), Storage: true})
	}
	slices.SortFunc(terms, compareTerms)
	return slices.Compact(terms)
}

// Sharing lists the claims of a pod whose volume is made where the pod and the other pods that use
// the claim go.
func (x *Extras) Sharing(pod *corev1.Pod, podID int) []string {
	if len(x.Claims.Reaches) == 0 || !volumes.HasClaims(pod) {
		return nil
	}
	need := x.Known(pod, podID)
	return slices.DeleteFunc(slices.Clone(need.Unbound), func(claim string) bool { return x.Claims.Reaches[claim] == "" })
}
