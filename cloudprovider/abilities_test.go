package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// plain is a provider with the five methods and no further ability.
type plain struct{ cloudprovider.CloudProvider }

// wrapper passes abilities on; opaque does not.
type wrapper struct{ cloudprovider.CloudProvider }

func (w wrapper) Unwrap() cloudprovider.CloudProvider { return w.CloudProvider }

type opaque struct{ cloudprovider.CloudProvider }

// able has every ability and records what it was asked.
type able struct {
	plain
	asked      []string
	err        error
	vocabulary *requirements.Vocabulary
}

func (a *able) ask(what string) error {
	a.asked = append(a.asked, what)
	return a.err
}

func (a *able) Name() string                         { return "able" }
func (a *able) Vocabulary() *requirements.Vocabulary { return a.vocabulary }
func (a *able) RepairPolicies() []cloudprovider.RepairPolicy {
	return []cloudprovider.RepairPolicy{{ConditionType: "Ready"}}
}
func (a *able) SupportedNodeClasses() []schema.GroupKind {
	return []schema.GroupKind{{Group: "g", Kind: "A"}, {Group: "g", Kind: "B"}}
}
func (a *able) NodeClassReady(_ context.Context, ref v1.NodeClassReference) error {
	return a.ask("ready " + ref.Name)
}
func (a *able) IsDrifted(_ context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	return cloudprovider.Drift{Reason: "ImageDrift"}, a.ask("drifted " + claim.Name)
}
func (a *able) Reboot(_ context.Context, id, operation string) error {
	return a.ask("reboot " + id + " " + operation)
}
func (a *able) Interruptions(context.Context) ([]cloudprovider.Interruption, error) {
	return []cloudprovider.Interruption{{ID: "n-1"}}, a.ask("interruptions")
}
func (a *able) Acknowledge(_ context.Context, ids ...string) error {
	for _, id := range ids {
		a.asked = append(a.asked, "acknowledge "+id)
	}
	return a.err
}

func TestAbilitiesThroughWrappers(t *testing.T) {
	ctx := context.Background()
	inner := &able{err: errors.New("boom"), vocabulary: requirements.DefaultVocabulary().Extend(requirements.Extension{WellKnown: []string{"example.com/own"}})}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-x7"}}
	for _, p := range []cloudprovider.CloudProvider{inner, wrapper{inner}, wrapper{wrapper{inner}}} {
		inner.asked = nil
		require.Equal(t, "able", cloudprovider.Name(p))
		require.Same(t, inner.vocabulary, cloudprovider.Vocabulary(p))
		require.Len(t, cloudprovider.RepairPolicies(p), 1)
		require.True(t, cloudprovider.SupportsNodeClass(p, schema.GroupKind{Group: "g", Kind: "B"}))
		require.False(t, cloudprovider.SupportsNodeClass(p, schema.GroupKind{Group: "g", Kind: "C"}))
		require.Equal(t, inner.err, cloudprovider.NodeClassReady(ctx, p, v1.NodeClassReference{Group: "g", Kind: "A", Name: "default"}))
		drift, err := cloudprovider.IsDrifted(ctx, p, claim)
		require.Equal(t, inner.err, err)
		require.Equal(t, "ImageDrift", drift.Reason)
		require.Equal(t, inner.err, cloudprovider.Reboot(ctx, p, "i-1", "op-1"))
		notices, err := cloudprovider.Interruptions(ctx, p)
		require.Equal(t, inner.err, err)
		require.Equal(t, inner.err, cloudprovider.Acknowledge(ctx, p, append(notices, cloudprovider.Interruption{}, cloudprovider.Interruption{ID: "n-2"})...))
		require.NoError(t, cloudprovider.Acknowledge(ctx, p))
		require.NoError(t, cloudprovider.Acknowledge(ctx, p, cloudprovider.Interruption{InstanceID: "i-1"}))
		require.Equal(t, []string{"ready default", "drifted web-x7", "reboot i-1 op-1", "interruptions", "acknowledge n-1", "acknowledge n-2"}, inner.asked)
	}
}

