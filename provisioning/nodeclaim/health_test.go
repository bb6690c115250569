package nodeclaim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

// healthPool returns a pool of generation 1, whose condition is as given; empty is
// none.
func healthPool(status metav1.ConditionStatus) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	p.UID, p.Generation, p.Status.NodeClassObservedGeneration = "web-uid", 1, 1
	if status != "" {
		p.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeNodeRegistrationHealthy, Status: status, Reason: "Before",
			ObservedGeneration: 1, LastTransitionTime: metav1.NewTime(born)}}
	}
	return p
}

// launches are outcomes by letter, S or F, a minute apart.
func launches(letters string) []nodeclaim.Outcome {
	var out []nodeclaim.Outcome
	for i, letter := range letters {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("claim-%d", i),
			OwnerReferences: []metav1.OwnerReference{{Kind: "NodePool", Name: "web", UID: "web-uid"}}}}
		setCondition(claim, v1.ConditionTypeLaunched, metav1.ConditionTrue, born)
		out = append(out, nodeclaim.Outcome{Claim: claim, Failed: letter == 'F', At: noon.Add(time.Duration(i-len(letters)) * time.Minute)})
	}
	return out
}

func TestHealthOfSequences(t *testing.T) {
	for _, test := range []struct {
		letters string
		want    metav1.ConditionStatus
	}{
		{"", metav1.ConditionUnknown},
		{"S", metav1.ConditionTrue},
		{"F", metav1.ConditionUnknown},
		{"FF", metav1.ConditionFalse},
		{"FS", metav1.ConditionTrue},
		{"SF", metav1.ConditionTrue},
		{"SFF", metav1.ConditionFalse},
		{"FFS", metav1.ConditionFalse},
		{"FFSS", metav1.ConditionFalse},
		{"FFSSS", metav1.ConditionTrue},
		{"FSSSF", metav1.ConditionTrue},
		{"FSSFF", metav1.ConditionFalse},
	} {
		pool := healthPool("")
		start := nodeclaim.Health{}.Add(noon, pool, 1, nil)
		require.Equal(t, metav1.ConditionUnknown, start.Condition.Status)
		pool.Status.Conditions = []metav1.Condition{start.Condition}
		all := start.Health.Add(noon, pool, 1, launches(test.letters))
		require.Equal(t, test.want, all.Condition.Status, test.letters)
		require.LessOrEqual(t, len(all.Health.Failed), nodeclaim.HealthRing)
		require.Empty(t, start.Health.Failed, "the receiver is not changed")

		// Told one by one, in any order within a call, it comes to the same.
		one := start
		for _, o := range launches(test.letters) {
			pool.Status.Conditions = []metav1.Condition{one.Condition}
			one = one.Health.Add(noon, pool, 1, []nodeclaim.Outcome{o})
		}
		require.Equal(t, all.Health, one.Health, test.letters)
		require.Equal(t, all.Condition.Status, one.Condition.Status, test.letters)
		pool.Status.Conditions = []metav1.Condition{start.Condition}
		turned := launches(test.letters)
		for i, j := 0, len(turned)-1; i < j; i, j = i+1, j-1 {
			turned[i], turned[j] = turned[j], turned[i]
		}
		require.Equal(t, all, start.Health.Add(noon, pool, 1, turned), test.letters)
	}
}

func TestHealthAfterARestart(t *testing.T) {
	require.Equal(t, nodeclaim.Health{}, nodeclaim.RecoverHealth(nil))
	for status, want := range map[metav1.ConditionStatus][]bool{
		"": nil, metav1.ConditionUnknown: nil, metav1.ConditionTrue: {false}, metav1.ConditionFalse: {true, true},
	} {
		pool := healthPool(status)
		h := nodeclaim.RecoverHealth(pool)
		require.Equal(t, want, h.Failed, status)
		require.Equal(t, status == metav1.ConditionFalse, h.Unhealthy())
		if status == "" {
			continue
		}
		same := h.Add(noon, pool, 1, nil)
		require.Equal(t, pool.Status.Conditions[0], same.Condition, "nothing happened since")
		require.Equal(t, h, same.Health)
	}
	// A healthy pool stays so after one failure, and an unhealthy one stays so
	// after two successes.
	pool := healthPool(metav1.ConditionTrue)
	require.Equal(t, metav1.ConditionTrue, nodeclaim.RecoverHealth(pool).Add(noon, pool, 1, launches("F")).Condition.Status)
	pool = healthPool(metav1.ConditionFalse)
	require.Equal(t, metav1.ConditionFalse, nodeclaim.RecoverHealth(pool).Add(noon, pool, 1, launches("SS")).Condition.Status)
	require.Equal(t, metav1.ConditionTrue, nodeclaim.RecoverHealth(pool).Add(noon, pool, 1, launches("SSS")).Condition.Status)
}

