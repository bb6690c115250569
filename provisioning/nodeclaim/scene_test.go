package nodeclaim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// noon is the instant of the tests, and born when their nodes were asked for.
var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	born = noon.Add(-48 * time.Hour)
)

// newNode returns an initialized node of a pool.
func newNode(name, pool string, edits ...func(*provisioning.Node)) provisioning.Node {
	labels := map[string]string{v1.NodePoolLabelKey: pool, corev1.LabelTopologyZone: "a"}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name + "-claim", UID: types.UID(name + "-uid"),
		CreationTimestamp: metav1.NewTime(born), Labels: labels, Annotations: map[string]string{}}}
	claim.Status.ProviderID = "cloud://" + name
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		setCondition(claim, kind, metav1.ConditionTrue, born)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(born), Annotations: map[string]string{},
		Labels: map[string]string{v1.NodePoolLabelKey: pool, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}}}
	node.Spec.ProviderID = claim.Status.ProviderID
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(born)}}
	n := provisioning.Node{Node: node, NodeClaim: claim}
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

func setCondition(claim *v1.NodeClaim, kind string, status metav1.ConditionStatus, since time.Time) {
	claim.Status.Conditions = slices.DeleteFunc(claim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	claim.Status.Conditions = append(claim.Status.Conditions,
		metav1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(since)})
}

func withCondition(kind string, status metav1.ConditionStatus, since time.Duration) func(*provisioning.Node) {
	return func(n *provisioning.Node) { setCondition(n.NodeClaim, kind, status, noon.Add(since)) }
}

func withoutCondition(kind string) func(*provisioning.Node) {
	return func(n *provisioning.Node) {
		n.NodeClaim.Status.Conditions = slices.DeleteFunc(n.NodeClaim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	}
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

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
