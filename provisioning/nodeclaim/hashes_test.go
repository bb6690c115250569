package nodeclaim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

func TestMigrateHashes(t *testing.T) {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	full := pool.DeepCopy()
	full.Default()
	hash := full.Hash()
	claim := func(name, version, hash string, drifted bool) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.NodePoolLabelKey: pool.Name},
			Annotations: map[string]string{v1.NodePoolHashVersionAnnotationKey: version, v1.NodePoolHashAnnotationKey: hash}}}
		if drifted {
			setCondition(c, v1.ConditionTypeDrifted, metav1.ConditionTrue, noon)
		}
		return c
	}
	pool.Annotations = map[string]string{v1.NodePoolHashVersionAnnotationKey: "v2", v1.NodePoolHashAnnotationKey: "1"}
	foreign := claim("foreign", "v2", "1", false)
	foreign.Labels = nil
	claims := []*v1.NodeClaim{claim("clean", "v2", "1", false), nil, claim("before", "v2", "0", true), foreign, claim("new", "v3", hash, false)}
	m := nodeclaim.MigrateHashes(pool, claims)
	stamp := map[string]string{v1.NodePoolHashVersionAnnotationKey: "v3", v1.NodePoolHashAnnotationKey: hash}
	require.Equal(t, []*v1.NodeClaim{claim("before", "v3", "0", true), claim("clean", "v3", hash, false)}, m.Claims)
	require.Equal(t, stamp, m.Pool.Annotations)
	require.Equal(t, "v2", pool.Annotations[v1.NodePoolHashVersionAnnotationKey], "objects are not changed")

	pool.Annotations = stamp
	m = nodeclaim.MigrateHashes(pool, claims)
	require.Empty(t, m.Claims)
	require.Same(t, pool, m.Pool)
	pool.Annotations = map[string]string{v1.NodePoolHashVersionAnnotationKey: "v3", v1.NodePoolHashAnnotationKey: "1"}
	m = nodeclaim.MigrateHashes(pool, claims)
	require.Empty(t, m.Claims, "an edit changes the pool only")
	require.Equal(t, stamp, m.Pool.Annotations)
	require.Empty(t, nodeclaim.MigrateHashes(nil, claims))
}

// After an upgrade that changes how hashes are made, claims that had not drifted
// should not begin to.
func ExampleMigrateHashes() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v2"}
	claim := newNode("a", "web").NodeClaim
	claim.Labels = map[string]string{v1.NodePoolLabelKey: pool.Name}
	claim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v2"}
	migration := nodeclaim.MigrateHashes(pool, []*v1.NodeClaim{claim})
	for _, c := range migration.Claims {
		fmt.Println(c.Name, c.Annotations[v1.NodePoolHashVersionAnnotationKey], c.Annotations[v1.NodePoolHashAnnotationKey] == migration.Pool.Annotations[v1.NodePoolHashAnnotationKey])
	}
	fmt.Println(migration.Pool.Annotations[v1.NodePoolHashVersionAnnotationKey])
	// Output:
	// a-claim v3 true
	// v3
}