func TestAbilitiesAbsent(t *testing.T) {
	ctx := context.Background()
	hidden := opaque{&able{}}
	for name, p := range map[string]cloudprovider.CloudProvider{
		"nil": nil, "plain": plain{}, "wrapped plain": wrapper{wrapper{plain{}}}, "wrapped nothing": wrapper{}, "opaque": hidden, "wrapped opaque": wrapper{hidden},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cloudprovider.Name(p))
			require.NotNil(t, cloudprovider.Vocabulary(p))
			require.True(t, cloudprovider.Vocabulary(p).WellKnown("topology.kubernetes.io/zone"))
			require.Nil(t, cloudprovider.RepairPolicies(p))
			require.True(t, cloudprovider.SupportsNodeClass(p, schema.GroupKind{Group: "any", Kind: "Thing"}))
			require.NoError(t, cloudprovider.NodeClassReady(ctx, p, v1.NodeClassReference{Name: "default"}))
			drift, isDrifted := cloudprovider.IsDrifted(ctx, p, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-x7"}})
			require.Zero(t, drift)
			_, noClaim := cloudprovider.IsDrifted(ctx, p, nil)
			notices, interruptions := cloudprovider.Interruptions(ctx, p)
			require.Empty(t, notices)
			for text, err := range map[string]error{
				"IsDrifted web-x7: ": isDrifted,
				"IsDrifted: ":        noClaim,
				"Interruptions: ":    interruptions,
				"Reboot i-1: ":       cloudprovider.Reboot(ctx, p, "i-1", "op-1"),
				"Acknowledge n-1 n-2: ": cloudprovider.Acknowledge(ctx, p,
					cloudprovider.Interruption{ID: "n-1"}, cloudprovider.Interruption{InstanceID: "i-1"}, cloudprovider.Interruption{ID: "n-2"}),
			} {
				require.ErrorIs(t, err, cloudprovider.ErrUnsupported)
				require.ErrorIs(t, err, errors.ErrUnsupported)
				require.Equal(t, cloudprovider.KindUnsupported, cloudprovider.KindOf(err))
				require.ErrorContains(t, err, text+"unsupported: provider ")
			}
			require.NoError(t, cloudprovider.Acknowledge(ctx, p, notices...))
			require.NoError(t, cloudprovider.Acknowledge(ctx, p, cloudprovider.Interruption{InstanceID: "i-1"}), "without an ID it needs none")
		})
	}
}

// A provider may have the ability and nothing to say.
func TestVocabularyNil(t *testing.T) {
	require.True(t, cloudprovider.Vocabulary(&able{}).WellKnown("topology.kubernetes.io/zone"))
}

func TestNodeClassOfAnotherProvider(t *testing.T) {
	p := wrapper{&able{}}
	err := cloudprovider.NodeClassReady(context.Background(), p, v1.NodeClassReference{Group: "g", Kind: "C", Name: "default"})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.EqualError(t, err, "NodeClassReady C.g default: unsupported: provider able cannot do that: unsupported operation")
}

// A wrapper that has an ability of its own hides that of the inner provider.
type renamed struct{ wrapper }

func (renamed) Name() string { return "renamed" }

func TestOutermostAbilityWins(t *testing.T) {
	require.Equal(t, "renamed", cloudprovider.Name(wrapper{renamed{wrapper{&able{}}}}))
	inner := &able{}
	found, ok := cloudprovider.As[*able](renamed{wrapper{inner}})
	require.True(t, ok, "a concrete type will do as well")
	require.Same(t, inner, found)
}

