package drift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// DefaultReason is the reason of drift from the node class.
const DefaultReason = "NodeClassDrift"

// Scheme says how node classes of type T are hashed. It is read-only once in use. Required fields
// are not checked; without Hash its methods panic.
type Scheme[T any] struct {
	// HashKey and VersionKey are the annotations, on node class and NodeClaim,
	// as in "karpenter.k8s.aws/ec2nodeclass-hash". Required, and different.
	HashKey, VersionKey string

	// Version is the version of Hash. Change it whenever Hash would return another result for an
	// unchanged node class. Required.
	Version string

	// Hash returns the hash of the fields whose change requires that machines are replaced. It is a
	// function of its argument alone. Required.
	Hash func(T) string

	// Reason is the Reason of Drift. Empty means DefaultReason.
	Reason string
}

// Annotations returns the annotations for the node class, and for a NodeClaim when a machine is
// launched from it. The caller owns the map.
func (s Scheme[T]) Annotations(class T) map[string]string {
	return map[string]string{s.HashKey: s.Hash(class), s.VersionKey: s.Version}
}

// Verdict says whether a machine has drifted.
type Verdict string

const (
	// Same: the hashes are equal.
	Same Verdict = "Same"
	// Drifted: they differ.
	Drifted Verdict = "Drifted"
	// NotComparable: the claim has no hash, or one of another version. It does not
	// count as drifted.
	NotComparable Verdict = "NotComparable"
)

// Compare reports whether class has changed since the machine of claim was launched, by the hash in
// the claim's annotation. A nil claim is NotComparable. Drift is set if and only if the verdict is
// Drifted.
func (s Scheme[T]) Compare(class T, claim *v1.NodeClaim) (Verdict, cloudprovider.Drift) {
	if claim == nil {
		return NotComparable, cloudprovider.Drift{}
	}
	had, version := claim.Annotations[s.HashKey], claim.Annotations[s.VersionKey]
	if had == "" || version != s.Version {
		return NotComparable, cloudprovider.Drift{}
	}
	now := s.Hash(class)
	if now == had {
		return Same, cloudprovider.Drift{}
	}
	return Drifted, cloudprovider.Drift{
		Reason: cmp.Or(s.Reason, DefaultReason),
		Detail: fmt.Sprintf("the node class has hash %s, the machine was launched with %s (version %s)", now, had, version),
	}
}

// Change is annotations to set on a NodeClaim; others stay.
type Change struct {
	// Claim is the name of the NodeClaim.
	Claim string
	// Annotations are the ones to set.
	Annotations map[string]string
}

// Migration has the changes after which node class and claims have the present version.
type Migration struct {
	// Claims are the changes to NodeClaims, sorted by name. Make them first:
	// if that is interrupted, the next call goes on where it ended.
	Claims []Change
	// Class are the annotations to set on the node class afterwards, nil if it
	// has them.
	Class map[string]string
}

// Migrate returns the changes after a change of the node class or of the scheme. stored are the
// present annotations of the node class; claims are the NodeClaims that were launched from it, in
// any order. Claims of the present version, and those without both annotations, stay. A claim of
// another version,
//
//  1. if it has a condition Drifted: gets the version only, so that its hash still
//     differs;
//  2. otherwise: gets the present hash. A change of the node class between the versions is missed
//     then, because replacing every node would be worse.
func (s Scheme[T]) Migrate(class T, stored map[string]string, claims []*v1.NodeClaim) Migration {
	var m Migration
	present := s.Annotations(class)
	for _, c := range claims {
		if c == nil {
			continue
		}
		had, version := c.Annotations[s.HashKey], c.Annotations[s.VersionKey]
		if had == "" || version == "" || version == s.Version {
			continue
		}
		change := Change{Claim: c.Name, Annotations: maps.Clone(present)}
		if hasDrifted(c) {
			delete(change.Annotations, s.HashKey)
		}
		m.Claims = append(m.Claims, change)
	}
	slices.SortFunc(m.Claims, func(a, b Change) int { return cmp.Compare(a.Claim, b.Claim) })
	if stored[s.HashKey] != present[s.HashKey] || stored[s.VersionKey] != present[s.VersionKey] {
		m.Class = present
	}
	return m
}

// hasDrifted reports whether the claim has the condition, whatever its status.
func hasDrifted(c *v1.NodeClaim) bool {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == v1.ConditionTypeDrifted {
			return true
		}
	}
	return false
}