func TestHealthBeginsAnewAfterAnEdit(t *testing.T) {
	edited := healthPool(metav1.ConditionFalse)
	edited.Generation = 2
	r := nodeclaim.RecoverHealth(edited).Add(noon, edited, 1, nil)
	require.Equal(t, metav1.Condition{Type: v1.ConditionTypeNodeRegistrationHealthy, Status: metav1.ConditionUnknown,
		Reason: nodeclaim.AwaitingReconciliation, Message: r.Condition.Message, ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(noon)}, r.Condition)
	require.Equal(t, nodeclaim.Health{Generation: 2, ClassGeneration: 1}, r.Health)

	pool := healthPool(metav1.ConditionFalse)
	r = nodeclaim.RecoverHealth(pool).Add(noon, pool, 7, launches("S"))
	require.Equal(t, metav1.ConditionTrue, r.Condition.Status, "with another NodeClass a success is enough")
	require.EqualValues(t, 7, r.ClassGeneration)
	require.Equal(t, []bool{false}, r.Health.Failed)
}

func TestHealthSaysWhy(t *testing.T) {
	pool := healthPool(metav1.ConditionUnknown)
	report := func(edit func(*v1.NodeClaim)) metav1.Condition {
		outcomes := launches("FF")
		edit(outcomes[1].Claim)
		return nodeclaim.RecoverHealth(pool).Add(noon, pool, 1, outcomes).Condition
	}
	c := report(func(*v1.NodeClaim) {})
	require.Equal(t, nodeclaim.RegistrationFailed, c.Reason)
	require.Equal(t, `the machine of NodeClaim "claim-1" was made and did not join the cluster`, c.Message)
	require.Equal(t, noon, c.LastTransitionTime.Time)

	c = report(func(n *v1.NodeClaim) {
		n.Status.Conditions[0].Status, n.Status.Conditions[0].Reason, n.Status.Conditions[0].Message = metav1.ConditionUnknown, "LaunchFailed", "no such image"
	})
	require.Equal(t, "LaunchFailed", c.Reason)
	require.Equal(t, "no such image", c.Message)

	c = report(func(n *v1.NodeClaim) { n.Status.Conditions = nil })
	require.Equal(t, `no machine was made for NodeClaim "claim-1"`, c.Message)

	// The reason is that of the failure that made it False, not of later ones.
	pool = healthPool(metav1.ConditionFalse)
	require.Equal(t, "Before", report(func(*v1.NodeClaim) {}).Reason)
	require.Equal(t, born, report(func(*v1.NodeClaim) {}).LastTransitionTime.Time)
}

func TestHealthCountsClaimsOfThePool(t *testing.T) {
	pool := healthPool(metav1.ConditionUnknown)
	outcomes := launches("FF")
	outcomes[0].Claim.OwnerReferences[0].UID = types.UID("an earlier pool of the name")
	outcomes = append(outcomes, nodeclaim.Outcome{Failed: true})
	r := nodeclaim.RecoverHealth(pool).Add(noon, pool, 1, outcomes)
	require.Equal(t, []bool{true}, r.Health.Failed)
	require.Equal(t, metav1.ConditionUnknown, r.Condition.Status)
	require.Equal(t, metav1.ConditionUnknown, nodeclaim.Health{}.Add(noon, nil, 0, launches("SS")).Condition.Status)
}

func ExampleHealth_Add() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web-uid", Generation: 1}}
	health := nodeclaim.RecoverHealth(pool)
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, failed := range []bool{false, true, true} {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", OwnerReferences: []metav1.OwnerReference{{UID: "web-uid"}}}}
		report := health.Add(now, pool, 1, []nodeclaim.Outcome{{Claim: claim, Failed: failed, At: now}})
		health, pool.Status.Conditions = report.Health, []metav1.Condition{report.Condition}
		fmt.Println(report.Condition.Status, report.Condition.Reason)
	}
	// Output:
	// True RegistrationHealthy
	// True RegistrationHealthy
	// False RegistrationFailed
}

func ExampleRecoverHealth() {
	pool := &v1.NodePool{}
	pool.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeNodeRegistrationHealthy, Status: metav1.ConditionFalse}}
	fmt.Println(nodeclaim.RecoverHealth(pool).Unhealthy())
	// Output: true
}