func TestValidateRepairPolicies(t *testing.T) {
	second, negative := time.Second, -time.Second
	fallback := cloudprovider.RepairPolicy{ConditionType: "Ready", ConditionStatus: "False", Action: cloudprovider.ReplaceNode}
	sound := cloudprovider.RepairPolicy{
		ConditionType: "KernelReady", ConditionStatus: "False", ReasonRegex: "^Panic|OOM", TolerationDuration: time.Minute,
		TerminationGracePeriod: &second, Priority: 100, Action: cloudprovider.RebootNode,
	}
	with := func(change func(*cloudprovider.RepairPolicy)) []cloudprovider.RepairPolicy {
		p := sound
		change(&p)
		return []cloudprovider.RepairPolicy{fallback, p}
	}
	tests := []struct {
		name     string
		policies []cloudprovider.RepairPolicy
		want     string
	}{
		{"sound", []cloudprovider.RepairPolicy{sound, fallback, sound}, ""},
		{"no drain", with(func(p *cloudprovider.RepairPolicy) { p.TerminationGracePeriod = new(time.Duration) }), ""},
		{"empty set", nil, "repair policies: 0 without reasonRegex; there must be exactly one such fallback, give the others an expression such as .*"},
		{"no fallback", []cloudprovider.RepairPolicy{sound}, "repair policies: 0 without reasonRegex; there must be exactly one such fallback, give the others an expression such as .*"},
		{"two fallbacks", []cloudprovider.RepairPolicy{fallback, fallback}, "repair policies: 2 without reasonRegex; there must be exactly one such fallback, give the others an expression such as .*"},
		{"reboot as the fallback", []cloudprovider.RepairPolicy{{ConditionType: "Ready", ConditionStatus: "False", Action: cloudprovider.RebootNode}},
			"repair policy 0: action: RebootNode on the fallback; use ReplaceNode"},
		{"no action", with(func(p *cloudprovider.RepairPolicy) { p.Action = "" }), `repair policy 1: action: ""; use RebootNode or ReplaceNode`},
		{"bad expression", with(func(p *cloudprovider.RepairPolicy) { p.ReasonRegex = "(" }),
			"repair policy 1: reasonRegex: error parsing regexp: missing closing ): `(`; use the syntax of package regexp"},
		{"priority below", with(func(p *cloudprovider.RepairPolicy) { p.Priority = -1 }), "repair policy 1: priority: -1; use 0 to 100"},
		{"priority above", with(func(p *cloudprovider.RepairPolicy) { p.Priority = 101 }), "repair policy 1: priority: 101; use 0 to 100"},
		{"no type", with(func(p *cloudprovider.RepairPolicy) { p.ConditionType = "" }), "repair policy 1: conditionType: empty; name a node condition, such as Ready"},
		{"odd status", with(func(p *cloudprovider.RepairPolicy) { p.ConditionStatus = "Maybe" }), `repair policy 1: conditionStatus: "Maybe"; use True, False or Unknown`},
		{"negative toleration", with(func(p *cloudprovider.RepairPolicy) { p.TolerationDuration = -1 }), "repair policy 1: tolerationDuration: -1ns; use zero or more"},
		{"negative drain and more", with(func(p *cloudprovider.RepairPolicy) { p.TerminationGracePeriod, p.Priority = &negative, 200 }),
			"repair policy 1: terminationGracePeriod: -1s; use zero for no drain, or nil to inherit\nrepair policy 1: priority: 200; use 0 to 100"},
	}
	for _, tt := range tests {
		err := cloudprovider.ValidateRepairPolicies(tt.policies)
		if tt.want == "" {
			require.NoError(t, err, tt.name)
		} else {
			require.EqualError(t, err, tt.want, tt.name)
		}
	}
}

// rebooting restarts machines.
type rebooting struct{ cloudprovider.CloudProvider }

func (rebooting) Reboot(_ context.Context, id, _ string) error {
	return fmt.Errorf("reboot of %s", id)
}

// guarded stands before the Rebooter within it, if there is one.
type guarded struct{ cloudprovider.CloudProvider }

func (g guarded) Unwrap() cloudprovider.CloudProvider { return g.CloudProvider }

func (g guarded) As(target any) bool {
	t, wanted := target.(*cloudprovider.Rebooter)
	if !wanted {
		return false
	}
	inner, found := cloudprovider.As[cloudprovider.Rebooter](g.CloudProvider)
	if found {
		*t = guard{inner}
	}
	return found
}

type guard struct{ cloudprovider.Rebooter }

func (g guard) Reboot(ctx context.Context, id, operation string) error {
	return fmt.Errorf("guarded %w", g.Rebooter.Reboot(ctx, id, operation))
}

// A wrapper may offer an ability only where what it wraps has it.
func TestWrapperOffersAbility(t *testing.T) {
	for _, test := range []struct {
		name     string
		provider cloudprovider.CloudProvider
		want     string
	}{
		{"there", guarded{rebooting{}}, "guarded reboot of i-1"},
		{"twice", guarded{guarded{rebooting{}}}, "guarded guarded reboot of i-1"},
		{"behind another wrapper", guarded{struct{ rebooting }{}}, "guarded reboot of i-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.EqualError(t, cloudprovider.Reboot(t.Context(), test.provider, "i-1", "op"), test.want)
		})
	}
	err := cloudprovider.Reboot(t.Context(), guarded{guarded{nil}}, "i-1", "op")
	require.Equal(t, cloudprovider.KindUnsupported, cloudprovider.KindOf(err), "absent within, absent without")
	_, found := cloudprovider.As[cloudprovider.DriftDetector](guarded{rebooting{}})
	require.False(t, found)
}

// Notices are ordered by when they are for first, then by machine, kind and ID.
func TestInterruptionCompare(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	want := []cloudprovider.Interruption{
		{At: at, InstanceID: "i-2", Kind: "b", ID: "2"},
		{At: at.Add(time.Second), InstanceID: "i-1", Kind: "b", ID: "2"},
		{At: at.Add(time.Second), InstanceID: "i-2", Kind: "a", ID: "2"},
		{At: at.Add(time.Second), InstanceID: "i-2", Kind: "b", ID: "1"},
		{At: at.Add(time.Second), InstanceID: "i-2", Kind: "b", ID: "2"},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, cloudprovider.Interruption.Compare)
	require.Equal(t, want, got)
	require.Zero(t, want[0].Compare(want[0]))
}
