package nodeclaim_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

var now = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

// instance is an hour old.
func instance(id, name string) *cloudprovider.Instance {
	return &cloudprovider.Instance{ID: id, Name: name, CreatedAt: now.Add(-time.Hour)}
}

// claim is an hour old.
func claim(name, id string) *v1.NodeClaim {
	return &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Status:     v1.NodeClaimStatus{ProviderID: id},
	}
}

func younger(i *cloudprovider.Instance, age time.Duration) *cloudprovider.Instance {
	i.CreatedAt = now.Add(-age)
	return i
}

func found(r nodeclaim.GarbageReport) string {
	var lines []string
	for _, o := range r.Orphans {
		lines = append(lines, fmt.Sprintf("orphan %s %s", o.Instance.ID, o.Reason))
	}
	for _, l := range r.Lost {
		lines = append(lines, fmt.Sprintf("lost %s %s", l.Claim, l.ProviderID))
	}
	for _, w := range r.Waiting {
		lines = append(lines, fmt.Sprintf("wait %s %s %v", w.Kind, w.Name, w.Until.Sub(now)))
	}
	for _, id := range r.Shared {
		lines = append(lines, "shared "+id)
	}
	if r.OrphansHeld+r.LostHeld > 0 {
		lines = append(lines, fmt.Sprintf("held %d %d", r.OrphansHeld, r.LostHeld))
	}
	return strings.Join(lines, "\n")
}

func TestGarbage(t *testing.T) {
	type (
		instances = []*cloudprovider.Instance
		claims    = []*v1.NodeClaim
	)
	at := &nodeclaim.GarbageOptions{Confirm: -1} // at the first sight
	deleting := instance("i-1", "")
	deleting.Deleting = true
	unknown := instance("i-1", "")
	unknown.CreatedAt = time.Time{}
	going := claim("a", "i-1")
	going.DeletionTimestamp = &metav1.Time{Time: now}
	fresh := claim("a", "i-1")
	fresh.Status.Conditions = []metav1.Condition{
		{Type: "Other", LastTransitionTime: metav1.NewTime(now)},
		{Type: v1.ConditionTypeLaunched, LastTransitionTime: metav1.NewTime(now.Add(-20 * time.Second))}}
	for _, test := range []struct {
		name      string
		instances instances
		claims    claims
		suspects  []nodeclaim.Suspect
		opts      *nodeclaim.GarbageOptions
		want      []string
	}{
		{"nothing", nil, nil, nil, at, nil},
		{"both there", instances{instance("i-1", "a")}, claims{claim("a", "i-1")}, nil, at, nil},
		{"no claim", instances{instance("i-2", "b"), nil, instance("i-1", ""), instance("i-2", "b")}, nil, nil, at,
			[]string{"orphan i-1 NoClaim", "orphan i-2 NoClaim"}},
		{"no instance", nil, claims{claim("b", "i-2"), nil, claim("a", "i-1")}, nil, at, []string{"lost a i-1", "lost b i-2"}},
		{"in launch", instances{instance("i-1", "a")}, claims{claim("a", "")}, nil, at, nil},
		{"a second machine of one claim", instances{instance("i-1", "a"), instance("i-2", "a")}, claims{claim("a", "i-2")}, nil, at,
			[]string{"orphan i-1 Twin"}},
		{"names may be unknown", instances{instance("i-1", "")}, claims{claim("", "")}, nil, at, []string{"orphan i-1 NoClaim"}},
		{"going down", instances{deleting}, nil, nil, at, nil},
		{"going down is not gone", instances{deleting}, claims{claim("a", "i-1")}, nil, at, nil},
		{"the claim is being deleted", nil, claims{going}, nil, at, nil},
		{"no claim in launch is lost", nil, claims{claim("a", "")}, nil, at, nil},
		{"too young", instances{younger(instance("i-1", ""), 20*time.Second)}, nil, nil, at, []string{"wait Instance i-1 40s"}},
		{"just old enough", instances{younger(instance("i-1", ""), time.Minute)}, nil, nil, at, []string{"orphan i-1 NoClaim"}},
		{"just launched", nil, claims{fresh}, nil, at, []string{"wait NodeClaim a 40s"}},
		{"no grace", instances{younger(instance("i-1", ""), 0)}, nil, nil, &nodeclaim.GarbageOptions{Confirm: -1, Grace: -1}, []string{"orphan i-1 NoClaim"}},
		{"age unknown", instances{unknown}, nil, nil, at, []string{"wait Instance i-1 1m0s"}},
		{"age unknown, seen long ago", instances{unknown}, nil, []nodeclaim.Suspect{{Kind: nodeclaim.KindInstance, Name: "i-1", Since: now.Add(-time.Minute)}}, at,
			[]string{"orphan i-1 NoClaim"}},
		{"first sight", instances{instance("i-1", "")}, claims{claim("a", "i-9")}, nil, nil, []string{"wait Instance i-1 10s", "wait NodeClaim a 10s"}},
		{"second sight", instances{instance("i-1", "")}, claims{claim("a", "i-9")}, []nodeclaim.Suspect{
			{Kind: nodeclaim.KindInstance, Name: "i-1", Since: now.Add(-10 * time.Second)}, {Kind: nodeclaim.KindClaim, Name: "a", Since: now.Add(-9 * time.Second)},
			{Kind: nodeclaim.KindClaim, Name: "i-1", Since: now.Add(-time.Hour)}}, nil,
			[]string{"orphan i-1 NoClaim", "wait NodeClaim a 1s"}},
		{"a clock set back", instances{instance("i-1", "")}, nil, []nodeclaim.Suspect{{Kind: nodeclaim.KindInstance, Name: "i-1", Since: now.Add(time.Hour)}}, nil,
			[]string{"wait Instance i-1 10s"}},
		{"shared", instances{instance("i-1", "a")}, claims{claim("a", "i-1"), claim("b", "i-1"), claim("c", "i-1")}, nil, at, []string{"shared i-1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := nodeclaim.Garbage(nodeclaim.GarbageInput{Now: now, Instances: test.instances, Claims: test.claims, Suspects: test.suspects}, test.opts)
			require.Equal(t, strings.Join(test.want, "\n"), found(r))
			require.Equal(t, len(r.Waiting) == 0, r.Next.IsZero())
			require.Len(t, r.Suspects, len(r.Orphans)+len(r.Lost)+len(r.Waiting))
		})
	}
}

