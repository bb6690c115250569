package drift

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// DefaultReason is the reason of drift from the node class.
const DefaultReason = "NodeClassDrift"

// Scheme is how node classes of type T are hashed. It is a value, read-only once
// in use.
type Scheme[T any] struct {
	// HashKey and VersionKey are the annotations, on node class and NodeClaim,
	// as in "karpenter.k8s.aws/ec2nodeclass-hash". Required, and different.
	HashKey, VersionKey string

	// Version names the way in which Hash works. Change it whenever Hash would
	// give another result for a node class that did not change. Required.
	Version string

	// Hash returns the hash of what, when it changes, means that machines have
	// to be replaced. It is a function of its argument alone. Required.
	// HashJSON will do for a start.
	Hash func(T) string

	// Older are the Hash functions of earlier versions, by version. With them,
	// claims of those versions are still compared; without, they are taken to
	// be up to date when they are migrated. May be empty.
	Older map[string]func(T) string

	// Reason is the Reason of Drift. Empty means DefaultReason.
	Reason string
}

// Validate returns nil if the scheme can be used, and otherwise an error that
// lists every fault. The other methods take it for granted.
func (s Scheme[T]) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("drift scheme: "+format, args...))
	}
	if s.HashKey == "" || s.VersionKey == "" {
		fault("hashKey or versionKey: empty; name both annotations")
	} else if s.HashKey == s.VersionKey {
		fault("hashKey and versionKey: both are %s; use two annotations", s.HashKey)
	}
	if s.Version == "" {
		fault("version: empty; begin with v1")
	}
	if s.Hash == nil {
		fault("hash: nil; pass the function")
	}
	for _, version := range slices.Sorted(maps.Keys(s.Older)) {
		switch {
		case s.Older[version] == nil:
			fault("older: %s: nil; pass the function, or leave it out", version)
		case version == s.Version:
			fault("older: %s is the present version; leave it out", version)
		}
	}
	return errors.Join(faults...)
}

// Annotations returns what to annotate the node class with, and a NodeClaim when
// a machine is launched from it. The map is the caller's.
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
	// NotComparable: the claim has no hash, or one of a version that is not
	// known. It does not count as drifted.
	NotComparable Verdict = "NotComparable"
)

// Compare says whether the machine of claim was launched from another node class
// than class is now. The hash of the claim's annotation is compared with that of
// class in the same version: by Hash, or by one of Older. A nil claim is
// NotComparable. Drift is set if and only if the verdict is Drifted.
func (s Scheme[T]) Compare(class T, claim *v1.NodeClaim) (Verdict, cloudprovider.Drift) {
	if claim == nil {
		return NotComparable, cloudprovider.Drift{}
	}
	had, version := claim.Annotations[s.HashKey], claim.Annotations[s.VersionKey]
	hash := s.function(version)
	if had == "" || hash == nil {
		return NotComparable, cloudprovider.Drift{}
	}
	now := hash(class)
	if now == had {
		return Same, cloudprovider.Drift{}
	}
	return Drifted, cloudprovider.Drift{
		Reason: cmp.Or(s.Reason, DefaultReason),
		Detail: fmt.Sprintf("the node class has hash %s, the machine was launched with %s (version %s)", now, had, version),
	}
}

// function returns the hash function of a version, or nil.
func (s Scheme[T]) function(version string) func(T) string {
	if version == s.Version {
		return s.Hash
	}
	return s.Older[version]
}

// Change is annotations to set on a NodeClaim; others stay.
type Change struct {
	// Claim is the name of the NodeClaim.
	Claim string
	// Annotations are the ones to set.
	Annotations map[string]string
}

// Migration is what to write so that node class and claims are of the present
// version.
type Migration struct {
	// Claims are the changes to NodeClaims, sorted by name. Make them first:
	// if that is interrupted, the next call goes on where it ended.
	Claims []Change
	// Class are the annotations to set on the node class afterwards, nil if it
	// has them.
	Class map[string]string
}

// Migrate returns what to write after a change of the node class or of the
// scheme. stored are the annotations that the node class has; claims are the
// NodeClaims that were launched from it, in any order. Claims of the present
// version, and those without both annotations, are left alone. A claim of
// another version,
//
//  1. if Older has its version: gets the present hash if its own is still that
//     of class, and is left alone if not; it stays comparable;
//  2. otherwise, if it has a condition Drifted: gets the version only, so that
//     its hash still differs;
//  3. otherwise: gets the present hash. What changed between the versions is
//     not known, and rolling every node because of that would be worse.
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
		if older := s.Older[version]; older != nil {
			if older(class) != had {
				continue
			}
		} else if hasDrifted(c) {
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

// HashJSON returns the 64-bit FNV-1a hash, as a decimal number, of the JSON form
// of v. Maps are in the order of their keys. Lists count in their order, and
// whether a field that is empty counts is up to its tag. A field that is added
// later does not change the hash of an object that does not set it, if its tag
// has omitempty or omitzero. The error is that of encoding/json.
func HashJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	h := fnv.New64a()
	_, _ = h.Write(text) // it never fails
	return strconv.FormatUint(h.Sum64(), 10), nil
}
