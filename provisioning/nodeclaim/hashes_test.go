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
	claim := func(name, version, hash string, drifted bool) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			v1.NodePoolHashVersionAnnotationKey: version, v1.NodePoolHashAnnotationKey: hash}}}
		if drifted {
			setCondition(c, v1.ConditionTypeDrifted, metav1.ConditionTrue, noon)
		}
		return c
	}
	pool := healthPool("")
	hash := pool.Hash()
	pool.Annotations = map[string]string{v1.NodePoolHashVersionAnnotationKey: "v2", v1.NodePoolHashAnnotationKey: "1"}
	claims := []*v1.NodeClaim{claim("clean", "v2", "1", false), nil, claim("before", "v2", "0", true), claim("new", "v3", hash, false)}
	stamp := map[string]string{v1.NodePoolHashVersionAnnotationKey: "v3", v1.NodePoolHashAnnotationKey: hash}
	require.Equal(t, nodeclaim.HashMigration{
		Claims: []nodeclaim.Annotation{
			{Name: "before", Annotations: map[string]string{v1.NodePoolHashVersionAnnotationKey: "v3"}},
			{Name: "clean", Annotations: stamp}},
		Pool: stamp,
	}, nodeclaim.MigrateHashes(pool, claims))

	pool.Annotations = stamp
	require.Empty(t, nodeclaim.MigrateHashes(pool, claims))
	pool.Annotations = map[string]string{v1.NodePoolHashVersionAnnotationKey: "v3", v1.NodePoolHashAnnotationKey: "1"}
	require.Equal(t, nodeclaim.HashMigration{Pool: stamp}, nodeclaim.MigrateHashes(pool, claims), "an edit changes the pool only")
	require.Empty(t, nodeclaim.MigrateHashes(nil, claims))
}

// After an upgrade that changes how hashes are made, claims that had not drifted
// should not begin to.
func ExampleMigrateHashes() {
	pool := healthPool("")
	pool.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v2"}
	claim := newNode("a", "web").NodeClaim
	claim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v2"}
	migration := nodeclaim.MigrateHashes(pool, []*v1.NodeClaim{claim})
	for _, c := range migration.Claims {
		fmt.Println(c.Name, c.Annotations[v1.NodePoolHashVersionAnnotationKey], c.Annotations[v1.NodePoolHashAnnotationKey] == pool.Hash())
	}
	fmt.Println(migration.Pool[v1.NodePoolHashVersionAnnotationKey])
	// Output:
	// a-claim v3 true
	// v3
}
