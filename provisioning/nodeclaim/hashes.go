package nodeclaim

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// Annotation is annotations to set on an object; others stay.
type Annotation struct {
	// Name is that of the object.
	Name string
	// Annotations are the ones to set.
	Annotations map[string]string
}

// HashMigration is what to write so that the hashes of a NodePool and of its
// NodeClaims are of the present version.
type HashMigration struct {
	// Claims are the changes to NodeClaims, sorted by name. Make them first: if
	// that is interrupted, the next call goes on where it ended.
	Claims []Annotation
	// Pool are the annotations to set on the NodePool afterwards, nil if it has
	// them.
	Pool map[string]string
}

// MigrateHashes says which annotations karpenter.sh/nodepool-hash and
// karpenter.sh/nodepool-hash-version to write on a pool and on its claims, after
// an edit of the pool and after an upgrade that changes how hashes are made. The
// pool should have been defaulted.
//
// If the version of the pool is not v1.NodePoolHashVersion, every claim of
// another version gets the present one; it gets the present hash too unless it
// has a condition Drifted, so that what had drifted stays so, and what had not
// does not begin to. The pool gets its hash and version in any case. Claims that
// are nil are passed over; a nil pool gets nothing. Which claims are those of the
// pool is for the caller to say.
func MigrateHashes(pool *v1.NodePool, claims []*v1.NodeClaim) HashMigration {
	var m HashMigration
	if pool == nil {
		return m
	}
	hash := pool.Hash()
	if pool.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		for _, c := range claims {
			if c == nil || c.Annotations[v1.NodePoolHashVersionAnnotationKey] == v1.NodePoolHashVersion {
				continue
			}
			set := map[string]string{v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
			if !slices.ContainsFunc(c.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1.ConditionTypeDrifted }) {
				set[v1.NodePoolHashAnnotationKey] = hash
			}
			m.Claims = append(m.Claims, Annotation{Name: c.Name, Annotations: set})
		}
		slices.SortStableFunc(m.Claims, func(a, b Annotation) int { return strings.Compare(a.Name, b.Name) })
	}
	have, hashed := pool.Annotations[v1.NodePoolHashAnnotationKey]
	if !hashed || have != hash || pool.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		m.Pool = map[string]string{v1.NodePoolHashAnnotationKey: hash, v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
	}
	return m
}
