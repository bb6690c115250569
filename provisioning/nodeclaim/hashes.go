package nodeclaim

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// HashMigration has the objects to store so that the hashes of a NodePool and of its NodeClaims
// have the present version.
type HashMigration struct {
	// Claims are the NodeClaims to store, sorted by name. Store them first: if
	// that is interrupted, the next call goes on where it ended.
	Claims []*v1.NodeClaim
	// Pool is the NodePool to store afterwards; the given one if nothing changes.
	Pool *v1.NodePool
}

// MigrateHashes writes the annotations karpenter.sh/nodepool-hash and
// karpenter.sh/nodepool-hash-version on a pool and on its claims. Call it after an edit of the pool
// and after an upgrade that changes the hash function. The claims of a pool are those with its name
// in the label karpenter.sh/nodepool. The hash is that of the pool with its defaults, which are not
// stored.
//
// If the version of the pool is not v1.NodePoolHashVersion, every claim of another version gets the
// present one; it gets the present hash too unless it has a condition Drifted, so that the
// migration changes no claim's drift. The pool gets its hash and version in any case. Nil claims
// are ignored; for a nil pool the result is empty. The given objects are not changed.
func MigrateHashes(pool *v1.NodePool, claims []*v1.NodeClaim) HashMigration {
	m := HashMigration{Pool: pool}
	if pool == nil {
		return m
	}
	full := pool.DeepCopy()
	full.Default()
	hash := full.Hash()
	if pool.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		for _, c := range claims {
			if c == nil || c.Labels[v1.NodePoolLabelKey] != pool.Name || c.Annotations[v1.NodePoolHashVersionAnnotationKey] == v1.NodePoolHashVersion {
				continue
			}
			after := c.DeepCopy()
			metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1.NodePoolHashVersionAnnotationKey, v1.NodePoolHashVersion)
			if !slices.ContainsFunc(c.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1.ConditionTypeDrifted }) {
				metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1.NodePoolHashAnnotationKey, hash)
			}
			m.Claims = append(m.Claims, after)
		}
		slices.SortStableFunc(m.Claims, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Name, b.Name) })
	}
	have, hashed := pool.Annotations[v1.NodePoolHashAnnotationKey]
	if !hashed || have != hash || pool.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		m.Pool = pool.DeepCopy()
		metav1.SetMetaDataAnnotation(&m.Pool.ObjectMeta, v1.NodePoolHashAnnotationKey, hash)
		metav1.SetMetaDataAnnotation(&m.Pool.ObjectMeta, v1.NodePoolHashVersionAnnotationKey, v1.NodePoolHashVersion)
	}
	return m
}