func TestGarbageBrake(t *testing.T) {
	var instances []*cloudprovider.Instance
	var claims []*v1.NodeClaim
	for i := range 12 {
		instances = append(instances, instance(fmt.Sprintf("i-%02d", i), ""))
		claims = append(claims, claim(fmt.Sprintf("c-%02d", i), fmt.Sprintf("i-%02d", i)))
	}
	for _, test := range []struct {
		name             string
		instances, claim int // how many are there
		opts             nodeclaim.GarbageOptions
		want             string
	}{
		{"an empty list", 0, 12, nodeclaim.GarbageOptions{}, "held 0 12"},
		{"no claims", 12, 0, nodeclaim.GarbageOptions{}, "held 12 0"},
		{"a half", 6, 12, nodeclaim.GarbageOptions{}, "6 lost"},
		{"more than a half", 5, 12, nodeclaim.GarbageOptions{}, "held 0 7"},
		{"few", 0, 5, nodeclaim.GarbageOptions{}, "5 lost"},
		{"few are too many", 0, 5, nodeclaim.GarbageOptions{BrakeAbove: -1}, "held 0 5"},
		{"no brake", 0, 12, nodeclaim.GarbageOptions{BrakeShare: -1}, "12 lost"},
		{"no brake either", 0, 12, nodeclaim.GarbageOptions{BrakeShare: 1}, "12 lost"},
		{"percent in place of a share", 0, 12, nodeclaim.GarbageOptions{BrakeShare: 90}, "held 0 12"},
		{"no number", 0, 12, nodeclaim.GarbageOptions{BrakeShare: math.NaN()}, "held 0 12"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.opts.Confirm = -1
			r := nodeclaim.Garbage(nodeclaim.GarbageInput{Now: now, Instances: instances[:test.instances], Claims: claims[:test.claim]}, &test.opts)
			got := fmt.Sprintf("%d lost", len(r.Lost))
			if r.OrphansHeld+r.LostHeld > 0 {
				require.Empty(t, append([]nodeclaim.Lost{}, r.Lost...))
				require.Empty(t, r.Orphans)
				got = found(r)
			}
			require.Equal(t, test.want, got)
			require.NotEmpty(t, r.Suspects, "they stay under suspicion")
		})
	}
}

// Over random clusters watched for a while: nothing that has an owner is ever
// reported; nothing is reported before it is due; everything else is reported in
// the end; and order does not count.
func TestGarbageLaws(t *testing.T) {
	for seed := range int64(200) {
		random := rand.New(rand.NewSource(seed))
		opts := &nodeclaim.GarbageOptions{BrakeShare: -1}
		var in nodeclaim.GarbageInput
		orphans, lost := map[string]bool{}, map[string]bool{}
		for i := range 1 + random.Intn(12) {
			id, name := fmt.Sprint("i-", i), fmt.Sprint("c-", i)
			m := younger(instance(id, name), time.Duration(random.Intn(100))*time.Second)
			c := claim(name, id)
			c.CreationTimestamp = metav1.NewTime(m.CreatedAt)
			switch random.Intn(4) {
			case 0:
				in.Instances, orphans[id] = append(in.Instances, m), true
			case 1:
				in.Claims, lost[name] = append(in.Claims, c), true
			case 2:
				c.Status.ProviderID = ""
				fallthrough
			default:
				in.Instances, in.Claims = append(in.Instances, m), append(in.Claims, c)
			}
		}
		gotOrphans, gotLost := map[string]bool{}, map[string]bool{}
		for in.Now = now; in.Now.Before(now.Add(3 * time.Minute)); in.Now = in.Now.Add(7 * time.Second) {
			r := nodeclaim.Garbage(in, opts)
			shuffled := in
			shuffled.Instances, shuffled.Claims = slices.Clone(in.Instances), slices.Clone(in.Claims)
			random.Shuffle(len(in.Instances), func(i, j int) {
				shuffled.Instances[i], shuffled.Instances[j] = shuffled.Instances[j], shuffled.Instances[i]
			})
			random.Shuffle(len(in.Claims), func(i, j int) { shuffled.Claims[i], shuffled.Claims[j] = shuffled.Claims[j], shuffled.Claims[i] })
			require.Equal(t, r, nodeclaim.Garbage(shuffled, opts))
			for _, o := range r.Orphans {
				require.GreaterOrEqual(t, in.Now.Sub(o.Instance.CreatedAt), time.Minute)
				require.GreaterOrEqual(t, in.Now.Sub(now), 10*time.Second)
				gotOrphans[o.Instance.ID] = true
			}
			for _, l := range r.Lost {
				gotLost[l.Claim] = true
			}
			in.Suspects = r.Suspects
		}
		require.Equal(t, orphans, gotOrphans)
		require.Equal(t, lost, gotLost)
	}
}

func ExampleGarbage() {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	in := nodeclaim.GarbageInput{
		Now: now,
		Instances: []*cloudprovider.Instance{
			{ID: "i-1", Name: "web-1", CreatedAt: now.Add(-time.Hour)},
			{ID: "i-2", Name: "web-2", CreatedAt: now.Add(-time.Hour)},
			{ID: "i-3", Name: "web-3", CreatedAt: now.Add(-5 * time.Second)},
		},
		Claims: []*v1.NodeClaim{claim("web-1", "i-1"), claim("web-4", "i-4")},
	}
	report := nodeclaim.Garbage(in, nil)
	fmt.Println("to terminate:", len(report.Orphans), "to delete:", len(report.Lost), "ask again in", report.Next.Sub(now))

	in.Now, in.Suspects = report.Next, report.Suspects
	report = nodeclaim.Garbage(in, nil)
	for _, o := range report.Orphans {
		fmt.Println("terminate", o.Instance.ID, o.Reason)
	}
	for _, l := range report.Lost {
		fmt.Println("delete", l.Claim, "as", l.ProviderID, "is gone")
	}
	// Output:
	// to terminate: 0 to delete: 0 ask again in 10s
	// terminate i-2 NoClaim
	// delete web-4 as i-4 is gone
}

func BenchmarkGarbage(b *testing.B) {
	in := nodeclaim.GarbageInput{Now: now}
	for i := range 5000 {
		in.Instances = append(in.Instances, instance(fmt.Sprint("i-", i), fmt.Sprint("c-", i)))
		in.Claims = append(in.Claims, claim(fmt.Sprint("c-", i), fmt.Sprint("i-", i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		nodeclaim.Garbage(in, nil)
	}
}
